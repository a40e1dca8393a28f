#define BOOST_TEST_DYN_LINK
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>
#include <utility>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {
namespace {

// What happens while this thread yields the processor the next time.
thread_local std::function<void()> during_rest;

}  // namespace
}  // namespace urnic::test

// In place of libc's, for the plugin too.
extern "C" int sched_yield() noexcept {
  if (const auto happens = std::exchange(urnic::test::during_rest, nullptr)) happens();
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace urnic::test {

BOOST_FIXTURE_TEST_SUITE(poll_cq, Rig)

BOOST_AUTO_TEST_CASE(an_empty_queue_gives_nothing) {
  for (int i = 0; i < 10000; ++i) BOOST_REQUIRE(poll().empty());
}

BOOST_AUTO_TEST_CASE(a_completion_has_everything_the_device_said) {
  post_sends(2, 100);
  device.complete_send(*fake, 1, [](abi::Cqe& cqe) {
    cqe.opcode = IBV_WC_FETCH_ADD;
    cqe.status = IBV_WC_REM_ACCESS_ERR;
    cqe.error_or_route = 17;
    cqe.byte_length = 8;
  });
  const auto completions = poll();
  BOOST_REQUIRE(completions.size() == 1u);
  BOOST_TEST(completions[0].wr_id == 101u);
  BOOST_TEST(completions[0].qp_num == qp->qp_num);
  BOOST_TEST(completions[0].opcode == IBV_WC_FETCH_ADD);
  BOOST_TEST(completions[0].status == IBV_WC_REM_ACCESS_ERR);
  BOOST_TEST(completions[0].vendor_err == 17u);
  BOOST_TEST(completions[0].byte_len == 8u);
  BOOST_TEST(completions[0].wc_flags == 0u);
}

BOOST_AUTO_TEST_CASE(immediates_and_invalidated_keys_come_with_their_flag) {
  post_receives(2, 7);
  device.complete_receive(*fake, 0, [](abi::Cqe& cqe) {
    cqe.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    cqe.flags |= abi::cqe_with_immediate;
    cqe.immediate_or_rkey = 0x01020304;
  });
  device.complete_receive(*fake, 1, [](abi::Cqe& cqe) {
    cqe.flags |= abi::cqe_with_invalidate;
    cqe.immediate_or_rkey = 0x55;
  });
  const auto completions = poll();
  BOOST_REQUIRE(completions.size() == 2u);
  BOOST_TEST(completions[0].wr_id == 7u);
  BOOST_TEST(completions[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM);
  BOOST_TEST(completions[0].wc_flags == unsigned{IBV_WC_WITH_IMM});
  BOOST_TEST(completions[0].imm_data == 0x01020304u);
  BOOST_TEST(completions[1].wc_flags == unsigned{IBV_WC_WITH_INV});
  BOOST_TEST(completions[1].invalidated_rkey == 0x55u);
}

BOOST_AUTO_TEST_CASE(received_data_in_the_cqe_goes_to_the_segments) {
  char first[4] = {}, second[40] = {};
  ibv_sge segments[] = {{reinterpret_cast<std::uintptr_t>(first), 4, 1},
                        {reinterpret_cast<std::uintptr_t>(second), 40, 1}};
  BOOST_REQUIRE_EQUAL(post_receive(segments), 0);
  device.complete_receive(*fake, 0, [](abi::Cqe& cqe) {
    cqe.flags |= abi::cqe_inline;
    cqe.byte_length = 9;
    std::memcpy(cqe.inline_data, "abcdefghiZZ", 11);
  });
  const auto completions = poll();
  BOOST_REQUIRE(completions.size() == 1u);
  BOOST_TEST(completions[0].byte_len == 9u);
  BOOST_TEST(std::memcmp(first, "abcd", 4) == 0);
  BOOST_TEST(std::memcmp(second, "efghi\0", 6) == 0);
}

BOOST_AUTO_TEST_CASE(order_is_kept_over_many_laps_of_ring_and_queues) {
  std::uint64_t expected = 0;
  for (std::uint32_t round = 0; round < 100; ++round) {
    post_sends(5, 5 * round);
    for (std::uint32_t i = 0; i < 5; ++i) device.complete_send(*fake, 5 * round + i);
    for (const ibv_wc& completion : poll()) BOOST_REQUIRE(completion.wr_id == expected++);
  }
  BOOST_TEST(expected == 500u);
}

BOOST_AUTO_TEST_CASE(no_more_are_given_than_asked_for) {
  post_sends(3, 0);
  for (std::uint32_t i = 0; i < 3; ++i) device.complete_send(*fake, i);
  ibv_wc completions[3];
  BOOST_TEST(ibv_poll_cq(cq, 2, completions) == 2);
  BOOST_TEST(device.cq(cq->handle).indices->consumer.load() == 2u);
  BOOST_TEST(ibv_poll_cq(cq, 2, completions) == 1);
}

// Otherwise the program would look at its events next, which are then newer than the answer of the poll.
BOOST_AUTO_TEST_CASE(a_poll_that_has_rested_gives_what_has_come_meanwhile) {
  post_sends(2, 100);
  ibv_wc completion;
  bool came = false;
  during_rest = [&] {
    device.complete_send(*fake, 0);
    came = true;
  };
  while (ibv_poll_cq(cq, 1, &completion) == 0) BOOST_REQUIRE(!came);
  BOOST_TEST(came);
  BOOST_TEST(completion.wr_id == 100u);
}

BOOST_AUTO_TEST_CASE(an_extended_poll_that_has_rested_gives_it_too) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = 8;
  ibv_cq_ex* extended = ibv_create_cq_ex(context, &attributes);
  BOOST_REQUIRE(extended != nullptr);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(extended);
  init.qp_type = IBV_QPT_RC;
  ibv_qp* other = ibv_create_qp(pd, &init);
  BOOST_REQUIRE(other != nullptr);
  bool came = false;
  during_rest = [&] {
    device.complete_send(device.qp(other->qp_num), 0);
    came = true;
  };
  ibv_poll_cq_attr poll_attributes{};
  while (ibv_start_poll(extended, &poll_attributes) == ENOENT) BOOST_REQUIRE(!came);
  BOOST_TEST(came);
  ibv_end_poll(extended);
  BOOST_TEST(ibv_destroy_qp(other) == 0);
  BOOST_TEST(ibv_destroy_cq(ibv_cq_ex_to_cq(extended)) == 0);
}

BOOST_AUTO_TEST_CASE(a_resized_queue_keeps_what_is_unread) {
  post_sends(4, 0);
  for (std::uint32_t i = 0; i < 4; ++i) device.complete_send(*fake, i);
  ibv_wc completion;
  BOOST_REQUIRE_EQUAL(ibv_poll_cq(cq, 1, &completion), 1);
  BOOST_TEST(ibv_resize_cq(cq, 100) == 0);
  BOOST_TEST(cq->cqe == 128);
  post_sends(2, 4);
  for (std::uint32_t i = 4; i < 6; ++i) device.complete_send(*fake, i);
  std::uint64_t expected = 1;
  for (const ibv_wc& next : poll()) BOOST_TEST(next.wr_id == expected++);
  BOOST_TEST(expected == 6u);
  BOOST_TEST(device.cq(cq->handle).indices->consumer.load() == 5u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
