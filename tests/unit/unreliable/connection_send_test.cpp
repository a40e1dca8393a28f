// What an unreliable connection sends, and when its requests complete.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/unreliable/unreliable_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

using Bench = UnreliableBench<UnreliableConnection>;
using Completed = Bench::Completed;

BOOST_FIXTURE_TEST_SUITE(connection_send, Bench)

BOOST_AUTO_TEST_CASE(a_message_is_cut_at_the_path_mtu_and_asks_for_no_acknowledgement) {
  post_send(WorkOpcode::send, 2 * kMtu + 3);
  run();
  const Operation operations[] = {Operation::send_first, Operation::send_middle, Operation::send_last};
  BOOST_REQUIRE_EQUAL(host.sent.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const wire::Bth& bth = host.sent[i].headers.bth;
    BOOST_CHECK(bth.opcode == wire::Opcode(wire::Service::uc, operations[i]));
    BOOST_CHECK(bth.psn == wire::Psn(kFirst) + i);
    BOOST_CHECK(bth.destination == kPeer);
    BOOST_CHECK(!bth.ack_request);
    BOOST_CHECK(host.sent[i].payload == pattern(i < 2 ? kMtu : 3, 0, i * kMtu));
  }
}

BOOST_AUTO_TEST_CASE(a_request_is_complete_when_it_is_sent) {
  post_send(WorkOpcode::rdma_write, 2 * kMtu);
  BOOST_TEST(qp.pump(Time{}, 1) == 1u);
  host.flush();
  BOOST_CHECK(completed().empty());
  run();
  BOOST_TEST(host.sent.size() == 2u);
  BOOST_CHECK(host.completions.at(0).opcode == CompletionOpcode::rdma_write);
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
  BOOST_TEST(sends.retired() == 1u);
}

BOOST_AUTO_TEST_CASE(unsignaled_requests_complete_silently) {
  post_send(WorkOpcode::send, 4, false);
  run();
  BOOST_CHECK(completed().empty());
  BOOST_TEST(sends.retired() == 1u);
}

BOOST_AUTO_TEST_CASE(a_write_carries_its_reth_and_immediate_data) {
  prepared.immediate = {{1, 2, 3, 4}};
  prepared.solicited = true;
  post_send(WorkOpcode::rdma_write_with_immediate, 8);
  run();
  const wire::TransportHeaders& headers = host.sent.at(0).headers;
  BOOST_CHECK(headers.bth.opcode == wire::Opcode(wire::Service::uc, Operation::write_only_immediate));
  BOOST_CHECK(headers.reth == (wire::Reth{kBase + 0x4000, wire::Rkey{kKey}, 8}));
  BOOST_CHECK(headers.immediate == prepared.immediate);
  BOOST_CHECK(headers.bth.solicited);
}

BOOST_AUTO_TEST_CASE(reads_atomics_and_sends_with_invalidate_are_not_of_this_service) {
  for (const WorkOpcode opcode : {WorkOpcode::rdma_read, WorkOpcode::atomic_compare_swap,
                                  WorkOpcode::atomic_fetch_add, WorkOpcode::send_with_invalidate}) {
    Bench bench;
    bench.post_send(opcode, 8);
    bench.run();
    BOOST_CHECK(bench.completed() == Completed({{0, WorkStatus::local_qp_operation_error}}));
    BOOST_CHECK(bench.host.sent.empty());
  }
}

BOOST_AUTO_TEST_CASE(binds_and_local_invalidations_take_effect_in_order_without_a_packet) {
  SendRequest request;
  request.signaled = true;
  request.opcode = WorkOpcode::bind_memory_window;
  request.binding.next = wire::Rkey{0x77};
  sends.post(request);
  post_send(WorkOpcode::send, 4);
  request.opcode = WorkOpcode::local_invalidate;
  request.invalidate = wire::Rkey{0x77};
  sends.post(request);
  run();
  BOOST_CHECK(completed() == Completed({{0, kSuccess}, {1, kSuccess}, {2, kSuccess}}));
  BOOST_TEST(host.sent.size() == 1u);
  BOOST_REQUIRE(keys.bindings.size() == 1u);
  BOOST_CHECK(keys.bindings[0].next == wire::Rkey{0x77});
  BOOST_CHECK(keys.invalidated == std::vector{wire::Rkey{0x77}});
}

BOOST_AUTO_TEST_CASE(an_idle_request_completes_without_a_packet) {
  post_send(WorkOpcode::send, 4);
  prepared.is_idle = true;
  post_send(WorkOpcode::bind_memory_window, 0);
  post_send(WorkOpcode::bind_memory_window, 0, false);
  run();
  BOOST_CHECK(completed() == Completed({{0, kSuccess}, {1, kSuccess}}));
  BOOST_TEST(host.sent.size() == 1u);
  BOOST_TEST(sends.retired() == 3u);
  BOOST_CHECK(keys.bindings.empty());
}

