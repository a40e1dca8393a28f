#include "device_model/engine/steering/frame_headers.hpp"

#include "wire/byte_order.hpp"
#include "wire/network_codec.hpp"

namespace urnic::engine {
namespace {

using wire::kIpv4Bytes;
using wire::kIpv6Bytes;
using wire::kVlanTagBytes;

constexpr std::size_t kMacBytes = 12;
constexpr std::size_t kPortBytes = 4;
constexpr std::uint16_t kTypeIpv4 = 0x0800;
constexpr std::uint16_t kTypeIpv6 = 0x86DD;
constexpr std::uint16_t kTypeVlan = 0x8100;         // IEEE 802.1Q
constexpr std::uint16_t kTypeServiceVlan = 0x88A8;  // IEEE 802.1ad
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::uint8_t kProtocolFragment = 44;  // of IPv6 (RFC 8200, 4.5)
constexpr std::uint8_t kMatchDontFragment = 2;
constexpr std::uint8_t kMatchMoreFragments = 4;

using Bytes = std::span<const std::byte>;

std::uint8_t byte_at(Bytes from, std::size_t at) { return std::to_integer<std::uint8_t>(from[at]); }

std::uint16_t word_at(Bytes from, std::size_t at) { return wire::load_be16(from.data() + at); }

template <std::size_t count>
void copy(std::array<std::uint8_t, count>& to, Bytes from, std::size_t at) {
  for (std::size_t i = 0; i < count; ++i) to[i] = byte_at(from, at + i);
}

void read_ports(Bytes datagram, std::uint8_t protocol, FrameHeaders& headers) {
  if (protocol != kProtocolTcp && protocol != kProtocolUdp) return;
  if (datagram.size() < kPortBytes) return;
  headers.layers |= protocol == kProtocolTcp ? layer_tcp : layer_udp;
  copy(headers.fields.source_port, datagram, 0);
  copy(headers.fields.destination_port, datagram, 2);
}

void read_ipv4(Bytes ip, FrameHeaders& headers) {
  if (ip.size() < kIpv4Bytes || byte_at(ip, 0) >> 4 != 4) return;
  const std::size_t header_bytes = (byte_at(ip, 0) & 0xFu) * std::size_t{4};
  if (header_bytes < kIpv4Bytes) return;
  FrameFields& fields = headers.fields;
  headers.layers |= layer_ipv4;
  fields.ipv4_tos = byte_at(ip, 1);
  fields.ipv4_ttl = byte_at(ip, 8);
  fields.ipv4_protocol = byte_at(ip, 9);
  const std::uint16_t fragment = word_at(ip, 6);
  if ((fragment & 0x4000) != 0) fields.ipv4_flags |= kMatchDontFragment;
  if ((fragment & 0x2000) != 0) fields.ipv4_flags |= kMatchMoreFragments;
  copy(fields.ipv4_source, ip, 12);
  copy(fields.ipv4_destination, ip, 16);
  const bool is_first = (fragment & 0x1FFF) == 0;
  if (!is_first || (fragment & 0x2000) != 0) headers.layers |= layer_fragment;
  if (is_first && header_bytes <= ip.size())
    read_ports(ip.subspan(header_bytes), fields.ipv4_protocol, headers);
}

void read_ipv6(Bytes ip, FrameHeaders& headers) {
  if (ip.size() < kIpv6Bytes || byte_at(ip, 0) >> 4 != 6) return;
  FrameFields& fields = headers.fields;
  headers.layers |= layer_ipv6;
  fields.ipv6_traffic_class = static_cast<std::uint8_t>(word_at(ip, 0) >> 4);
  copy(fields.ipv6_flow_label, ip, 0);
  fields.ipv6_flow_label[0] = 0;
  fields.ipv6_flow_label[1] &= 0xF;
  fields.ipv6_next_header = byte_at(ip, 6);
  if (fields.ipv6_next_header == kProtocolFragment) headers.layers |= layer_fragment;
  fields.ipv6_hop_limit = byte_at(ip, 7);
  copy(fields.ipv6_source, ip, 8);
  copy(fields.ipv6_destination, ip, 24);
  read_ports(ip.subspan(kIpv6Bytes), fields.ipv6_next_header, headers);
}

bool is_vlan(std::uint16_t ether_type) { return ether_type == kTypeVlan || ether_type == kTypeServiceVlan; }

}  // namespace

FrameHeaders read_headers(Bytes frame) {
  FrameHeaders headers;
  if (frame.size() < kMacBytes + 2) return headers;
  copy(headers.fields.destination_mac, frame, 0);
  copy(headers.fields.source_mac, frame, 6);
  std::size_t at = kMacBytes;
  while (is_vlan(word_at(frame, at)) && frame.size() >= at + kVlanTagBytes + 2) {
    if ((headers.layers & layer_vlan) == 0) copy(headers.fields.vlan_tag, frame, at + 2);
    headers.layers |= layer_vlan;
    at += kVlanTagBytes;
  }
  copy(headers.fields.ether_type, frame, at);
  const std::uint16_t ether_type = word_at(frame, at);
  if (ether_type == kTypeIpv4) read_ipv4(frame.subspan(at + 2), headers);
  if (ether_type == kTypeIpv6) read_ipv6(frame.subspan(at + 2), headers);
  return headers;
}

}  // namespace urnic::engine
