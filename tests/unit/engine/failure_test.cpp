// What becomes of memory accesses that fail, of overrun queues and of the error state.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace failure {

constexpr std::uint8_t kProtectionError = 4;
constexpr std::uint8_t kFlushed = 5;
constexpr std::uint8_t kRemoteOperationError = 11;
constexpr std::uint32_t kEventCqError = 0;

struct FailingPair : Fabric {
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 1, {}};
  FailingPair() { connect(qp0, qp1); }

  abi::SendWqe write_wqe(std::size_t offset) {
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.remote_address = program1.address(offset);
    head.rkey = program1.key.value;
    return head;
  }
};

}  // namespace failure

BOOST_FIXTURE_TEST_SUITE(failure, FailingPair)

// The region is still registered but the pages behind it are gone.
BOOST_AUTO_TEST_CASE(gather_that_fails_becomes_a_protection_error_behind_what_was_sent_before) {
  const abi::ScatterGather good[] = {program0.sge(0, 3000)};
  qp0.post_send(write_wqe(0), good);
  const std::span<std::byte> first_half = std::span(program0.bytes).first(Program::kBytes / 2);
  program0.memory.remove_range(program0.bytes);
  program0.memory.add_range(first_half);
  const abi::ScatterGather gone[] = {program0.sge(Program::kBytes / 2 - 1500, 3000)};
  qp0.post_send(write_wqe(8192), gone);
  qp0.post_send(write_wqe(16384), good);
  run();
  const std::uint8_t expected[] = {0, kProtectionError, kFlushed};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto entry = qp0.send_cq.poll();
    BOOST_TEST_CONTEXT("WQE " << i) BOOST_REQUIRE(entry);
    BOOST_TEST(entry->wqe_index == i);
    BOOST_TEST(entry->status == expected[i]);
  }
  BOOST_TEST((qp0.device_end().state() == transport::QpState::error));
  BOOST_TEST(qp0.indices.in_error.load() == 1u);
}

BOOST_AUTO_TEST_CASE(scatter_that_fails_becomes_a_nak_and_the_bytes_before_it_arrive) {
  program1.memory.remove_range(program1.bytes);
  program1.memory.add_range(std::span(program1.bytes).first(8192));
  program0.fill(0, 4096, 2);
  const abi::ScatterGather from[] = {program0.sge(0, 4096)};
  qp0.post_send(write_wqe(4096), from);
  qp0.post_send(write_wqe(8192), from);
  run();
  BOOST_TEST((qp0.send_cq.poll().value().status == 0));
  BOOST_TEST((qp0.send_cq.poll().value().status == kRemoteOperationError));
  BOOST_TEST(program1.holds(4096, 4096, 2));
  BOOST_TEST((qp1.device_end().state() == transport::QpState::error));
}

// What a dead host looks like: no NAK, and the requester's retries run out.
BOOST_AUTO_TEST_CASE(responder_of_a_program_that_has_ended_is_silent) {
  constexpr std::uint8_t kRetryExceeded = 12;
  program1.memory.end_owner();
  const abi::ScatterGather from[] = {program0.sge(0, 4096)};
  qp0.post_send(write_wqe(4096), from);
  run();
  BOOST_TEST(!qp0.send_cq.poll());
  BOOST_TEST((qp1.device_end().state() == transport::QpState::error));
  for (int timeout = 0; timeout < 64; ++timeout) advance(std::chrono::seconds(1));
  const auto entry = qp0.send_cq.poll();
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->status == kRetryExceeded);
}

BOOST_AUTO_TEST_CASE(receive_whose_memory_is_gone_completes_in_error_at_both_ends) {
  program1.memory.remove_range(program1.bytes);
  const abi::ScatterGather to[] = {program1.sge(0, 100)};
  qp1.post_receive(to);
  qp1.post_receive(to);
  const abi::ScatterGather from[] = {program0.sge(0, 100)};
  qp0.post_send(wqe(abi::SendOpcode::send), from);
  run();
  BOOST_TEST((qp1.receive_cq.poll().value().status == kProtectionError));
  BOOST_TEST((qp1.receive_cq.poll().value().status == kFlushed));
  BOOST_TEST(!qp1.receive_cq.poll());
  BOOST_TEST((qp0.send_cq.poll().value().status == kRemoteOperationError));
}

