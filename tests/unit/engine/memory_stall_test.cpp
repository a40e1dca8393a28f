// Queue pairs that wait for memory which does not answer, and those that go on meanwhile.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <ostream>

#include "device_model/engine/queue_pair/memory_stalls.hpp"
#include "tests/unit/engine/program.hpp"
#include "tests/unit/engine/slow_memory.hpp"

namespace urnic::engine::test {

namespace memory_stall {

namespace data = boost::unit_test::data;

constexpr std::uint8_t kProtectionError = 4;
constexpr std::uint8_t kFlushed = 5;
constexpr std::uint8_t kRetryExceeded = 12;

// More than a packet, and more than one piece at the end.
constexpr std::uint32_t kLength = 3000;
constexpr std::size_t kFrom = 4096 + 1;
constexpr std::size_t kTo = 65536 + 3;

struct Request {
  const char* name;
  abi::SendOpcode opcode;
  std::uint32_t length;
};
std::ostream& operator<<(std::ostream& out, const Request& request) { return out << request.name; }

constexpr Request kRequests[] = {
    {"send", abi::SendOpcode::send, kLength},
    {"write", abi::SendOpcode::rdma_write, kLength},
    {"write with immediate", abi::SendOpcode::rdma_write_with_immediate, kLength},
    {"read", abi::SendOpcode::rdma_read, kLength},
    {"fetch and add", abi::SendOpcode::atomic_fetch_add, 8},
    {"compare and swap", abi::SendOpcode::atomic_compare_swap, 8},
};

enum class Slow { requester, responder, both };
std::ostream& operator<<(std::ostream& out, Slow slow) {
  constexpr const char* kNames[] = {"requester", "responder", "both"};
  return out << kNames[static_cast<int>(slow)];
}
constexpr Slow kSlow[] = {Slow::requester, Slow::responder, Slow::both};

struct Stalls : Fabric {
  SlowMemory slow0{program0};
  SlowMemory slow1{program1};
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 0, {}};
  TestQp beside0{program0, 1, {}};
  TestQp beside1{program1, 1, {}};

  Stalls() {
    connect(qp0, qp1);
    connect(beside0, beside1);
  }

  bool waiting() { return engine.data_path().pools().memory_stalls != 0; }

  // From qp0 to qp1, with the memory of the ends that `slow` says.
  void post(const Request& request, Slow slow) {
    const bool requester = slow != Slow::responder;
    const bool responder = slow != Slow::requester;
    const bool two_way = request.opcode == abi::SendOpcode::rdma_read;
    program0.fill(kFrom, kLength, 1);
    program1.fill(kTo + 8192, kLength, 2);
    if (request.opcode == abi::SendOpcode::send ||
        request.opcode == abi::SendOpcode::rdma_write_with_immediate) {
      const abi::ScatterGather to[] = {responder ? slow1.sge(kTo, 8192) : program1.private_sge(kTo, 8192)};
      qp1.post_receive(to);
    }
    abi::SendWqe head = wqe(request.opcode);
    const bool atomic = request.length == 8;
    head.remote_address = program1.address(atomic ? kWord : two_way ? kTo + 8192 : kTo);
    head.rkey = responder ? slow1.key.value : program1.key.value;
    head.compare_add = request.opcode == abi::SendOpcode::atomic_compare_swap ? 100 : 5;
    head.swap = 77;
    const std::uint64_t word = 100;
    std::memcpy(program1.bytes.data() + kWord, &word, sizeof word);
    const abi::ScatterGather sge[] = {requester ? slow0.sge(kFrom, request.length)
                                                : program0.sge(kFrom, request.length)};
    qp0.post_send(head, sge);
  }

