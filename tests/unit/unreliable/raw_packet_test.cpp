// Raw packets: whole frames out, whole frames in.
#define BOOST_TEST_DYN_LINK
#include "device_model/transport/unreliable/raw_packet.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/unit/unreliable/unreliable_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;

namespace {

using RawBench = UnreliableBench<RawPacket>;
using Completed = RawBench::Completed;

Packet frame(std::size_t length) { return rc_packet(wire::Operation::send_only, 1, pattern(length)); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(raw_packets, RawBench)

BOOST_AUTO_TEST_CASE(a_send_is_a_frame_of_just_its_bytes) {
  post_send(WorkOpcode::send, 60);
  post_send(WorkOpcode::send, 61, false);
  run();
  BOOST_REQUIRE_EQUAL(host.sent.size(), 2u);
  BOOST_CHECK(host.sent[0].payload == pattern(60));
  BOOST_CHECK(host.sent[1].payload == pattern(61));
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(a_frame_has_an_ethernet_header_and_is_no_longer_than_the_port_lets_it) {
  const struct {
    std::uint32_t length;
    WorkStatus status;
  } rows[] = {{0, WorkStatus::local_length_error},
              {kShortestRawFrame - 1, WorkStatus::local_length_error},
              {kShortestRawFrame, kSuccess},
              {kMtu, kSuccess},
              {kMtu + 1, WorkStatus::local_length_error}};
  for (const auto& row : rows) {
    RawBench bench;
    bench.post_send(WorkOpcode::send, row.length);
    bench.run();
    BOOST_CHECK(bench.completed() == Completed({{0, row.status}}));
    BOOST_TEST(bench.host.sent.size() == (row.status == kSuccess ? 1u : 0u));
    BOOST_CHECK(bench.qp.state() == (row.status == kSuccess ? QpState::rts : QpState::sqe));
  }
}

BOOST_AUTO_TEST_CASE(there_are_only_sends_without_immediate_data) {
  for (const WorkOpcode opcode : {WorkOpcode::send_with_immediate, WorkOpcode::rdma_write,
                                  WorkOpcode::rdma_read, WorkOpcode::send_with_invalidate}) {
    RawBench bench;
    bench.post_send(opcode, 64);
    bench.run();
    BOOST_CHECK(bench.completed() == Completed({{0, WorkStatus::local_qp_operation_error}}));
  }
}

BOOST_AUTO_TEST_CASE(a_receive_gets_the_frame_and_nothing_in_front_of_it) {
  post_receive();
  ask(frame(64));
  BOOST_REQUIRE_EQUAL(host.completions.size(), 1u);
  const Completion& completion = host.completions[0];
  BOOST_CHECK(completion.receive && completion.opcode == CompletionOpcode::receive);
  BOOST_TEST(completion.byte_length == 64u);
  BOOST_CHECK(!completion.with_grh && !completion.with_immediate && completion.source == wire::Qpn{});
  BOOST_CHECK(memory.bytes(kBuffer, 64) == pattern(64));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_dropped_and_the_receive_stays) {
  ask(frame(64));  // nobody waits for it
  BOOST_TEST(counters.messages_without_receive == 1u);
  post_receive(63);
  ask(frame(64));
  BOOST_TEST(counters.responder_local_length_errors == 1u);
  BOOST_TEST(host.completions.empty());
  ask(frame(63));
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(a_receive_without_rights_completes_in_error_and_the_qp_with_it) {
  post_receive(0x1000, kReadOnlyKey);
  post_receive();
  ask(frame(64));
  BOOST_CHECK(completed() == Completed({{0, WorkStatus::local_protection_error}, {1, kFlushed}}));
  BOOST_CHECK(qp.state() == QpState::error);
}

BOOST_AUTO_TEST_CASE(frames_are_let_in_from_rtr_on) {
  to(QpState::reset);
  to(QpState::init);
  post_receive();
  ask(frame(64));
  BOOST_TEST(host.completions.empty());
  to(QpState::rtr);
  ask(frame(64));
  BOOST_TEST(host.completions.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