BOOST_AUTO_TEST_CASE(read_into_memory_that_is_gone) {
  program0.memory.remove_range(program0.bytes);
  abi::SendWqe head = write_wqe(0);
  head.opcode = static_cast<std::uint8_t>(abi::SendOpcode::rdma_read);
  const abi::ScatterGather to[] = {program0.sge(0, 5000)};
  qp0.post_send(head, to);
  run();
  BOOST_TEST((qp0.send_cq.poll().value().status == kProtectionError));
}

BOOST_AUTO_TEST_CASE(atomic_on_memory_that_is_gone) {
  program1.memory.remove_range(program1.bytes);
  abi::SendWqe head = write_wqe(0);
  head.opcode = static_cast<std::uint8_t>(abi::SendOpcode::atomic_fetch_add);
  const abi::ScatterGather to[] = {program0.sge(0, 8)};
  qp0.post_send(head, to);
  run();
  BOOST_TEST((qp0.send_cq.poll().value().status == kRemoteOperationError));
}

BOOST_AUTO_TEST_CASE(neighbours_do_not_notice_a_process_whose_memory_is_gone) {
  TestQp neighbour0(program0, 10, {});
  TestQp neighbour1(program0, 11, {});
  connect(neighbour0, neighbour1);
  program1.memory.remove_range(program1.bytes);
  program0.fill(0, 2000, 6);
  const abi::ScatterGather from[] = {program0.sge(0, 2000)};
  abi::SendWqe head = write_wqe(0);
  qp0.post_send(head, from);
  head.remote_address = program0.address(4096);
  head.rkey = program0.key.value;
  neighbour0.post_send(head, from);
  run();
  BOOST_TEST((qp0.send_cq.poll().value().status == kRemoteOperationError));
  BOOST_TEST((neighbour0.send_cq.poll().value().status == 0));
  BOOST_TEST(program0.holds(4096, 2000, 6));
}

BOOST_AUTO_TEST_CASE(overrun_cq_takes_its_qp_to_error_and_says_so_once) {
  for (std::uint32_t i = 0; i < 300; ++i) {
    const abi::ScatterGather from[] = {program0.sge(0, 8)};
    qp0.post_send(write_wqe(0), from);  // 256 entries, nobody polls
    run();
  }
  BOOST_TEST((qp0.device_end().state() == transport::QpState::error));
  const auto event = program0.async_events.read();
  BOOST_REQUIRE(event);
  BOOST_TEST(event->element == qp0.send_cq.device_end->user_handle());
  BOOST_TEST(event->type == kEventCqError);
  BOOST_TEST(!program0.async_events.read());
}

BOOST_AUTO_TEST_CASE(posted_in_error_state_is_flushed_sends_and_receives) {
  engine.execute([&] {
    qp0.device_end().modify(transport::QpState::error, qp0.device_end().parameters(), std::nullopt);
  });
  BOOST_TEST(qp0.indices.in_error.load() == 1u);
  qp0.post_inline(wqe(abi::SendOpcode::send), {});
  qp0.post_receive({});
  run();
  BOOST_TEST((qp0.send_cq.poll().value().status == kFlushed));
  BOOST_TEST((qp0.receive_cq.poll().value().status == kFlushed));
}

// Receives ring no doorbell before the error state, so entering it looks for them.
BOOST_AUTO_TEST_CASE(posted_before_the_error_state_is_flushed) {
  for (int i = 0; i < 5; ++i) qp0.post_receive({});
  qp0.receive_cq.arm(abi::ArmKind::next);
  engine.execute([&] {
    qp0.device_end().modify(transport::QpState::error, qp0.device_end().parameters(), std::nullopt);
  });
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto entry = qp0.receive_cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == kFlushed);
    BOOST_TEST(entry->wqe_index == i);
  }
  BOOST_TEST(program0.channel.read().has_value());
}

