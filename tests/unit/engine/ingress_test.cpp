// What a device lets in.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>
#include <vector>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/program.hpp"
#include "wire/byte_order.hpp"
#include "wire/frame.hpp"
#include "wire/network_codec.hpp"

namespace urnic::engine::test {

namespace {

// A third port on the switch, from which the test sends what it likes.
struct Outsider final : link::FrameReceiver {
  void arrive(const wire::Frame&, const link::PacketOrigin&) override {}
};

struct Ingress : Fabric {
  Outsider outsider;
  link::Port& port = frame_switch.attach({{2, 0, 0, 0, 0, 99}}, outsider);
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 1, {}};
  wire::NetworkHeaders network = path(device0, device1);
  wire::TransportHeaders headers;
  // What the peer's device says beside each frame.
  link::PacketOrigin origin{.queue_pair = qp0.qpn(), .device = device0.config().mac};
  std::vector<std::byte> payload = std::vector<std::byte>(64, std::byte{0x5A});

  Ingress() {
    connect(qp0, qp1);
    headers.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::write_only);
    headers.bth.destination = qp1.qpn();
    headers.bth.psn = wire::Psn(0xFFFFF0);
    headers.reth = {program1.address(0), wire::Rkey{program1.key.value}, 64};
  }
  bool written() { return program1.bytes[0] == std::byte{0x5A}; }
  void send() {
    wire::FrameStorage storage;
    port.transmit(wire::encode(network, headers, payload, storage), origin, {});
    run();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ingress, Ingress)

BOOST_AUTO_TEST_CASE(a_right_packet_gets_in) {
  send();
  BOOST_TEST(written());
  BOOST_TEST(device1.port_counters().received_packets == 1u);
  BOOST_TEST(device1.port_counters().receive_errors == 0u);
}

BOOST_AUTO_TEST_CASE(a_wrong_icrc_is_counted_and_dropped) {
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, payload, storage);
  payload[10] ^= std::byte{1};
  port.transmit(frame, origin, {});
  run();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().receive_errors == 1u);
  BOOST_TEST(device1.port_counters().icrc_errors == 1u);
}

// Which is no error: it is for somebody else.
BOOST_AUTO_TEST_CASE(a_frame_that_is_no_roce_packet_is_counted_and_dropped) {
  std::vector<std::byte> bytes(60);
  std::memcpy(bytes.data(), device1.config().mac.bytes.data(), 6);
  port.transmit({.headers = bytes, .payload = {}, .trailer = {}}, {}, {});
  BOOST_TEST(device1.port_counters().not_roce == 1u);
  BOOST_TEST(device1.port_counters().receive_errors == 0u);
}

// The software that a frame without RoCE is for.
struct RememberingHost final : link::FrameReceiver {
  std::size_t frames = 0;
  void arrive(const wire::Frame&, const link::PacketOrigin&) override { ++frames; }
};

BOOST_AUTO_TEST_CASE(a_host_gets_what_is_no_roce_packet) {
  RememberingHost host;
  device1.set_host(host);
  std::vector<std::byte> bytes(60);
  std::memcpy(bytes.data(), device1.config().mac.bytes.data(), 6);
  port.transmit({.headers = bytes, .payload = {}, .trailer = {}}, {}, {});
  BOOST_TEST(host.frames == 1u);
  BOOST_TEST(device1.port_counters().not_roce == 0u);
  wire::FrameStorage storage;
  std::vector<std::byte> fragment(wire::kMaxHeaderBytes + payload.size() + wire::kMaxTrailerBytes);
  const wire::Frame whole = wire::encode(network, headers, payload, storage);
  wire::copy_whole(whole, fragment.data());
  fragment.resize(whole.size());
  fragment[wire::kEthernetBytes + 6] = std::byte{0x20};  // IPv4: more fragments follow
  const std::span<std::byte> ip = std::span(fragment).subspan(wire::kEthernetBytes, wire::kIpv4Bytes);
  ip[10] = ip[11] = std::byte{0};
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < ip.size(); i += 2) sum += wire::load_be16(ip.data() + i);
  wire::store_be16(ip.data() + 10, static_cast<std::uint16_t>(~(sum % 0xFFFF)));
  port.transmit({.headers = fragment, .payload = {}, .trailer = {}}, {}, {});
  BOOST_TEST(host.frames == 2u);
}

// Not even those that nobody takes.
BOOST_AUTO_TEST_CASE(a_host_gets_no_roce_packet) {
  RememberingHost host;
  device1.set_host(host);
  send();
  BOOST_TEST(written());
  payload[10] ^= std::byte{1};
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, payload, storage);
  payload[11] ^= std::byte{1};
  port.transmit(frame, origin, {});
  headers.bth.destination = wire::Qpn{0x777777};
  send();
  BOOST_TEST(host.frames == 0u);
  BOOST_TEST(device1.port_counters().icrc_errors == 1u);
  BOOST_TEST(device1.port_counters().unknown_qp == 1u);
}

