// Unreliable datagrams: where they go, which are accepted, what a receive gets.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/unreliable/unreliable_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace datagrams {

constexpr std::uint32_t kAddress = 5;
constexpr std::uint32_t kForeignAddress = 6;

struct DatagramBench : UnreliableBench<UnreliableDatagram> {
  DatagramBench() {
    addresses.add(kAddress, kPd);
    addresses.add(kForeignAddress, PdId{8});
    prepared.address_handle = kAddress;
    prepared.remote_qpn = kPeer;
    prepared.remote_qkey = kQkey + 1;
  }
};

Packet datagram(std::size_t length, Operation operation = Operation::send_only) {
  Packet packet = rc_packet(operation, 1, pattern(length));
  packet.headers.bth.opcode = wire::Opcode(wire::Service::ud, operation);
  packet.headers.deth = {.qkey = kQkey, .reserved = 0, .source = kPeer};
  return packet;
}

using Completed = DatagramBench::Completed;

}  // namespace datagrams

BOOST_FIXTURE_TEST_SUITE(datagrams, DatagramBench)

BOOST_AUTO_TEST_CASE(a_message_is_one_packet_to_whom_the_request_says) {
  prepared.immediate = {{1, 2, 3, 4}};
  prepared.solicited = true;
  post_send(WorkOpcode::send, kMtu);
  post_send(WorkOpcode::send_with_immediate, 3);
  run();
  BOOST_REQUIRE_EQUAL(host.sent.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const wire::TransportHeaders& headers = host.sent[i].headers;
    const Operation operation = i == 0 ? Operation::send_only : Operation::send_only_immediate;
    BOOST_CHECK(headers.bth.opcode == wire::Opcode(wire::Service::ud, operation));
    BOOST_CHECK(headers.bth.destination == kPeer && headers.bth.solicited && !headers.bth.ack_request);
    BOOST_CHECK(headers.bth.psn == wire::Psn(kFirst) + i);
    BOOST_CHECK(headers.deth == (wire::Deth{kQkey + 1, 0, kQpn}));
  }
  BOOST_CHECK(host.sent[0].payload == pattern(kMtu));
  BOOST_CHECK(host.sent[1].headers.immediate == prepared.immediate);
  BOOST_CHECK(completed() == Completed({{0, kSuccess}, {1, kSuccess}}));
}

