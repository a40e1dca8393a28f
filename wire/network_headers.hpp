// What a RoCEv2 packet has in front of its BTH: Ethernet, IPv4 or IPv6, UDP (IBTA A17.3).
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::wire {

inline constexpr std::uint16_t kRocePort = 4791;  // UDP destination port (IBTA A17.3.1.4)

// IPv4 is chosen when both GIDs are IPv4-mapped; an IPv6 packet with two such addresses is never made and,
// received, is not RoCEv2. Members that only one of the two carries say so.
struct NetworkHeaders {
  MacAddress destination_mac;
  MacAddress source_mac;
  Gid destination;
  Gid source;
  std::uint8_t traffic_class = 0;       // DSCP and ECN: IPv4 TOS, IPv6 traffic class
  std::uint8_t hop_limit = 64;          // IPv4 TTL
  std::uint32_t flow_label = 0;         // IPv6 only
  std::uint16_t ip_identification = 0;  // IPv4 only; sent as 0 with DF set
  bool dont_fragment = true;            // IPv4 only
  std::uint16_t udp_source = 0;
  // As received. When sending, 0 is sent as 0, which RoCEv2 allows (IBTA A17.3.1.4), and anything else asks
  // for the right checksum, whatever its value.
  std::uint16_t udp_checksum = 0;
  friend bool operator==(const NetworkHeaders&, const NetworkHeaders&) = default;
};

// ::ffff:a.b.c.d
bool is_ipv4_mapped(const Gid& gid);
// ff00::/8, or an IPv4 group, mapped.
bool is_multicast(const Gid& gid);
// The Ethernet address of a group (RFC 1112 6.4, RFC 2464 7).
MacAddress multicast_mac(const Gid& group);
// Packets between `network`'s addresses have an IPv4 header.
bool uses_ipv4(const NetworkHeaders& network);

}  // namespace urnic::wire