// As a program in the devices' network may write them: with the addresses of a connection.
BOOST_AUTO_TEST_CASE(a_connection_takes_no_packet_of_a_host) {
  origin = {.queue_pair = link::kUnknownQpn, .device = {}};
  send();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().wrong_origin == 1u);
}

BOOST_AUTO_TEST_CASE(a_damaged_packet_is_counted_and_dropped) {
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, payload, storage);
  storage.headers[wire::kEthernetBytes + 10] ^= std::byte{1};  // of the IPv4 header checksum
  port.transmit(frame, origin, {});
  run();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().receive_errors == 1u);
  BOOST_TEST(device1.port_counters().icrc_errors == 0u);
  BOOST_TEST(device1.port_counters().not_roce == 0u);
}

// IBTA 9.7.4.1.4: whole packets of a reliable service are for the responder to refuse, others are dropped
// without a word (IBTA 9.6).
BOOST_AUTO_TEST_CASE(a_reserved_opcode_is_refused_by_its_queue_pair) {
  headers.bth.opcode = wire::Opcode(0x1F);
  send();
  BOOST_TEST(device1.counters().responder_invalid_requests == 1u);
  BOOST_TEST(device1.port_counters().receive_errors == 0u);
  BOOST_TEST(device1.port_counters().transmitted_packets == 1u);  // the NAK
}

BOOST_AUTO_TEST_CASE(a_reserved_opcode_is_dropped_where_nobody_answers) {
  headers.bth.opcode = wire::Opcode(0x1F);
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, payload, storage);
  payload[0] ^= std::byte{1};
  port.transmit(frame, origin, {});
  run();
  BOOST_TEST(device1.port_counters().icrc_errors == 1u);
  for (const int reserved : {0x35, 0x5F, 0x75, 0x9F, 0xDF, 0xFF}) {  // UC, RD, UD, CNP, manufacturers'
    headers.bth.opcode = wire::Opcode(static_cast<std::uint8_t>(reserved));
    send();
  }
  headers.bth.opcode = wire::Opcode(0x15);
  headers.bth.destination = wire::Qpn{0x777777};
  send();
  BOOST_TEST(device1.port_counters().receive_errors == 8u);
  BOOST_TEST(device1.counters().responder_invalid_requests == 0u);
  BOOST_TEST(device1.port_counters().transmitted_packets == 0u);
}

BOOST_AUTO_TEST_CASE(unknown_qp) {
  headers.bth.destination = wire::Qpn{0x777777};
  send();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().unknown_qp == 1u);
}

BOOST_AUTO_TEST_CASE(source_that_is_not_the_peer) {
  network.source.bytes[15] = 77;
  send();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().wrong_address == 1u);
}

BOOST_AUTO_TEST_CASE(destination_address_that_is_not_ours) {
  network.destination.bytes[15] = 77;
  send();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().wrong_address == 1u);
}

BOOST_AUTO_TEST_CASE(origin_that_is_not_the_peers_queue_pair) {
  origin.queue_pair = wire::Qpn{qp0.qpn().value + 1};
  send();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().wrong_origin == 1u);
}

BOOST_AUTO_TEST_CASE(origin_that_is_not_the_peers_device) {
  origin.device = device1.config().mac;
  send();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().wrong_origin == 1u);
}

BOOST_AUTO_TEST_CASE(qp_without_a_path) {
  TestQp fresh(program1, 5, {});
  headers.bth.destination = fresh.qpn();
  send();
  BOOST_TEST(!written());
  BOOST_TEST(device1.port_counters().wrong_address == 1u);
}

BOOST_AUTO_TEST_CASE(traffic_is_counted_on_both_sides) {
  program0.fill(0, 4096, 1);
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = program1.address(0);
  head.rkey = program1.key.value;
  const abi::ScatterGather from[] = {program0.sge(0, 4096)};
  qp0.post_send(head, from);
  run();
  const PortCounters& sender = device0.port_counters();
  const PortCounters& receiver = device1.port_counters();
  BOOST_TEST(sender.transmitted_packets == 4u);
  BOOST_TEST(receiver.received_packets == 4u);
  // Four packets with Ethernet, IPv4, UDP, BTH and ICRC; the first has a RETH.
  BOOST_TEST(sender.transmitted_bytes == 4096u + 4 * (14 + 20 + 8 + 12 + 4) + 16);
  BOOST_TEST(receiver.received_bytes == sender.transmitted_bytes);
  BOOST_TEST(receiver.transmitted_packets == 1u);  // one coalesced acknowledgement
  BOOST_TEST(sender.received_packets == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
