// The header fields that steering compares: of Ethernet, IP and TCP or UDP, each at a fixed place, so that a
// rule compares all at once, whatever the frame is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/transport/frame_facts.hpp"

namespace urnic::engine {

// Bytes as on the wire, zero where the frame has no such field. Four consecutive parts, each in libibverbs'
// order (ibv_flow_eth_filter, ibv_flow_ipv4_ext_filter, ibv_flow_ipv6_filter, ibv_flow_tcp_udp_filter).
struct FrameFields {
  std::array<std::uint8_t, 6> destination_mac{};
  std::array<std::uint8_t, 6> source_mac{};
  std::array<std::uint8_t, 2> ether_type{};  // behind the VLAN tags
  std::array<std::uint8_t, 2> vlan_tag{};    // the first tag: priority, CFI, VLAN id

  std::array<std::uint8_t, 4> ipv4_source{};
  std::array<std::uint8_t, 4> ipv4_destination{};
  std::uint8_t ipv4_protocol = 0;
  std::uint8_t ipv4_tos = 0;
  std::uint8_t ipv4_ttl = 0;
  std::uint8_t ipv4_flags = 0;  // 2: don't fragment; 4: more fragments

  std::array<std::uint8_t, 16> ipv6_source{};
  std::array<std::uint8_t, 16> ipv6_destination{};
  std::array<std::uint8_t, 4> ipv6_flow_label{};
  std::uint8_t ipv6_next_header = 0;
  std::uint8_t ipv6_traffic_class = 0;
  std::uint8_t ipv6_hop_limit = 0;
  std::uint8_t reserved = 0;

  std::array<std::uint8_t, 2> destination_port{};
  std::array<std::uint8_t, 2> source_port{};

  friend bool operator==(const FrameFields&, const FrameFields&) = default;
};
static_assert(sizeof(FrameFields) == 72 && alignof(FrameFields) == 1);

using transport::FrameLayer;
using enum FrameLayer;

struct FrameHeaders {
  FrameFields fields;
  std::uint8_t layers = 0;  // FrameLayer values
};

// Reads the headers that `frame` (the frame's beginning) holds completely. Stops before a header that is cut
// off or contradicts itself. Finds ports behind IPv4 options, but not behind IPv6 extension headers, nor in a
// fragment that is not the first. Does not verify checksums.
FrameHeaders read_headers(std::span<const std::byte> frame);

}  // namespace urnic::engine
