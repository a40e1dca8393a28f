// Packets of InfiniBand, from the LRH to the VCRC, and the records of ERF in which captures hold them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/unit/wire/infiniband_link.hpp"
#include "tests/unit/wire/sample_frames.hpp"
#include "wire/byte_order.hpp"
#include "wire/mad/rmpp.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/vendor.hpp"

namespace urnic::analysis::test {

// From LID 2 to LID 5. With a GRH, also from fe80::b to fe80::a.
inline wire::NetworkHeaders infiniband_network(bool with_grh = false) {
  wire::NetworkHeaders network;
  network.local = wire::LocalRoute{
      .destination = {5}, .source = {2}, .service_level = 3, .virtual_lane = 1, .with_grh = with_grh};
  if (!with_grh) return network;
  network.source.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0B};
  network.destination.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0A};
  network.traffic_class = 0x6A;
  network.flow_label = 0xABCDE;
  network.hop_limit = 63;
  return network;
}

inline wire::test::Bytes on_link(const wire::NetworkHeaders& network, const wire::TransportHeaders& transport,
                                 std::span<const std::byte> payload) {
  wire::FrameStorage storage;
  return wire::infiniband::test::on_link(wire::encode(network, transport, payload, storage));
}

inline wire::test::Bytes on_link(const wire::NetworkHeaders& network, const wire::TransportHeaders& transport,
                                 std::size_t payload_bytes) {
  return on_link(network, transport, wire::test::payload_of(payload_bytes));
}

// A question about NodeInfo along the ports 1 and 3 that has come out of the first, between ports without
// LIDs; or, LID-routed, one about port 7's PortInfo from LID 2 to LID 5.
inline wire::test::Bytes subnet_management_packet(bool is_directed) {
  using wire::mad::ManagementClass;
  using wire::mad::SubnetAttribute;
  wire::mad::Smp smp;
  smp.header = {.management_class =
                    is_directed ? ManagementClass::subnet_directed_route : ManagementClass::subnet_lid_routed,
                .class_version = wire::mad::kSubnetClassVersion,
                .method = wire::mad::Method::get,
                .transaction = {0x1122334455667788}};
  const SubnetAttribute attribute = is_directed ? SubnetAttribute::node_info : SubnetAttribute::port_info;
  smp.header.attribute = {static_cast<std::uint16_t>(attribute)};
  if (!is_directed) smp.header.attribute_modifier = 7;
  smp.m_key = 0xA1A2A3A4A5A6A7A8;
  smp.hop_pointer = 1;
  smp.hop_count = 2;
  smp.initial_path[1] = std::byte{1};
  smp.initial_path[2] = std::byte{3};
  wire::NetworkHeaders network = infiniband_network();
  network.local->service_level = 0;
  network.local->virtual_lane = 15;
  if (is_directed) network.local->source = network.local->destination = wire::kPermissiveLid;
  wire::TransportHeaders transport;
  transport.bth.opcode = wire::Opcode(wire::Service::ud, wire::Operation::send_only);
  return on_link(network, transport, wire::mad::encode(smp));
}

// A datagram of another class to queue pair 1, whose bytes behind all headers are 0.
struct GeneralDatagram {
  std::uint8_t management_class = 0;
  std::uint8_t method = 0;
  std::uint16_t attribute = 0;
  wire::mad::RmppHeader rmpp{};
};

inline wire::test::Bytes general_management_packet(const GeneralDatagram& datagram) {
  constexpr std::size_t kOuiAt = 37;
  const wire::mad::ManagementClass management_class{datagram.management_class};
  wire::mad::Mad mad{};
  encode(wire::mad::MadHeader{.management_class = management_class,
                              .class_version = 1,
                              .method = wire::mad::Method{datagram.method},
                              .transaction = {7},
                              .attribute = {datagram.attribute}},
         mad);
  if (has_rmpp(management_class)) encode(datagram.rmpp, mad);
  if (has_oui(management_class)) {
    mad[kOuiAt + 1] = std::byte{0x14};
    mad[kOuiAt + 2] = std::byte{0x05};
  }
  wire::TransportHeaders transport;
  transport.bth.opcode = wire::Opcode(wire::Service::ud, wire::Operation::send_only);
  transport.bth.destination = wire::Qpn{1};
  transport.deth = {.qkey = 0x80010000, .source = wire::Qpn{1}};
  return on_link(infiniband_network(), transport, mad);
}

// With room for `kept` bytes of the packet; less than its length: it is cut.
inline wire::test::Bytes erf_record(std::span<const std::byte> packet, std::size_t kept = SIZE_MAX) {
  constexpr std::size_t kHeaderBytes = 16;
  kept = std::min(kept, packet.size());
  wire::test::Bytes record(kHeaderBytes + ((kept + 7) & ~std::size_t{7}));
  record[8] = std::byte{21};
  record[9] = std::byte{4};
  wire::store_be16(&record[10], static_cast<std::uint16_t>(record.size()));
  wire::store_be16(&record[14], static_cast<std::uint16_t>(packet.size()));
  std::copy_n(packet.begin(), kept, record.begin() + kHeaderBytes);
  return record;
}

}  // namespace urnic::analysis::test
