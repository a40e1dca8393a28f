// Converts between `NetworkHeaders` and the bytes in front of a BTH (Ethernet, perhaps the tag of a VLAN,
// IPv4 or IPv6, UDP); InfiniBand's are converted by infiniband/route_codec.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/ethernet.hpp"
#include "wire/frame.hpp"
#include "wire/network_headers.hpp"
#include "wire/parse_error.hpp"

namespace urnic::wire {

inline constexpr std::size_t kIpv4Bytes = 20;
inline constexpr std::size_t kIpv6Bytes = 40;
inline constexpr std::size_t kUdpBytes = 8;
inline constexpr std::size_t kMaxNetworkHeaderBytes = kEthernetBytes + kVlanTagBytes + kIpv6Bytes + kUdpBytes;

// Bytes from the Ethernet destination to the end of the UDP header.
std::size_t network_header_size(const NetworkHeaders& network);

// Writes `network_header_size(network)` bytes to `to`. Fields that depend on the packet (total and payload
// lengths, both checksums) are left 0.
void encode_network(const NetworkHeaders& network, std::byte* to);

// Sizes that the network headers of a received frame give.
struct NetworkExtent {
  std::size_t header_bytes = 0;  // offset of the BTH
  std::size_t frame_bytes = 0;   // without bytes behind the IP packet's end
};

// Reads the Ethernet, IP and UDP headers at the beginning of a frame of `frame_bytes` bytes. `headers` is the
// frame's first piece. A frame may have one VLAN tag. Checks everything but the UDP checksum. On `none`,
// `extent` is set, with extent.header_bytes <= headers.size() and extent.frame_bytes <= frame_bytes.
ParseError parse_network(std::span<const std::byte> headers, std::size_t frame_bytes, NetworkHeaders& network,
                         NetworkExtent& extent);

// The same of a frame of either link layer, whose first piece is `frame.headers`.
ParseError parse_network(const Frame& frame, NetworkHeaders& network, NetworkExtent& extent);

// The UDP checksum of `frame` (RFC 768, RFC 8200 8.1), to be stored as it lies in memory. It covers the
// pseudo header and all bytes from the UDP header at `udp_offset` on, the checksum field included: if that
// field is 0, the result is the value to send; if the field is right, the result is 0.
std::uint16_t udp_checksum(const Frame& frame, std::size_t udp_offset);

}  // namespace urnic::wire
