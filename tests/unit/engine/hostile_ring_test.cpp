// Queues are written by programs that may write anything. Whatever they write, the engine survives, other
// programs notice nothing, and the writer gets an error.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace hostile_ring {

constexpr std::uint8_t kQpOperationError = 2;
constexpr std::uint8_t kFlushed = 5;
constexpr std::uint32_t kEventQpFatal = 1;

struct HostilePair : Fabric {
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 1, {}};
  HostilePair() { connect(qp0, qp1); }

  void check_refused() {
    run();
    const auto entry = qp0.send_cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == kQpOperationError);
    BOOST_TEST((qp0.device_end().state() == transport::QpState::error));
  }
  void check_fatal(TestQp& qp, Program& program, std::uint64_t handle) {
    BOOST_TEST((qp.device_end().state() == transport::QpState::error));
    auto event = program.async_events.read();
    while (event && event->type != kEventQpFatal) event = program.async_events.read();
    BOOST_REQUIRE(event);
    BOOST_TEST(event->element == handle);
    BOOST_TEST(!program.async_events.read());
  }
};

}  // namespace hostile_ring

BOOST_FIXTURE_TEST_SUITE(hostile_ring, HostilePair)

BOOST_AUTO_TEST_CASE(unknown_opcode) {
  for (int opcode : {10, 14, 255}) {
    TestQp qp(program0, 9, {});
    connect(qp, qp1);
    abi::SendWqe head = wqe(abi::SendOpcode::send);
    head.opcode = static_cast<std::uint8_t>(opcode);
    qp.post_send(head, {});
    run();
    const auto entry = qp.send_cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == kQpOperationError);
  }
}

BOOST_AUTO_TEST_CASE(unknown_flag) {
  qp0.post_send(wqe(abi::SendOpcode::send, abi::send_signaled | 0x10), {});
  check_refused();
}

BOOST_AUTO_TEST_CASE(more_segments_than_a_slot_holds) {
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.sge_count = 13;  // (256 - 64) / 16 is 12
  qp0.write_send(head, {});
  qp0.ring();
  check_refused();
}

BOOST_AUTO_TEST_CASE(more_inline_data_than_a_slot_holds) {
  for (const std::uint32_t length : {193u, 0x80000000u, 0xFFFFFFFFu}) {
    TestQp qp(program0, 9, {});
    connect(qp, qp1);
    abi::SendWqe head = wqe(abi::SendOpcode::send, abi::send_inline | abi::send_signaled);
    head.inline_length = length;
    qp.write_send(head, {});
    qp.ring();
    run();
    BOOST_TEST((qp.send_cq.poll().value().status == kQpOperationError));
  }
}

BOOST_AUTO_TEST_CASE(inline_where_it_means_nothing) {
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_read, abi::send_inline | abi::send_signaled);
  head.inline_length = 8;
  qp0.write_send(head, {});
  qp0.ring();
  check_refused();
}

BOOST_AUTO_TEST_CASE(segment_lengths_that_overflow_32_bits) {
  const abi::ScatterGather sges[] = {{program0.address(0), 0xFFFFFFFF, program0.key.value},
                                     {program0.address(0), 2, program0.key.value}};
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = program1.address(0);
  head.rkey = program1.key.value;
  qp0.post_send(head, sges);
  run();
  BOOST_TEST((qp0.send_cq.poll().value().status != 0));
  BOOST_TEST(program1.holds(0, 0, 0));
}

