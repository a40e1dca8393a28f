// Every opcode, size and path MTU, every byte checked.
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>

#include "tests/apps/programs/transfer.hpp"

namespace urnic::apps {
namespace {

namespace data = boost::unit_test::data;

const std::array kMtus{IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096};
const std::array kOperations{Operation::send, Operation::send_with_immediate, Operation::write,
                             Operation::write_with_immediate, Operation::read};

std::set<std::size_t> sizes(std::size_t mtu) {
  std::set<std::size_t> all;
  for (std::size_t size = 0; size <= 33; ++size) all.insert(size);
  for (std::size_t packets : {1, 2, 3, 4, 7, 8, 9, 16, 31, 64}) {
    for (std::size_t near : {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5}) all.insert(packets * mtu + near);
  }
  for (std::size_t exponent = 6; exponent < 20; ++exponent) {
    for (std::size_t near : {-1, 0, 1}) all.insert((std::size_t{1} << exponent) + near);
  }
  all.insert({1'000'003, (1 << 20) + 1, (4 << 20) - 1, 4 << 20, (5 << 20) + 3});
  return all;
}

constexpr std::size_t kMaxSize = 6 << 20;

// As much as any QP here has. libmlx5 takes 1024 bytes for a WQE at most, and keeps 196 of them for headers.
std::uint32_t inline_bytes() { return is_driven_by_libmlx5() ? 828 : 912; }

EndpointOptions options_for(ibv_mtu mtu) {
  EndpointOptions options;
  options.mtu = mtu;
  options.capacity.max_send_sge = 8;
  options.capacity.max_recv_sge = 8;
  options.capacity.max_inline_data = inline_bytes();
  return options;
}

BOOST_DATA_TEST_CASE(every_size, data::make(kMtus), mtu) {
  Pair pair(options_for(mtu));
  TransferBench bench(pair, kMaxSize);
  std::uint64_t seed = 0;
  for (const std::size_t size : sizes(std::size_t{128} << mtu)) {
    for (const Operation operation : kOperations) {
      ++seed;
      bench.run({operation, size, seed * 5 % 64, seed * 11 % 64, 1, 1, false, seed});
    }
  }
}

BOOST_DATA_TEST_CASE(every_number_of_segments, data::make(kMtus), mtu) {
  Pair pair(options_for(mtu));
  TransferBench bench(pair, kMaxSize);
  std::uint64_t seed = 0;
  for (unsigned from = 1; from <= 8; ++from) {
    for (unsigned to = 1; to <= 8; ++to) {
      for (const Operation operation : kOperations) {
        for (const std::size_t size : {1, 7, 64, 501, 3000, 66'001}) {
          ++seed;
          bench.run({operation, size, seed % 13, seed % 9, from, to, false, seed});
        }
      }
    }
  }
}

BOOST_DATA_TEST_CASE(inline_data, data::make(kMtus), mtu) {
  Pair pair(options_for(mtu));
  TransferBench bench(pair, 1024);
  BOOST_REQUIRE_GE(pair.left.capacity().max_inline_data, inline_bytes());
  std::uint64_t seed = 0;
  for (std::size_t size = 0; size <= pair.left.capacity().max_inline_data; ++size) {
    for (const Operation operation : kOperations) {
      if (operation == Operation::read) continue;
      ++seed;
      const auto parts = static_cast<unsigned>(1 + seed % 4);
      bench.run({operation, size, seed % 7, seed % 5, parts, 1, true, seed});
    }
  }
}

// Memory that peers have no right to: what is small arrives in the CQE. Two receives are polled after both
// have arrived, and bytes around the message stay as they were.
BOOST_AUTO_TEST_CASE(small_messages_to_memory_of_ones_own) {
  constexpr std::size_t kRoom = 256;
  Pair pair(options_for(IBV_MTU_1024));
  const Memory source(pair.left_device.pd(), kRoom);
  const Memory target(pair.right_device.pd(), 2 * kRoom, IBV_ACCESS_LOCAL_WRITE);
  for (std::size_t size = 0; size <= 100; ++size) {
    std::memset(target.data(), 0x55, 2 * kRoom);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t at = i * kRoom + 1, first = size / 3, second = size / 5;
      pair.right.post_receive(i, {target.segment(at, first), target.segment(at + first, second),
                                  target.segment(at + first + second, size - first - second + i)});
      fill(source.bytes(0, size), 2 * size + i);
      ibv_sge segment = source.segment(0, size);
      ibv_send_wr request = signaled_request(IBV_WR_SEND, segment);
      pair.left.post(request);
      BOOST_TEST(pair.left.wait_send().status == IBV_WC_SUCCESS);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const ibv_wc received = pair.right.wait_receive();
      BOOST_TEST(received.wr_id == i);
      BOOST_TEST(received.byte_len == size);
      const auto wrong = difference(target.bytes(i * kRoom + 1, size), 2 * size + i);
      BOOST_TEST(!wrong, size << " bytes: " << wrong.value_or(""));
      BOOST_TEST((target.data()[i * kRoom] == std::byte{0x55}));
      BOOST_TEST((target.data()[i * kRoom + 1 + size] == std::byte{0x55}));
    }
  }
}

// Without a channel's events, with: both ends sleep in ibv_get_cq_event between messages.
BOOST_AUTO_TEST_CASE(sleeping_on_events) {
  EndpointOptions options = options_for(IBV_MTU_1024);
  options.sleeps = true;
  Pair pair(options);
  const Memory source(pair.left_device.pd(), 5000), target(pair.right_device.pd(), 5000);
  for (std::uint64_t round = 1; round <= 200; ++round) {
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 0), 0);
    fill(source.bytes(0, 5000), round);
    pair.right.post_receive(round, {target.segment(0, 5000)});
    ibv_send_wr request{};
    ibv_sge segment = source.segment(0, 5000);
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    pair.left.post(request);
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    BOOST_REQUIRE_EQUAL(ibv_get_cq_event(pair.right.channel(), &cq, &cq_context), 0);
    BOOST_REQUIRE_EQUAL(cq, pair.right.receive_cq());
    ibv_ack_cq_events(cq, 1);
    // The event comes after the completion: it must be there already.
    ibv_wc received{};
    BOOST_REQUIRE_EQUAL(ibv_poll_cq(cq, 1, &received), 1);
    BOOST_TEST(received.wr_id == round);
    const auto wrong = difference(target.bytes(0, 5000), round);
    BOOST_TEST(!wrong, wrong.value_or(""));
    BOOST_TEST(pair.left.wait_send().status == IBV_WC_SUCCESS);
  }
}

}  // namespace
}  // namespace urnic::apps
