// The Ethernet header in front of every frame, and its VLAN tag (IEEE 802.3 3.2, IEEE 802.1Q 9.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "wire/byte_order.hpp"
#include "wire/identifiers.hpp"

namespace urnic::wire {

inline constexpr std::size_t kMacBytes = 6;
inline constexpr std::size_t kEtherTypeOffset = 2 * kMacBytes;
inline constexpr std::size_t kEthernetBytes = kEtherTypeOffset + 2;
inline constexpr std::size_t kVlanTagBytes = 4;
// In a tag: the VLAN's number, below three bits of priority and one more (IEEE 802.1Q 9.6).
inline constexpr std::uint16_t kVlanIdMask = 0xFFF;
inline constexpr std::uint16_t kLastVlan = 4094;  // the first is 1
inline constexpr unsigned kVlanPriorityShift = 13;
inline constexpr MacAddress kBroadcastMac{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

namespace ether_type {
inline constexpr std::uint16_t kIpv4 = 0x0800;
inline constexpr std::uint16_t kArp = 0x0806;
inline constexpr std::uint16_t kVlan = 0x8100;
inline constexpr std::uint16_t kIpv6 = 0x86DD;
}  // namespace ether_type

inline bool has_vlan_tag(std::span<const std::byte> frame) {
  return frame.size() >= kEthernetBytes + kVlanTagBytes &&
         load_be16(frame.data() + kEtherTypeOffset) == ether_type::kVlan;
}

// Bytes in front of what the frame carries: the Ethernet header, with the tag of a VLAN if it has one. At
// least kEthernetBytes can be read.
inline std::size_t ethernet_header_size(const std::byte* frame) {
  const bool tagged = load_be16(frame + kEtherTypeOffset) == ether_type::kVlan;
  return kEthernetBytes + (tagged ? kVlanTagBytes : 0);
}

inline MacAddress load_mac(const std::byte* from) {
  MacAddress address;
  std::memcpy(address.bytes.data(), from, kMacBytes);
  return address;
}

inline void store_mac(std::byte* to, const MacAddress& address) {
  std::memcpy(to, address.bytes.data(), kMacBytes);
}

inline void store_ethernet(std::byte* to, const MacAddress& destination, const MacAddress& source,
                           std::uint16_t type) {
  store_mac(to, destination);
  store_mac(to + kMacBytes, source);
  store_be16(to + kEtherTypeOffset, type);
}

}  // namespace urnic::wire