BOOST_AUTO_TEST_CASE(producer_ahead_of_what_the_ring_holds) {
  for (const std::uint32_t lie : {65u, 1000u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    TestQp qp(program0, 9, {});
    connect(qp, qp1);
    qp.send_producer = lie;
    qp.ring();
    run();
    check_fatal(qp, program0, 5009);
    BOOST_TEST(!qp.send_cq.poll());
  }
}

BOOST_AUTO_TEST_CASE(producer_that_goes_back) {
  for (int i = 0; i < 3; ++i) qp0.post_inline(wqe(abi::SendOpcode::rdma_write), {});
  run();
  qp0.send_producer = 1;
  qp0.ring();
  run();
  check_fatal(qp0, program0, 5000);
}

// A copy of a WQE that is under way is overwritten when its slot is taken again: never before it is retired.
BOOST_AUTO_TEST_CASE(producer_that_laps_what_is_not_done) {
  const abi::ScatterGather from[] = {program0.sge(0, 8)};
  for (int i = 0; i < 64; ++i) qp0.post_send(wqe(abi::SendOpcode::send), from);
  run();  // the peer has no receives: all stay under way
  qp0.post_send(wqe(abi::SendOpcode::send), from);
  run();
  check_fatal(qp0, program0, 5000);
  // Those that the device had taken: a ring whose index lies is not looked into again.
  std::uint32_t flushed = 0;
  for (; const auto entry = qp0.send_cq.poll(); ++flushed) BOOST_TEST(entry->status == kFlushed);
  BOOST_TEST(flushed > 0u);
}

BOOST_AUTO_TEST_CASE(receive_producer_ahead_of_what_the_ring_holds) {
  qp1.receive_producer = 65;
  qp1.indices.receive_producer.store(65);
  const abi::ScatterGather from[] = {program0.sge(0, 8)};
  qp0.post_send(wqe(abi::SendOpcode::send), from);
  run();
  check_fatal(qp1, program1, 5001);
}

BOOST_AUTO_TEST_CASE(receive_with_more_segments_than_a_slot_holds) {
  const abi::ReceiveWqe head{.sge_count = 8, .reserved = {}};  // (128 - 16) / 16 is 7
  std::memcpy(qp1.receive_slots.data(), &head, sizeof head);
  qp1.indices.receive_producer.store(1);
  const abi::ScatterGather from[] = {program0.sge(0, 8)};
  qp0.post_send(wqe(abi::SendOpcode::send), from);
  run();
  const auto received = qp1.receive_cq.poll();
  BOOST_REQUIRE(received);
  BOOST_TEST(received->status == kQpOperationError);
}

BOOST_AUTO_TEST_CASE(doorbells_that_belong_to_nobody) {
  qp0.post_send(wqe(abi::SendOpcode::send), {});
  for (auto& word : program0.doorbells->bits) word.store(~std::uint64_t{0});
  for (auto& word : program0.doorbells->summary) word.store(~std::uint64_t{0});
  BOOST_TEST(program0.doorbell_set.collect() == 1u);  // number 0 is ours
  BOOST_TEST(program0.doorbell_set.collect() == 0u);
  for (const auto& word : program0.doorbells->bits) BOOST_TEST(word.load() == 0u);
}

BOOST_AUTO_TEST_CASE(doorbell_in_every_state_without_a_wqe) {
  TestQp qp(program0, 9, {});
  qp.ring();
  run();
  connect(qp, qp1);
  qp.ring();
  run();
  BOOST_TEST((qp.device_end().state() == transport::QpState::rts));
  BOOST_TEST(!qp.send_cq.poll());
}

namespace {

// Bytes that are nearly right now and then, so that they get past the first check.
void scribble(std::mt19937_64& random, TestQp& qp, const Program& program, const Program& peer) {
  for (std::byte& byte : qp.send_slots) byte = static_cast<std::byte>(random());
  for (std::uint32_t slot = 0; slot < qp.layout.send_slots; ++slot) {
    if (random() % 4 == 0) continue;
    abi::SendWqe head;
    std::byte* const at = qp.send_slots.data() + std::size_t{slot} * qp.layout.send_slot_size;
    std::memcpy(&head, at, sizeof head);
    head.opcode %= 12;
    head.flags &= 0xF;
    head.sge_count %= 14;
    head.inline_length %= 256;
    head.rkey = random() % 4 != 0 ? peer.key.value : head.rkey;
    head.remote_address = peer.address(random() % (2 * Program::kBytes));
    std::memcpy(at, &head, sizeof head);
    for (std::uint32_t i = 0; i < 12; ++i) {
      const abi::ScatterGather sge{
          program.address(random() % (2 * Program::kBytes)), static_cast<std::uint32_t>(random() % 5000),
          random() % 8 != 0 ? program.key.value : static_cast<std::uint32_t>(random())};
      std::memcpy(at + sizeof head + i * sizeof sge, &sge, sizeof sge);
    }
  }
  for (std::byte& byte : qp.receive_slots) byte = static_cast<std::byte>(random() % 16 == 0 ? random() : 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(random_bytes_in_all_queues_do_not_touch_the_neighbours) {
  std::mt19937_64 random(20240817);
  for (int round = 0; round < 3000; ++round) {
    {
      TestQp bad0(program0, 20, {});
      TestQp bad1(program1, 21, {});
      connect(bad0, bad1, 256u << random() % 5);
      scribble(random, bad0, program0, program1);
      scribble(random, bad1, program1, program0);
      bad1.receive_producer = static_cast<std::uint32_t>(random() % 80);
      bad1.indices.receive_producer.store(bad1.receive_producer);
      for (int step = 0; step < 4; ++step) {
        bad0.send_producer += static_cast<std::uint32_t>(random() % (random() % 16 == 0 ? 100 : 12));
        bad0.ring();
        run();
        advance(transport::Nanoseconds(50'000'000));
      }
      while (program0.async_events.read() || program1.async_events.read()) {
      }
    }
    if (round % 100 != 0) continue;
    program0.fill(0, 2000, 5);
    const abi::ScatterGather from[] = {program0.sge(0, 2000)};
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.remote_address = program1.address(0);
    head.rkey = program1.key.value;
    qp0.post_send(head, from);
    run();
    const auto entry = qp0.send_cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == 0);
    BOOST_TEST(program1.holds(0, 2000, 5));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
