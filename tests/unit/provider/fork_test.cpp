#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

namespace {

// Runs `body` in a forked child and returns the child's exit status, which is the value of `body`. The child
// must not run the test program's exit handlers.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(forked_child, Rig)

BOOST_AUTO_TEST_CASE(joins_the_context_on_a_connection_of_its_own) {
  const unsigned before = device.requests(abi::ControlOpcode::join_context);
  const int status = in_child([&] {
    ibv_pd* own = ibv_alloc_pd(context);
    if (own == nullptr) return 1;
    return ibv_dealloc_pd(own) == 0 ? 0 : 2;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(device.requests(abi::ControlOpcode::join_context) == before + 1);
  const auto request = device.last_request<abi::JoinContextRequest>(abi::ControlOpcode::join_context);
  BOOST_TEST(request.token.bytes[0] == 0x5A);
  BOOST_TEST(request.version == abi::kControlVersion);
  ibv_pd* still_mine = ibv_alloc_pd(context);
  BOOST_REQUIRE(still_mine != nullptr);
  BOOST_TEST(ibv_dealloc_pd(still_mine) == 0);
}

BOOST_AUTO_TEST_CASE(leaves_the_parent_its_reserved_protection_domain) {
  BOOST_REQUIRE_EQUAL(ibv_dealloc_pd(ibv_alloc_pd(context)), 0);
  const unsigned asked = device.requests(abi::ControlOpcode::allocate_pd);
  const unsigned reserved = device.requests(abi::ControlOpcode::allocate_reserved_pd);
  for (const bool has_connected : {false, true}) {
    const int status = in_child([&] {
      ibv_port_attr port;
      if (has_connected && ibv_query_port(context, 1, &port) != 0) return 1;
      ibv_pd* own = ibv_alloc_pd(context);
      return own != nullptr ? 0 : 2;
    });
    BOOST_TEST(status == 0);
  }
  BOOST_TEST(device.requests(abi::ControlOpcode::allocate_pd) == asked + 2);
  BOOST_TEST(device.requests(abi::ControlOpcode::allocate_reserved_pd) == reserved);
}

BOOST_AUTO_TEST_CASE(may_make_queues_in_arenas_that_it_inherited) {
  const int status = in_child([&] {
    ibv_cq* own = ibv_create_cq(context, 4, nullptr, nullptr, 0);
    if (own == nullptr) return 1;
    ibv_wc completion;
    if (ibv_poll_cq(own, 1, &completion) != 0) return 2;
    return ibv_destroy_cq(own) == 0 ? 0 : 3;
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(shares_the_parents_queues) {
  const int status = in_child([&] {
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    return post_send(request);
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(fake->indices->send_producer.load() == 1u);
}

// Received data in a CQE belongs into the parent's memory, which the child cannot write.
BOOST_AUTO_TEST_CASE(has_the_device_place_received_data_in_the_parents_memory) {
  char first[4] = {}, second[40] = {};
  ibv_sge segments[] = {{reinterpret_cast<std::uintptr_t>(first), 4, 17},
                        {reinterpret_cast<std::uintptr_t>(second), 40, 18}};
  BOOST_REQUIRE_EQUAL(post_receive(segments), 0);
  device.complete_receive(*fake, 0, [](abi::Cqe& cqe) {
    cqe.flags |= abi::cqe_inline;
    cqe.byte_length = 9;
    std::memcpy(cqe.inline_data, "abcdefghi", 9);
  });
  const unsigned before = device.requests(abi::ControlOpcode::place_received);
  const int status = in_child([&] {
    ibv_wc completion;
    if (ibv_poll_cq(cq, 1, &completion) != 1) return 1;
    if (completion.byte_len != 9) return 2;
    return first[0] == 0 && second[0] == 0 ? 0 : 3;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(device.requests(abi::ControlOpcode::place_received) == before + 2);
  const auto last = device.last_request<abi::PlaceReceivedRequest>(abi::ControlOpcode::place_received);
  BOOST_TEST(last.address == reinterpret_cast<std::uintptr_t>(second));
  BOOST_TEST(last.lkey == 18u);
  BOOST_TEST(last.length == 5u);
  BOOST_TEST(std::memcmp(last.data, "efghi", 5) == 0);
}

BOOST_AUTO_TEST_CASE(that_closes_the_device_leaves_the_parents_connection) {
  BOOST_TEST(in_child([&] { return ibv_close_device(context); }) == 0);
  ibv_pd* still_mine = ibv_alloc_pd(context);
  BOOST_REQUIRE(still_mine != nullptr);
  BOOST_TEST(ibv_dealloc_pd(still_mine) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

// No watching thread runs in a child that has made no request. Its empty polls look for the death themselves.
BOOST_AUTO_TEST_CASE(a_forked_child_learns_of_the_devices_death_by_polling) {
  {
    Rig rig;
    rig.post_sends(1, 10);
    int ready[2];
    BOOST_REQUIRE_EQUAL(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ready[1]);
      rig.device.close_inherited();
      alarm(30);  // ends a child that spins for ever
      char byte;
      [[maybe_unused]] ssize_t got = read(ready[0], &byte, 1);  // returns after the parent killed the device
      ibv_wc completion{};
      while (ibv_poll_cq(rig.cq, 1, &completion) == 0) {
      }
      _exit(completion.status == IBV_WC_WR_FLUSH_ERR && completion.wr_id == 10 ? 0 : 1);
    }
    close(ready[0]);
    rig.device.die();
    close(ready[1]);
    int status = -1;
    waitpid(child, &status, 0);
    BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  replace_fake_device();
}

}  // namespace urnic::test