  void check_done(const Request& request) {
    const auto sent = qp0.send_cq.poll();
    BOOST_REQUIRE(sent);
    BOOST_TEST(sent->status == 0);
    std::uint64_t word = 0;
    switch (request.opcode) {
      case abi::SendOpcode::send:
        BOOST_TEST(qp1.poll_receive().value().byte_length == kLength);
        BOOST_TEST(program1.holds(kTo, kLength, 1));
        break;
      case abi::SendOpcode::rdma_read:
        BOOST_TEST(program0.holds(kFrom, kLength, 2));
        break;
      case abi::SendOpcode::atomic_fetch_add:
      case abi::SendOpcode::atomic_compare_swap:
        std::memcpy(&word, program0.bytes.data() + kFrom, sizeof word);
        BOOST_TEST(word == 100u);
        std::memcpy(&word, program1.bytes.data() + kWord, sizeof word);
        BOOST_TEST(word == (request.opcode == abi::SendOpcode::atomic_fetch_add ? 105u : 77u));
        break;
      default:
        BOOST_TEST(program1.holds(kTo, kLength, 1));
        BOOST_TEST(qp1.poll_receive().has_value() ==
                   (request.opcode == abi::SendOpcode::rdma_write_with_immediate));
        break;
    }
    BOOST_TEST(!waiting());
  }

  void check_neighbours_move_data() {
    program0.fill(0, 4096, 9);
    const abi::ScatterGather to[] = {program1.sge(32768, 4096)};
    beside1.post_receive(to);
    const abi::ScatterGather from[] = {program0.sge(0, 4096)};
    beside0.post_send(wqe(abi::SendOpcode::send), from);
    run();
    BOOST_TEST(beside0.send_cq.poll().value().status == 0);
    BOOST_TEST(beside1.receive_cq.poll().value().status == 0);
    BOOST_TEST(program1.holds(32768, 4096, 9));
  }

  static constexpr std::size_t kWord = 16384;
};

}  // namespace memory_stall

BOOST_FIXTURE_TEST_SUITE(memory_stall, Stalls)

BOOST_DATA_TEST_CASE(others_go_on_and_the_request_does_when_the_memory_answers,
                     data::make(kRequests) * data::make(kSlow), request, slow) {
  post(request, slow);
  run();
  BOOST_TEST(waiting());
  BOOST_TEST(!qp0.send_cq.poll());
  BOOST_TEST(!qp1.receive_cq.poll());
  check_neighbours_move_data();
  slow0.answers = true;
  run();
  slow1.answers = true;
  run();
  for (int i = 0; i < 4; ++i) advance(std::chrono::milliseconds(100));
  check_done(request);
}

// The requester's timer does not call lost what was never sent.
BOOST_AUTO_TEST_CASE(no_retry_is_counted_while_the_requester_waits) {
  post(kRequests[0], Slow::requester);
  for (int i = 0; i < 60; ++i) advance(std::chrono::seconds(1));
  BOOST_TEST(!qp0.send_cq.poll());
  slow0.answers = true;
  run();
  advance(std::chrono::milliseconds(1));
  check_done(kRequests[0]);
}

// Its peer knows nothing of it, and asks as often as it may.
BOOST_AUTO_TEST_CASE(peer_of_a_responder_that_waits_for_ever_gives_up) {
  post(kRequests[1], Slow::responder);
  for (int i = 0; i < 64; ++i) advance(std::chrono::seconds(1));
  BOOST_TEST(qp0.send_cq.poll().value().status == kRetryExceeded);
  slow1.answers = true;
  run();
  BOOST_TEST(!waiting());
}

BOOST_AUTO_TEST_CASE(requests_keep_their_order) {
  constexpr std::uint32_t kCount = 40;
  slow0.answers = slow1.answers = true;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const abi::ScatterGather to[] = {i % 3 == 0 ? slow1.sge(kTo + i * 256, 200)
                                                : program1.sge(kTo + i * 256, 200)};
    qp1.post_receive(to);
    const abi::ScatterGather from[] = {i % 2 == 0 ? slow0.sge(i, 200) : program0.sge(i, 200)};
    qp0.post_send(wqe(abi::SendOpcode::send), from);
  }
  for (int i = 0; i < 20; ++i) advance(std::chrono::milliseconds(100));
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const auto sent = qp0.send_cq.poll();
    const auto received = qp1.poll_receive();
    BOOST_TEST_CONTEXT("request " << i) {
      BOOST_REQUIRE(sent);
      BOOST_REQUIRE(received);
      BOOST_TEST(sent->wqe_index == i);
      BOOST_TEST(sent->status == 0);
      BOOST_TEST(received->status == 0);
      BOOST_TEST(received->wqe_index == i);
    }
  }
  BOOST_TEST(slow0.jobs != 0u);
  BOOST_TEST(slow1.jobs != 0u);
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

