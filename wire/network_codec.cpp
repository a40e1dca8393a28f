#include "wire/network_codec.hpp"

#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/ethernet.hpp"
#include "wire/infiniband/route_codec.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/ipv4_mapped.hpp"

namespace urnic::wire {
namespace {

constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::uint8_t kIpv6FragmentHeader = 44;
constexpr std::uint16_t kDontFragment = 0x4000;
// More-fragments flag and fragment offset: all zero in a packet that is whole.
constexpr std::uint16_t kFragmentMask = 0x3FFF;

std::uint8_t byte_at(const std::byte* from, std::size_t at) {
  return std::to_integer<std::uint8_t>(from[at]);
}

void encode_ipv4(const NetworkHeaders& network, std::byte* ip) {
  ip[0] = std::byte{0x45};
  ip[1] = std::byte{network.traffic_class};
  store_be16(ip + 2, 0);
  store_be16(ip + 4, network.ip_identification);
  store_be16(ip + 6, network.dont_fragment ? kDontFragment : 0);
  ip[8] = std::byte{network.hop_limit};
  ip[9] = std::byte{kProtocolUdp};
  store_be16(ip + 10, 0);
  store_ipv4(ip + 12, network.source);
  store_ipv4(ip + 16, network.destination);
}

void encode_ipv6(const NetworkHeaders& network, std::byte* ip) {
  constexpr std::uint32_t kVersion = 6;
  store_be32(ip, kVersion << 28 | static_cast<std::uint32_t>(network.traffic_class) << 20 |
                     (network.flow_label & 0xFFFFF));
  store_be16(ip + 4, 0);
  ip[6] = std::byte{kProtocolUdp};
  ip[7] = std::byte{network.hop_limit};
  std::memcpy(ip + 8, network.source.bytes.data(), 16);
  std::memcpy(ip + 24, network.destination.bytes.data(), 16);
}

std::uint16_t ipv4_header_checksum(const std::byte* ip) {
  InternetSum sum;
  for (std::size_t at = 0; at < kIpv4Bytes; at += 4) sum.add_word32(ip + at);
  return sum.checksum();
}

// The frame has `available` bytes from `ip` on; at least kIpv4Bytes of them can be read. Sets `ip_bytes` to
// the packet's total length.
ParseError parse_ipv4(const std::byte* ip, std::size_t available, NetworkHeaders& network,
                      std::size_t& ip_bytes) {
  // RoCEv2 has no IP options (IBTA A17.3.1.1.1), and the ICRC has no mask for them.
  if (ip[0] != std::byte{0x45}) return ParseError::not_roce;
  if (ipv4_header_checksum(ip) != 0) return ParseError::bad_ip_checksum;
  network.traffic_class = byte_at(ip, 1);
  network.flow_label = 0;
  network.ip_identification = load_be16(ip + 4);
  const std::uint16_t flags = load_be16(ip + 6);
  network.dont_fragment = (flags & kDontFragment) != 0;
  network.hop_limit = byte_at(ip, 8);
  load_ipv4(ip + 12, network.source);
  load_ipv4(ip + 16, network.destination);
  if (ip[9] != std::byte{kProtocolUdp}) return ParseError::not_roce;
  if (flags & kFragmentMask) return ParseError::fragment;
  ip_bytes = load_be16(ip + 2);
  if (ip_bytes > available || ip_bytes < kIpv4Bytes + kUdpBytes) return ParseError::truncated;
  return ParseError::none;
}

// Like parse_ipv4; at least kIpv6Bytes can be read.
ParseError parse_ipv6(const std::byte* ip, std::size_t available, NetworkHeaders& network,
                      std::size_t& ip_bytes) {
  const std::uint32_t first = load_be32(ip);
  if (first >> 28 != 6) return ParseError::not_roce;
  network.traffic_class = static_cast<std::uint8_t>(first >> 20);
  network.flow_label = first & 0xFFFFF;
  network.ip_identification = 0;
  network.dont_fragment = true;
  network.hop_limit = byte_at(ip, 7);
  std::memcpy(network.source.bytes.data(), ip + 8, 16);
  std::memcpy(network.destination.bytes.data(), ip + 24, 16);
  if (ip[6] == std::byte{kIpv6FragmentHeader}) return ParseError::fragment;
  if (ip[6] != std::byte{kProtocolUdp}) return ParseError::not_roce;
  if (uses_ipv4(network)) return ParseError::not_roce;
  ip_bytes = kIpv6Bytes + load_be16(ip + 4);
  if (ip_bytes > available || ip_bytes < kIpv6Bytes + kUdpBytes) return ParseError::truncated;
  return ParseError::none;
}

ParseError parse_udp(const std::byte* udp, std::size_t datagram_bytes, NetworkHeaders& network) {
  network.udp_source = load_be16(udp);
  network.udp_checksum = load_be16(udp + 6);
  if (load_be16(udp + 2) != kRocePort) return ParseError::not_roce;
  if (load_be16(udp + 4) != datagram_bytes) return ParseError::truncated;
  return ParseError::none;
}

}  // namespace

bool is_ipv4_mapped(const Gid& gid) {
  return std::memcmp(gid.bytes.data(), kIpv4MappedPrefix.data(), kIpv4MappedPrefix.size()) == 0;
}

bool is_multicast(const Gid& gid) {
  constexpr std::size_t kIpv4First = 12;
  return gid.bytes[0] == 0xFF || (is_ipv4_mapped(gid) && (gid.bytes[kIpv4First] & 0xF0) == 0xE0);
}

bool is_unicast(const Gid& gid) { return gid != Gid{} && !is_multicast(gid); }

bool is_link_local(const Gid& gid) { return gid.bytes[0] == 0xFE && (gid.bytes[1] & 0xC0) == 0x80; }

bool needs_interface(const Gid& gid) {
  constexpr std::uint8_t kInterfaceLocal = 1;
  constexpr std::uint8_t kLinkLocal = 2;
  const std::uint8_t scope = gid.bytes[1] & 0x0F;  // of a group (RFC 4291 2.7)
  return is_link_local(gid) || (gid.bytes[0] == 0xFF && (scope == kInterfaceLocal || scope == kLinkLocal));
}

bool is_return(const NetworkHeaders& arrived, const NetworkHeaders& path, const LocalRoute& local) {
  if (!arrived.local || arrived.local->with_grh != local.with_grh) return false;
  const bool between_lids =
      arrived.local->source == local.destination && arrived.local->destination == local.source;
  const bool between_gids =
      !local.with_grh || (arrived.source == path.destination && arrived.destination == path.source);
  return between_lids && between_gids;
}

MacAddress multicast_mac(const Gid& group) {
  const auto& b = group.bytes;
  if (is_ipv4_mapped(group)) {
    return {{0x01, 0x00, 0x5E, static_cast<std::uint8_t>(b[13] & 0x7F), b[14], b[15]}};
  }
  return {{0x33, 0x33, b[12], b[13], b[14], b[15]}};
}

bool uses_ipv4(const NetworkHeaders& network) {
  return is_ipv4_mapped(network.destination) && is_ipv4_mapped(network.source);
}

std::size_t network_header_size(const NetworkHeaders& network) {
  const std::size_t tag = network.vlan_tag != 0 ? kVlanTagBytes : 0;
  return kEthernetBytes + tag + (uses_ipv4(network) ? kIpv4Bytes : kIpv6Bytes) + kUdpBytes;
}

void encode_network(const NetworkHeaders& network, std::byte* to) {
  const bool ipv4 = uses_ipv4(network);
  std::memcpy(to, network.destination_mac.bytes.data(), 6);
  std::memcpy(to + 6, network.source_mac.bytes.data(), 6);
  std::byte* type = to + kEtherTypeOffset;
  if (network.vlan_tag != 0) {
    store_be16(type, ether_type::kVlan);
    store_be16(type + 2, network.vlan_tag);
    type += kVlanTagBytes;
  }
  store_be16(type, ipv4 ? ether_type::kIpv4 : ether_type::kIpv6);
  std::byte* const ip = type + 2;
  ipv4 ? encode_ipv4(network, ip) : encode_ipv6(network, ip);
  std::byte* const udp = ip + (ipv4 ? kIpv4Bytes : kIpv6Bytes);
  store_be16(udp, network.udp_source);
  store_be16(udp + 2, kRocePort);
  store_be32(udp + 4, 0);
}

ParseError parse_network(std::span<const std::byte> headers, std::size_t frame_bytes, NetworkHeaders& network,
                         NetworkExtent& extent) {
  if (headers.size() < kEthernetBytes) return ParseError::truncated;
  network.local.reset();
  std::memcpy(network.destination_mac.bytes.data(), headers.data(), 6);
  std::memcpy(network.source_mac.bytes.data(), headers.data() + 6, 6);
  std::size_t ethernet_bytes = kEthernetBytes;
  std::uint16_t type = load_be16(headers.data() + kEtherTypeOffset);
  network.vlan_tag = 0;
  if (type == ether_type::kVlan) [[unlikely]] {
    ethernet_bytes += kVlanTagBytes;
    if (headers.size() < ethernet_bytes) return ParseError::truncated;
    network.vlan_tag = load_be16(headers.data() + kEthernetBytes);
    type = load_be16(headers.data() + kEthernetBytes + 2);
  }
  if (type != ether_type::kIpv4 && type != ether_type::kIpv6) return ParseError::not_roce;
  const bool ipv4 = type == ether_type::kIpv4;
  const std::size_t ip_header_bytes = ipv4 ? kIpv4Bytes : kIpv6Bytes;
  extent.header_bytes = ethernet_bytes + ip_header_bytes + kUdpBytes;
  if (headers.size() < extent.header_bytes) return ParseError::truncated;

  const std::byte* const ip = headers.data() + ethernet_bytes;
  const std::size_t available = frame_bytes - ethernet_bytes;
  std::size_t ip_bytes = 0;
  const ParseError error =
      ipv4 ? parse_ipv4(ip, available, network, ip_bytes) : parse_ipv6(ip, available, network, ip_bytes);
  if (error != ParseError::none) return error;
  extent.frame_bytes = ethernet_bytes + ip_bytes;
  return parse_udp(ip + ip_header_bytes, ip_bytes - ip_header_bytes, network);
}

ParseError parse_network(const Frame& frame, NetworkHeaders& network, NetworkExtent& extent) {
  if (frame.link_layer == LinkLayer::infiniband) [[unlikely]]
    return infiniband::parse_route(frame.headers, frame.size(), network, extent);
  return parse_network(frame.headers, frame.size(), network, extent);
}

std::uint16_t udp_checksum(const Frame& frame, std::size_t udp_offset) {
  const bool ipv4 = udp_offset == ethernet_header_size(frame.headers.data()) + kIpv4Bytes;
  const std::size_t addresses = ipv4 ? 8 : 32;
  InternetSum sum;
  sum.add(frame.headers.subspan(udp_offset - addresses, addresses));
  sum.add_be16(kProtocolUdp);
  // The pseudo header repeats the UDP length; IPv6's has it in 32 bits, of which 16 are zero.
  sum.add_be16(static_cast<std::uint16_t>(frame.size() - udp_offset));
  sum.add(frame.headers.subspan(udp_offset));
  sum.add(frame.payload);
  sum.add(frame.trailer);
  return sum.checksum();
}

}  // namespace urnic::wire