BOOST_AUTO_TEST_CASE(reset_starts_the_rings_anew) {
  const abi::ScatterGather from[] = {program0.sge(0, 100)};
  qp0.post_send(write_wqe(0), from);
  qp1.post_receive({});
  run();
  BOOST_TEST((qp0.send_cq.poll().value().status == 0));
  for (TestQp* qp : {&qp0, &qp1}) {
    engine.execute([&] {
      qp->device_end().modify(transport::QpState::reset, qp->device_end().parameters(), std::nullopt);
    });
    BOOST_TEST(qp->indices.send_producer.load() == 0u);
    BOOST_TEST(qp->indices.receive_producer.load() == 0u);
    qp->send_producer = qp->receive_producer = 0;
  }
  connect(qp0, qp1);
  program0.fill(0, 100, 8);
  qp0.post_send(write_wqe(0), from);
  run();
  const auto entry = qp0.send_cq.poll();
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->wqe_index == 0u);
  BOOST_TEST(program1.holds(0, 100, 8));
  BOOST_TEST(!qp1.receive_cq.poll());  // the receive posted before the reset is forgotten
}

// The engine was not given a processor for a second, between a request and its acknowledgement.
BOOST_AUTO_TEST_CASE(a_late_engine_does_not_take_an_answer_for_lost) {
  for (int rounds = 1; rounds <= 4; ++rounds) {
    const abi::ScatterGather from[] = {program0.sge(0, 5000)};
    qp0.post_send(write_wqe(0), from);
    program0.doorbell_set.collect();
    for (int i = 0; i < rounds; ++i) engine.data_path().round();
    advance(std::chrono::seconds(1));
    BOOST_TEST((qp0.send_cq.poll().value().status == 0));
  }
  BOOST_TEST(device0.counters().local_ack_timeout == 0u);
  BOOST_TEST(device0.counters().retransmitted_packets == 0u);
}

// A context goes in one step of the engine: its QPs and their CQs, with completions and events still owed.
BOOST_AUTO_TEST_CASE(flushed_and_destroyed_in_one_step) {
  auto qp = std::make_unique<TestQp>(program0, 40, QpLayout{});
  connect(*qp, qp1);
  qp->post_receive({});
  qp->receive_cq.arm(abi::ArmKind::next);
  engine.execute([&] {
    qp->device_end().modify(transport::QpState::error, qp->device_end().parameters(), std::nullopt);
    qp.reset();
  });
  BOOST_TEST(program0.channel.read().has_value());
  run();
}

BOOST_AUTO_TEST_CASE(send_queue_drained_is_raised_when_the_last_request_is_done) {
  constexpr std::uint32_t kEventSendQueueDrained = 5;
  const abi::ScatterGather from[] = {program0.sge(0, 5000)};
  qp0.post_send(write_wqe(0), from);
  program0.doorbell_set.collect();
  engine.data_path().round();  // the request is under way
  const transport::QpParameters parameters = qp0.device_end().parameters();
  qp0.device_end().modify(transport::QpState::sqd, parameters, std::nullopt, true);
  BOOST_TEST(!qp0.device_end().drained());
  BOOST_TEST(!program0.async_events.read());
  run();
  BOOST_TEST(qp0.device_end().drained());
  BOOST_TEST((qp0.send_cq.poll().value().status == 0));
  const auto event = program0.async_events.read();
  BOOST_REQUIRE(event);
  BOOST_TEST(event->type == kEventSendQueueDrained);
  BOOST_TEST(event->element == 5000u);
}

// The peer's process is gone and its QPs with it: retries, then the error, as with a dead host.
BOOST_AUTO_TEST_CASE(peer_that_is_gone_is_a_dead_host) {
  transport::QpParameters parameters = qp0.device_end().parameters();
  parameters.retry_count = 2;
  engine.execute([&] { qp0.device_end().modify(transport::QpState::rts, parameters, std::nullopt); });
  parameters.destination = wire::Qpn{0x123456};
  TestQp lonely(program0, 30, {});
  engine.execute([&] {
    lonely.device_end().modify(transport::QpState::init, parameters, std::nullopt);
    lonely.device_end().modify(transport::QpState::rtr, parameters, path(device0, device1));
    lonely.device_end().modify(transport::QpState::rts, parameters, std::nullopt);
  });
  const abi::ScatterGather from[] = {program0.sge(0, 100)};
  lonely.post_send(write_wqe(0), from);
  run();
  BOOST_TEST(device1.port_counters().unknown_qp == 1u);
  for (int i = 0; i < 20 && !lonely.send_cq.poll(); ++i) advance(std::chrono::milliseconds(300));
  BOOST_TEST((lonely.device_end().state() == transport::QpState::error));
  BOOST_TEST(device0.counters().retry_exceeded == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