// A copy that fails is reported as one that the engine makes itself.
BOOST_AUTO_TEST_CASE(copy_that_fails) {
  post(kRequests[0], Slow::requester);
  run();
  program0.memory.remove_range(program0.bytes);
  const abi::ScatterGather next[] = {program0.sge(0, 8)};
  qp0.post_send(wqe(abi::SendOpcode::send), next);
  slow0.answers = true;
  run();
  BOOST_TEST(qp0.send_cq.poll().value().status == kProtectionError);
  BOOST_TEST(qp0.send_cq.poll().value().status == kFlushed);
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

// What a program does that has waited long enough.
BOOST_AUTO_TEST_CASE(error_state_ends_the_wait) {
  post(kRequests[0], Slow::requester);
  post(kRequests[1], Slow::requester);
  run();
  engine.execute([&] {
    qp0.device_end().modify(transport::QpState::error, qp0.device_end().parameters(), std::nullopt);
  });
  run();
  BOOST_TEST(qp0.send_cq.poll().value().status == kProtectionError);
  BOOST_TEST(qp0.send_cq.poll().value().status == kFlushed);
  BOOST_TEST(!waiting());
}

BOOST_AUTO_TEST_CASE(queue_pair_that_is_destroyed_waits_no_more) {
  {
    TestQp requester(program0, 5, {});
    TestQp responder(program1, 5, {});
    connect(requester, responder);
    const abi::ScatterGather from[] = {slow0.sge(kFrom, kLength)};
    requester.post_send(wqe(abi::SendOpcode::send), from);
    run();
    BOOST_TEST(waiting());
  }
  BOOST_TEST(!waiting());
  check_neighbours_move_data();
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

BOOST_AUTO_TEST_CASE(memory_that_goes_ends_the_wait_for_it) {
  post(kRequests[0], Slow::requester);
  run();
  bool any = true;
  engine.execute([&] { any = engine.data_path().forget_memory(slow0, program0.address(0), kFrom); });
  BOOST_TEST(!any);
  BOOST_TEST(waiting());
  engine.execute([&] { any = engine.data_path().forget_memory(slow0, program0.address(0), kFrom + 1); });
  BOOST_TEST(any);
  run();
  BOOST_TEST(qp0.send_cq.poll().value().status == kProtectionError);
}

// However much a program lets wait, what it costs the device has a limit.
BOOST_AUTO_TEST_CASE(what_waits_for_one_memory_is_limited) {
  constexpr std::uint32_t kPairs = MemoryStalls::kMostBytes / MemoryStall::kHeldBytes + 8;
  std::vector<std::unique_ptr<TestQp>> qps;
  QpLayout small;
  small.send_slots = small.receive_slots = 2;
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    qps.push_back(std::make_unique<TestQp>(program0, 10 + i, small));
    connect(*qps.back(), *qps.back());
    const abi::ScatterGather from[] = {slow0.sge(kFrom, 8)};
    qps.back()->post_send(wqe(abi::SendOpcode::send), from);
  }
  run();
  BOOST_TEST(waiting());
  slow0.answers = true;
  run();
  BOOST_TEST(!waiting());
  std::uint32_t failed = 0;
  for (const auto& qp : qps) {
    if (const auto entry = qp->send_cq.poll()) failed += entry->status == kProtectionError;
  }
  BOOST_TEST(failed >= 8u);
  BOOST_TEST(failed < kPairs / 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
