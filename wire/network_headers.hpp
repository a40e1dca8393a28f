// The headers in front of a packet's BTH: of RoCEv2 Ethernet, IPv4 or IPv6, UDP (IBTA A17.3); of InfiniBand
// the LRH and perhaps a GRH (IBTA 7.7, 8.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "wire/ethernet.hpp"
#include "wire/identifiers.hpp"
#include "wire/local_identifier.hpp"

namespace urnic::wire {

inline constexpr std::byte kIcmpv6{58};           // next header (RFC 4443 1)
inline constexpr std::uint16_t kRocePort = 4791;  // UDP destination port (IBTA A17.3.2.2)

// What a packet's way begins with, and so which headers it has.
enum class LinkLayer : std::uint8_t { ethernet, infiniband };

// How a packet crosses an InfiniBand subnet: what its LRH says (IBTA 7.7).
struct LocalRoute {
  Lid destination;
  Lid source;
  std::uint8_t service_level = 0;  // 4 bits
  std::uint8_t virtual_lane = 0;   // 4 bits; each link may choose another
  bool with_grh = false;
  friend bool operator==(const LocalRoute&, const LocalRoute&) = default;
};

// The packet is IPv4 if both GIDs are IPv4-mapped. An IPv6 packet with two mapped addresses is never sent; a
// received one is not RoCEv2.
struct NetworkHeaders {
  MacAddress destination_mac;
  MacAddress source_mac;
  Gid destination;
  Gid source;
  // The tag of its VLAN: the VLAN's number, and a priority in the upper three bits (IEEE 802.1Q 9.6). 0: the
  // frame has none. A received tag may have a priority and no VLAN, whose number is then 0.
  std::uint16_t vlan_tag = 0;
  std::uint8_t traffic_class = 0;       // DSCP and ECN: IPv4 TOS, IPv6 traffic class
  std::uint8_t hop_limit = 64;          // IPv4 TTL
  std::uint32_t flow_label = 0;         // IPv6 only
  std::uint16_t ip_identification = 0;  // IPv4 only; sent as 0 with DF set
  bool dont_fragment = true;            // IPv4 only
  std::uint16_t udp_source = 0;
  // The received value. To send: 0 sends no checksum, which RoCEv2 allows (IBTA A17.3.2.4); any other value
  // asks for the right checksum.
  std::uint16_t udp_checksum = 0;
  // Set: a packet of InfiniBand. Without a GRH only this has a meaning; with one also both GIDs, the traffic
  // class, the hop limit and the flow label.
  std::optional<LocalRoute> local = std::nullopt;
  friend bool operator==(const NetworkHeaders&, const NetworkHeaders&) = default;
};

// The VLAN of a tag; 0: none.
constexpr std::uint16_t vlan_of(std::uint16_t tag) { return tag & kVlanIdMask; }
// The tag with which packets of a VLAN leave, whose priority is the service level's lower three bits, as NICs
// have it (Linux: mlx5_set_path, mlx4's create_iboe_ah). `vlan` 0: none.
constexpr std::uint16_t vlan_tag(std::uint16_t vlan, std::uint8_t service_level) {
  return vlan == 0 ? std::uint16_t{0}
                   : static_cast<std::uint16_t>(vlan | (service_level & 7u) << kVlanPriorityShift);
}

// The same of packets of InfiniBand (IBTA 9.6.1.2).
bool is_return(const NetworkHeaders& arrived, const NetworkHeaders& path, const LocalRoute& local);

// Whether `arrived` comes from where `path` leads to, and goes to where it begins, in the same VLAN.
inline bool is_return(const NetworkHeaders& arrived, const NetworkHeaders& path) {
  if (path.local) [[unlikely]]
    return is_return(arrived, path, *path.local);
  return arrived.source == path.destination && arrived.destination == path.source &&
         vlan_of(arrived.vlan_tag ^ path.vlan_tag) == 0;
}

// True for ::ffff:a.b.c.d.
bool is_ipv4_mapped(const Gid& gid);
// True for ff00::/8 and for a mapped IPv4 group.
bool is_multicast(const Gid& gid);
// Whether one device can have it: it is neither unspecified nor a group's.
bool is_unicast(const Gid& gid);
// True for fe80::/10.
bool is_link_local(const Gid& gid);
// True where the address says which host or group it means only together with an interface: link-local ones,
// and groups of interface-local or link-local scope (RFC 4007 6).
bool needs_interface(const Gid& gid);
// The Ethernet address of a group (RFC 1112 6.4, RFC 2464 7).
MacAddress multicast_mac(const Gid& group);
// True if packets between `network`'s addresses have an IPv4 header.
bool uses_ipv4(const NetworkHeaders& network);

}  // namespace urnic::wire