// IBTA 9.11: the next datagram leaves when the address has taken this one. A byte takes 1 us at 8,000 kbit/s.
BOOST_AUTO_TEST_CASE(an_address_with_a_rate_is_sent_to_no_faster) {
  addresses.set_static_rate(kAddress, 8'000);
  for (int i = 0; i < 3; ++i) post_send(WorkOpcode::send, kMtu);
  Time now{};
  BOOST_TEST(qp.pump(now, 4) == 1u);
  BOOST_TEST(!qp.pace().may_send(now));
  now = qp.pace().free_at();
  BOOST_TEST((now - Time{}).count() >= kMtu * 1000);
  BOOST_TEST((now - Time{}).count() <= (kMtu + 100) * 1000);
  BOOST_TEST(qp.pump(now - Nanoseconds(1), 4) == 0u);
  BOOST_TEST(qp.pump(now, 4) == 1u);
  addresses.set_static_rate(kAddress, 0);
  now = qp.pace().free_at();
  for (int i = 0; i < 3; ++i) post_send(WorkOpcode::send, kMtu);
  BOOST_TEST(qp.pump(now, 8) == 4u);
  run();
}

// IBTA 10.2.5.
BOOST_AUTO_TEST_CASE(a_qkey_with_the_high_order_bit_stands_for_the_qps_own) {
  prepared.remote_qkey = 0x80000001;
  post_send(WorkOpcode::send);
  run();
  BOOST_TEST(host.sent.at(0).headers.deth.qkey == kQkey);
}

BOOST_AUTO_TEST_CASE(longer_than_the_mtu_is_an_error) {
  post_send(WorkOpcode::send, kMtu + 1);
  run();
  BOOST_CHECK(completed() == Completed({{0, WorkStatus::local_length_error}}));
  BOOST_CHECK(qp.state() == QpState::sqe);
}

BOOST_AUTO_TEST_CASE(an_address_handle_must_be_there_and_of_the_qps_protection_domain) {
  for (const std::uint32_t handle : {kForeignAddress, 99u}) {
    DatagramBench bench;
    bench.prepared.address_handle = handle;
    bench.post_send(WorkOpcode::send);
    bench.run();
    BOOST_CHECK(bench.completed() == Completed({{0, WorkStatus::local_qp_operation_error}}));
    BOOST_CHECK(bench.host.sent.empty());
  }
}

BOOST_AUTO_TEST_CASE(there_are_only_sends) {
  for (const WorkOpcode opcode : {WorkOpcode::rdma_write, WorkOpcode::rdma_read, WorkOpcode::atomic_fetch_add,
                                  WorkOpcode::send_with_invalidate}) {
    DatagramBench bench;
    bench.post_send(opcode);
    bench.run();
    BOOST_CHECK(bench.completed() == Completed({{0, WorkStatus::local_qp_operation_error}}));
  }
}

BOOST_AUTO_TEST_CASE(a_receive_gets_the_grh_and_then_the_message) {
  post_receive();
  Packet packet = datagram(10, Operation::send_only_immediate);
  packet.headers.immediate = {{4, 3, 2, 1}};
  packet.headers.bth.solicited = true;
  ask(packet);
  BOOST_REQUIRE_EQUAL(host.completions.size(), 1u);
  const Completion& one = host.completions[0];
  BOOST_TEST(one.byte_length == kGrhBytes + 10);
  BOOST_CHECK(one.with_grh && one.with_immediate && one.immediate == packet.headers.immediate);
  BOOST_CHECK(one.source == kPeer && one.solicited && one.opcode == CompletionOpcode::receive);
  const std::vector<std::byte> head = memory.bytes(kBuffer, kGrhBytes);
  BOOST_CHECK(std::equal(head.begin(), head.end(), grh.begin()));
  BOOST_CHECK(memory.bytes(kBuffer + kGrhBytes, 10) == pattern(10));
  BOOST_CHECK(host.sent.empty());
}

BOOST_AUTO_TEST_CASE(a_receive_tells_which_header_the_grh_is) {
  for (const bool ipv6 : {false, true}) {
    post_receive();
    grh[0] = ipv6 ? std::byte{0x6F} : std::byte{0};
    ask(datagram(4));
    BOOST_TEST(host.completions.back().over_ipv6 == ipv6);
  }
}

BOOST_AUTO_TEST_CASE(an_empty_message_is_a_grh) {
  post_receive(kGrhBytes);
  ask(datagram(0));
  BOOST_TEST(host.completions.at(0).byte_length == kGrhBytes);
  BOOST_TEST(host.writes.size() == 1u);
  BOOST_CHECK(host.writes.at(0).message_end);
}

BOOST_AUTO_TEST_CASE(another_qkey_or_partition_is_not_let_in) {
  post_receive();
  Packet wrong = datagram(4);
  wrong.headers.deth.qkey = kQkey + 1;
  ask(wrong);
  BOOST_TEST(counters.qkey_violations == 1u);
  Packet foreign = datagram(4);
  foreign.headers.bth.pkey = wire::Pkey{0x8001};
  ask(foreign);
  Packet connected = datagram(4);
  connected.headers.bth.opcode = wire::Opcode(wire::Service::uc, Operation::send_only);
  ask(connected);
  ask(datagram(kMtu + 4));
  BOOST_CHECK(completed().empty());
  BOOST_TEST(receives.taken() == 0u);
}

BOOST_AUTO_TEST_CASE(psns_mean_nothing_to_the_receiver) {
  post_receive();
  post_receive();
  Packet late = datagram(4);
  late.headers.bth.psn = wire::Psn(77);
  ask(datagram(4));
  ask(late);
  BOOST_CHECK(completed() == Completed({{0, kSuccess}, {1, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(without_a_receive_it_is_dropped) {
  ask(datagram(4));
  BOOST_TEST(counters.messages_without_receive == 1u);
  post_receive();
  run();
  BOOST_CHECK(completed().empty());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_dropped_and_the_receive_stays) {
  post_receive(kGrhBytes + 8);
  ask(datagram(9));
  BOOST_CHECK(completed().empty() && host.writes.empty());
  BOOST_TEST(counters.responder_local_length_errors == 1u);
  ask(datagram(8));
  BOOST_CHECK(completed() == Completed({{0, kSuccess}}));
}

BOOST_AUTO_TEST_CASE(a_receive_without_rights_completes_in_error_and_the_qp_with_it) {
  post_receive(64, kReadOnlyKey);
  ask(datagram(4));
  BOOST_CHECK(completed() == Completed({{0, WorkStatus::local_protection_error}}));
  BOOST_CHECK(qp.state() == QpState::error);
}

BOOST_AUTO_TEST_SUITE_END()
