// What an unreliable connection makes of what arrives.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/unreliable/unreliable_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

using Bench = UnreliableBench<UnreliableConnection>;
using Completed = Bench::Completed;

namespace {

Packet uc(Operation operation, std::uint32_t offset, std::size_t length, std::uint8_t seed = 0) {
  Packet packet = rc_packet(operation, (wire::Psn(kFirst) + offset).value(), pattern(length, seed));
  packet.headers.bth.opcode = wire::Opcode(wire::Service::uc, operation);
  return packet;
}

Packet write(Operation operation, std::uint32_t offset, std::size_t length, std::uint32_t total = 0,
             std::uint32_t key = kKey) {
  Packet packet = uc(operation, offset, length);
  packet.headers.reth = {kBase, wire::Rkey{key}, total};
  return packet;
}

bool sends_nothing(const Bench& bench) { return bench.host.sent.empty() && bench.host.events.empty(); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connection_receive, Bench)

BOOST_AUTO_TEST_CASE(a_message_in_order_is_received_and_nothing_is_answered) {
  post_receive();
  give(uc(Operation::send_first, 0, kMtu));
  give(uc(Operation::send_middle, 1, kMtu));
  Packet last = uc(Operation::send_last_immediate, 2, 5);
  last.headers.immediate = {{9, 8, 7, 6}};
  last.headers.bth.ack_request = true;
  ask(last);
  BOOST_REQUIRE_EQUAL(host.completions.size(), 1u);
  const Completion& one = host.completions[0];
  BOOST_TEST(one.byte_length == 2 * kMtu + 5);
  BOOST_CHECK(one.status == kSuccess && one.with_immediate && one.immediate == last.headers.immediate);
  BOOST_CHECK(one.source == kPeer && one.qpn == kQpn && one.opcode == CompletionOpcode::receive);
  BOOST_CHECK(memory.bytes(kBuffer, kMtu) == pattern(kMtu));
  BOOST_CHECK(sends_nothing(*this));
}

// IBTA 9.8.2.2.1: the rest of a message of which a packet is missing is dropped, and so is what was received.
BOOST_AUTO_TEST_CASE(a_hole_drops_the_message_and_the_receive_serves_the_next) {
  post_receive();
  give(uc(Operation::send_first, 0, kMtu, 1));
  give(uc(Operation::send_last, 2, 8, 1));
  run();
  BOOST_CHECK(completed().empty());
  BOOST_TEST(counters.out_of_sequence == 1u);
  ask(uc(Operation::send_only, 3, 12, 2));
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
  BOOST_CHECK(memory.bytes(kBuffer, 12) == pattern(12, 2));
  BOOST_TEST(receives.taken() == 1u);
}

BOOST_AUTO_TEST_CASE(a_message_that_begins_behind_a_hole_is_whole) {
  post_receive();
  post_receive();
  give(uc(Operation::send_first, 0, kMtu, 1));
  give(uc(Operation::send_first, 5, kMtu, 2));
  ask(uc(Operation::send_last, 6, 4, 3));
  BOOST_TEST(host.completions.at(0).byte_length == kMtu + 4);
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
  BOOST_CHECK(memory.bytes(kBuffer, kMtu) == pattern(kMtu, 2));
}

BOOST_AUTO_TEST_CASE(what_cannot_follow_ends_the_message) {
  post_receive();
  give(uc(Operation::send_first, 0, kMtu, 1));
  give(write(Operation::write_last, 1, 4));
  give(uc(Operation::send_last, 2, 4, 1));
  run();
  BOOST_CHECK(completed().empty());
  give(uc(Operation::send_first, 3, kMtu, 1));
  ask(uc(Operation::send_only, 4, 6, 2));
  BOOST_TEST(host.completions.at(0).byte_length == 6u);
}

BOOST_AUTO_TEST_CASE(without_a_receive_a_message_is_dropped_whole) {
  give(uc(Operation::send_first, 0, kMtu));
  post_receive();
  ask(uc(Operation::send_last, 1, 4));
  BOOST_CHECK(completed().empty() && sends_nothing(*this));
  ask(uc(Operation::send_only, 2, 4));
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(a_message_that_is_too_long_is_dropped_and_the_receive_stays) {
  post_receive(8);
  ask(uc(Operation::send_only, 0, 9));
  BOOST_CHECK(completed().empty());
  BOOST_TEST(counters.responder_local_length_errors == 1u);
  ask(uc(Operation::send_only, 1, 8));
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(a_receive_without_rights_completes_in_error_and_the_qp_with_it) {
  post_receive(64, kReadOnlyKey);
  post_receive();
  ask(uc(Operation::send_only, 0, 4));
  BOOST_CHECK(completed() == Completed({{0, WorkStatus::local_protection_error}, {1, kFlushed}}));
  BOOST_CHECK(qp.state() == QpState::error);
}

BOOST_AUTO_TEST_CASE(a_write_is_written_and_tells_nobody) {
  give(write(Operation::write_first, 0, kMtu, kMtu + 4));
  ask(write(Operation::write_last, 1, 4));
  BOOST_CHECK(memory.bytes(kBase, kMtu) == pattern(kMtu));
  BOOST_CHECK(completed().empty() && sends_nothing(*this));
}

BOOST_AUTO_TEST_CASE(a_write_with_immediate_data_takes_a_receive) {
  post_receive();
  ask(write(Operation::write_only_immediate, 0, 4, 4));
  BOOST_CHECK(host.completions.at(0).opcode == CompletionOpcode::receive_rdma_with_immediate);
  BOOST_TEST(host.completions.at(0).byte_length == 4u);
  host.writes.clear();
  ask(write(Operation::write_only_immediate, 1, 4, 4));
  BOOST_CHECK(host.writes.empty());
}

// IBTA 9.9.3: for this service a wrong key drops the message without a word.
BOOST_AUTO_TEST_CASE(a_write_without_right_is_dropped) {
  ask(write(Operation::write_only, 0, 4, 4, kReadOnlyKey));
  ask(write(Operation::write_only, 1, 4, 4, 0x9999));
  ask(write(Operation::write_only, 2, 8, 4));
  BOOST_CHECK(host.writes.empty() && sends_nothing(*this));
  BOOST_CHECK(qp.state() == QpState::rts);
  BOOST_TEST(counters.responder_access_errors == 2u);
  QpParameters without = parameters();
  without.access.remote_write = false;
  qp.modify(QpState::rts, without);
  ask(write(Operation::write_only, 3, 4, 4));
  BOOST_CHECK(host.writes.empty());
}

BOOST_AUTO_TEST_CASE(other_services_and_partitions_are_not_let_in) {
  post_receive();
  Packet rc = rc_packet(Operation::send_only, kFirst, pattern(4));
  ask(rc);
  Packet foreign = uc(Operation::send_only, 0, 4);
  foreign.headers.bth.pkey = wire::Pkey{0x8001};
  ask(foreign);
  BOOST_CHECK(completed().empty());
  BOOST_TEST(receives.taken() == 0u);
}

// IBTA 9.9.3: class D. The message under way has lost a packet.
BOOST_AUTO_TEST_CASE(a_reserved_opcode_is_dropped) {
  post_receive();
  ask(uc(Operation::send_first, 0, kMtu));
  ask(uc(static_cast<Operation>(0x1F), 1, kMtu));
  ask(uc(Operation::send_last, 2, 4));
  BOOST_CHECK(completed().empty());
  BOOST_CHECK(sends_nothing(*this));
  ask(uc(Operation::send_only, 3, 4));
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(payloads_of_the_wrong_length_end_the_message) {
  post_receive();
  give(uc(Operation::send_first, 0, kMtu - 4));
  give(uc(Operation::send_last, 1, 4));
  give(uc(Operation::send_only, 2, kMtu + 4));
  run();
  BOOST_CHECK(completed().empty());
}

BOOST_AUTO_TEST_CASE(the_first_packet_in_rtr_establishes_communication) {
  Bench bench;
  bench.to(QpState::reset);
  bench.receives.clear();
  bench.to(QpState::init);
  bench.to(QpState::rtr);
  bench.ask(uc(Operation::send_only, 0, 4));
  bench.ask(uc(Operation::send_only, 1, 4));
  BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
  BOOST_CHECK(bench.host.events[0] == AsyncEvent::communication_established);
}

BOOST_AUTO_TEST_CASE(memory_that_cannot_be_written_is_this_sides_error) {
  post_receive();
  post_receive();
  memory.unmap(kBuffer, 4);
  give(uc(Operation::send_only, 0, 4));
  ask(uc(Operation::send_only, 1, 4));
  BOOST_CHECK(completed() == Completed({{0, WorkStatus::local_protection_error}, {1, kFlushed}}));
  BOOST_CHECK(qp.state() == QpState::error);
}

BOOST_AUTO_TEST_SUITE_END()