BOOST_AUTO_TEST_CASE(inline_data_in_front_of_segments) {
  const auto data = pattern(kMtu + 5, 9);
  prepared.is_inline = true;
  prepared.inline_data = data;
  post_send(WorkOpcode::send, 300);
  run();
  std::vector<std::byte> message;
  for (const auto& packet : host.sent)
    message.insert(message.end(), packet.payload.begin(), packet.payload.end());
  std::vector<std::byte> expected = data;
  for (const std::byte byte : pattern(300)) expected.push_back(byte);
  BOOST_CHECK(message == expected);
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(a_bind_that_the_keys_refuse_is_a_bind_error) {
  keys.bind_result = KeyCheck::no_right;
  post_send(WorkOpcode::bind_memory_window, 0);
  post_send(WorkOpcode::send, 4);
  run();
  BOOST_CHECK(completed() == Completed({{0, WorkStatus::memory_window_bind_error}, {1, kFlushed}}));
  BOOST_CHECK(qp.state() == QpState::sqe);
  BOOST_TEST(host.sent.empty());
}

BOOST_AUTO_TEST_CASE(an_error_stops_the_send_queue_alone_until_it_is_brought_back) {
  post_send(WorkOpcode::send, 4);
  post_send(WorkOpcode::send, 0x4001);
  post_send(WorkOpcode::send, 4);
  run();
  BOOST_CHECK(completed() == Completed({{0, kSuccess}, {1, WorkStatus::local_length_error}, {2, kFlushed}}));
  BOOST_CHECK(qp.state() == QpState::sqe);
  post_send(WorkOpcode::send, 4);
  qp.doorbell();
  run();
  BOOST_CHECK(completed() == Completed({{3, kFlushed}}));
  // Receives go on (IBTA 10.3.1.6).
  post_receive();
  Packet packet = rc_packet(Operation::send_only, kFirst, pattern(4));
  packet.headers.bth.opcode = wire::Opcode(wire::Service::uc, Operation::send_only);
  ask(packet);
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));

  to(QpState::rts);
  post_send(WorkOpcode::send, 4);
  run();
  BOOST_CHECK(completed() == Completed({{4, kSuccess}}));
  BOOST_CHECK(host.sent.back().headers.bth.psn == wire::Psn(kFirst) + 1);
}

BOOST_AUTO_TEST_CASE(a_key_without_rights_is_a_protection_error) {
  post_send(WorkOpcode::send, 4, true, 0x9999);
  run();
  BOOST_CHECK(completed() == Completed({{0, WorkStatus::local_protection_error}}));
  BOOST_CHECK(host.sent.empty());
}

BOOST_AUTO_TEST_CASE(an_access_that_fails_takes_back_what_was_reported_behind_it) {
  post_send(WorkOpcode::send, 4);
  post_send(WorkOpcode::send, 4, false, kKey, kBase + 0x100);
  post_send(WorkOpcode::send, 4);
  memory.unmap(kBase + 0x100, 4);
  run();
  BOOST_TEST(host.sent.size() == 1u);
  BOOST_CHECK(completed() ==
              Completed({{0, kSuccess}, {1, WorkStatus::local_protection_error}, {2, kFlushed}}));
  BOOST_CHECK(qp.state() == QpState::sqe);
}

BOOST_AUTO_TEST_CASE(draining_finishes_the_message_under_way_and_begins_no_other) {
  post_send(WorkOpcode::send, 2 * kMtu);
  post_send(WorkOpcode::send, 4);
  qp.pump(Time{}, 1);
  to(QpState::sqd, true);
  BOOST_CHECK(!qp.drained());
  BOOST_CHECK(host.events.empty());
  run();
  BOOST_CHECK(qp.drained());
  BOOST_TEST(host.sent.size() == 2u);
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::send_queue_drained);
  to(QpState::rts);
  run();
  BOOST_TEST(host.sent.size() == 3u);
}

BOOST_AUTO_TEST_CASE(the_error_state_flushes_both_queues) {
  post_send(WorkOpcode::send, 2 * kMtu);
  post_send(WorkOpcode::send, 4, false);
  post_receive();
  qp.pump(Time{}, 1);
  to(QpState::error);
  run();
  BOOST_CHECK(completed() == Completed({{0, kFlushed}, {1, kFlushed}, {0, kFlushed}}));
  post_receive();
  qp.doorbell();
  run();
  BOOST_CHECK(completed() == Completed({{1, kFlushed}}));
}

BOOST_AUTO_TEST_SUITE_END()
