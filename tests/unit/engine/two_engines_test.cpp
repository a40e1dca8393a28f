// Transfers between devices of two engines.
#include "tests/unit/engine/two_engines.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <thread>

namespace urnic::engine::test {

namespace {

using link::Direction;
using transport::Nanoseconds;

struct Across : TwoEngines {
  TestQp qp0{program0, 3, {}};
  TestQp qp1{program1, 70, {}};

  Across() { Fabric::connect(qp0, qp1, 4096); }

  static abi::SendWqe toward(const Program& target, abi::SendOpcode opcode, std::size_t offset) {
    abi::SendWqe head = wqe(opcode);
    head.remote_address = target.address(offset);
    head.rkey = target.key.value;
    return head;
  }
  void write(std::size_t from, std::size_t to, std::uint32_t length) {
    const abi::ScatterGather sges[] = {program0.sge(from, length)};
    qp0.post_send(toward(program1, abi::SendOpcode::rdma_write, to), sges);
  }
  // Moves both clocks from one thing that is due to the next until the entry is there.
  Polled completion(TestQp& qp) {
    run();
    for (int i = 0; i < 200'000; ++i) {
      if (const auto entry = qp.send_cq.poll()) return *entry;
      std::optional<transport::Time> next = engine0.data_path().wake_at();
      const auto other = engine1.data_path().wake_at();
      if (!next || (other && *other < *next)) next = other;
      BOOST_REQUIRE(next);
      advance(std::max(*next - engine0.now(), Nanoseconds(0)));
    }
    BOOST_FAIL("it never completes");
    return {};
  }
  void check_all_kinds() {
    for (const std::uint32_t length : {1u, 8u, 200u, 1000u, 4096u, 4097u, 65536u, 300001u}) {
      program0.fill(0, length, static_cast<std::uint8_t>(length));
      write(0, 5, length);
      BOOST_TEST(completion(qp0).status == 0);
      BOOST_TEST(program1.holds(5, length, static_cast<std::uint8_t>(length)));

      program1.fill(400'000, length, static_cast<std::uint8_t>(length + 1));
      const abi::ScatterGather into[] = {program0.sge(500'000, length)};
      qp0.post_send(toward(program1, abi::SendOpcode::rdma_read, 400'000), into);
      BOOST_TEST(completion(qp0).status == 0);
      BOOST_TEST(program0.holds(500'000, length, static_cast<std::uint8_t>(length + 1)));

      const abi::ScatterGather to[] = {program1.sge(3, length)};
      qp1.post_receive(to);
      program0.fill(0, length, static_cast<std::uint8_t>(length + 2));
      const abi::ScatterGather from[] = {program0.sge(0, length)};
      qp0.post_send(wqe(abi::SendOpcode::send), from);
      BOOST_TEST(completion(qp0).status == 0);
      const auto received = qp1.receive_cq.poll();
      BOOST_REQUIRE(received);
      BOOST_TEST(received->byte_length == length);
      BOOST_TEST(program1.holds(3, length, static_cast<std::uint8_t>(length + 2)));
    }
    check_atomic();
  }
  void check_atomic() {
    const std::uint64_t before = 40;
    std::memcpy(program1.bytes.data() + 64, &before, sizeof before);
    abi::SendWqe head = toward(program1, abi::SendOpcode::atomic_fetch_add, 64);
    head.compare_add = 2;
    const abi::ScatterGather result[] = {program0.sge(128, 8)};
    qp0.post_send(head, result);
    BOOST_TEST(completion(qp0).status == 0);
    std::uint64_t seen[2];
    std::memcpy(&seen[0], program0.bytes.data() + 128, 8);
    std::memcpy(&seen[1], program1.bytes.data() + 64, 8);
    BOOST_TEST(seen[0] == 40u);
    BOOST_TEST(seen[1] == 42u);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(two_engines, Across)

BOOST_AUTO_TEST_CASE(every_kind_of_request_crosses) {
  check_all_kinds();
  BOOST_TEST(device0.counters().retransmitted_packets == 0);
  BOOST_TEST(device1.counters().retransmitted_packets == 0);
}

BOOST_AUTO_TEST_CASE(losses_on_both_links_are_repaired) {
  switch0.link(0).configure(Direction::transmit, {.loss = 0.05, .seed = 1});
  switch0.link(0).configure(Direction::receive, {.loss = 0.05, .seed = 2});
  switch1.link(1).configure(Direction::transmit, {.loss = 0.05, .seed = 3});
  switch1.link(1).configure(Direction::receive, {.loss = 0.05, .seed = 4});
  check_all_kinds();
  BOOST_TEST(device0.counters().retransmitted_packets > 0);
  for (const auto direction : {Direction::transmit, Direction::receive}) {
    BOOST_TEST(switch0.link(0).channel(direction).counters().drops(link::DropCause::loss) > 0);
    BOOST_TEST(switch1.link(1).channel(direction).counters().drops(link::DropCause::loss) > 0);
  }
}

BOOST_AUTO_TEST_CASE(delays_and_changes_on_both_links_are_repaired) {
  const link::LinkSettings rough{
      .delay = Nanoseconds(3000), .loss = 0.02, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.02};
  switch0.link(0).configure(Direction::transmit, rough);
  switch0.link(0).configure(Direction::receive, rough);
  switch1.link(1).configure(Direction::transmit, rough);
  switch1.link(1).configure(Direction::receive, rough);
  check_all_kinds();
}

// What one has lent the other is not written over, and an engine that stands still is not overrun.
BOOST_AUTO_TEST_CASE(a_sender_waits_for_an_engine_that_does_not_move) {
  constexpr std::uint32_t kLength = 65'536;
  for (std::size_t i = 0; i < 14; ++i) {
    program0.fill(i * kLength, kLength, static_cast<std::uint8_t>(i));
    write(i * kLength, i * kLength, kLength);
  }
  for (int i = 0; i < 100; ++i) round0();
  BOOST_TEST(device0.port_counters().transmitted_bytes >= link::Trunk::kMostLentBytes);
  BOOST_TEST(device0.port_counters().transmitted_bytes < link::Trunk::kMostLentBytes + 256 * 1024);
  run();
  for (std::size_t i = 0; i < 14; ++i) {
    BOOST_TEST(completion(qp0).status == 0);
    BOOST_TEST(program1.holds(i * kLength, kLength, static_cast<std::uint8_t>(i)));
  }
  BOOST_TEST(switch0.trunk_overruns() == 0);
  BOOST_TEST(device0.counters().retransmitted_packets == 0);
}

// Small ones fill the ring before they are many bytes.
BOOST_AUTO_TEST_CASE(small_messages_do_not_overrun_the_ring_either) {
  std::vector<std::unique_ptr<TestQp>> receivers;
  std::vector<std::unique_ptr<TestQp>> senders;
  for (std::uint32_t i = 0; i < 40; ++i) {
    senders.push_back(std::make_unique<TestQp>(program0, 100 + i, QpLayout{}));
    receivers.push_back(std::make_unique<TestQp>(program1, 100 + i, QpLayout{}));
    Fabric::connect(*senders[i], *receivers[i], 256);
    for (int message = 0; message < 60; ++message) {
      const abi::ScatterGather from[] = {program0.sge(0, 16)};
      senders[i]->post_send(toward(program1, abi::SendOpcode::rdma_write, 0), from);
    }
  }
  for (int i = 0; i < 100; ++i) round0();
  BOOST_TEST(device0.port_counters().transmitted_packets < 2400u);
  run();
  BOOST_TEST(device0.port_counters().transmitted_packets >= 2400u);
  BOOST_TEST(switch0.trunk_overruns() == 0);
  BOOST_TEST(device0.counters().retransmitted_packets == 0);
}

// However long the other's thread is kept waiting.
BOOST_AUTO_TEST_CASE(no_timer_calls_an_answer_late_that_could_not_be_given) {
  const Nanoseconds late = std::chrono::seconds(10);
  write(0, 0, 100);
  for (int i = 0; i < 5; ++i) round0();
  for (int i = 0; i < 10; ++i) {
    engine0.data_path().set_now(engine0.now() + late);
    round0();
  }
  BOOST_TEST(device0.counters().local_ack_timeout == 0);
  // It has taken the request, and is kept waiting before its next round.
  round1();
  for (int i = 0; i < 10; ++i) {
    engine0.data_path().set_now(engine0.now() + late);
    round0();
  }
  BOOST_TEST(device0.counters().local_ack_timeout == 0);
  BOOST_TEST(completion(qp0).status == 0);
  BOOST_TEST(device0.counters().retransmitted_packets == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(engine_thread)

// With their own threads, which sleep whenever they can: each wakes the other.
BOOST_AUTO_TEST_CASE(two_engines_wake_each_other) {
  Across across;
  across.program0.fill(0, 300'000, 1);
  across.engine0.start();
  across.engine1.start();
  const auto ring_and_wait = [&](TestQp& qp, Engine& engine) {
    engine.wake();
    std::optional<Polled> entry;
    while (!(entry = qp.send_cq.poll())) std::this_thread::yield();
    BOOST_TEST(entry->status == 0);
  };
  for (int i = 0; i < 50; ++i) {
    const auto length = static_cast<std::uint32_t>(1 + i * 5'000);
    across.write(0, 300'000, length);
    ring_and_wait(across.qp0, across.engine0);
    const abi::ScatterGather from[] = {across.program1.sge(300'000, length)};
    across.qp1.post_send(Across::toward(across.program0, abi::SendOpcode::rdma_write, 600'000), from);
    ring_and_wait(across.qp1, across.engine1);
  }
  across.engine0.stop();
  across.engine1.stop();
  BOOST_TEST(across.program0.holds(600'000, 245'001, 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
