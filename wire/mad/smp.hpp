// Subnet management datagrams (IBTA 14.2.1): what they have beside the header of all datagrams, LID-routed
// (class 0x01) and directed-route (class 0x81).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/mad/identifiers.hpp"
#include "wire/mad/mad_error.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::wire::mad {

inline constexpr std::uint8_t kSubnetClassVersion = 1;
inline constexpr std::size_t kSmpDataBytes = 64;
inline constexpr std::size_t kSmpDataOffset = 64;
// A path has a port for each hop; place 0 is not used.
inline constexpr std::size_t kPathPlaces = 64;
inline constexpr std::size_t kMostHops = kPathPlaces - 1;

// A destination or source that no table of routes knows: a directed route has no LID-routed part there.
using wire::kPermissiveLid;

// Whether datagrams of the class are for QP0; all others are for QP1 (IBTA 13.5.1).
constexpr bool is_subnet_management(ManagementClass management_class) {
  return management_class == ManagementClass::subnet_lid_routed ||
         management_class == ManagementClass::subnet_directed_route;
}

enum class SubnetAttribute : std::uint16_t {
  notice = 0x0002,
  node_description = 0x0010,
  node_info = 0x0011,
  switch_info = 0x0012,
  guid_info = 0x0014,
  port_info = 0x0015,
  pkey_table = 0x0016,
  sl_to_vl = 0x0017,
  vl_arbitration = 0x0018,
  linear_forwarding = 0x0019,
  multicast_forwarding = 0x001B,
  sm_info = 0x0020,
};

// An attribute's bytes inside a datagram.
using SmpData = std::array<std::byte, kSmpDataBytes>;
// The ports that a directed route leaves by, or came in by.
using PortPath = std::array<std::byte, kPathPlaces>;

// A datagram of either class. The members from `is_returning` on are those of a directed route; encode leaves
// them out of a LID-routed one, and decode leaves them as they are.
struct Smp {
  MadHeader header;  // of a directed route, the status has 15 bits, and `class_specific` is not used
  std::uint64_t m_key = 0;
  SmpData data{};
  bool is_returning = false;  // the D bit: the answer's way
  std::uint8_t hop_pointer = 0;
  std::uint8_t hop_count = 0;
  Lid directed_source = kPermissiveLid;       // DrSLID
  Lid directed_destination = kPermissiveLid;  // DrDLID
  PortPath initial_path{};
  PortPath return_path{};

  bool is_directed() const { return header.management_class == ManagementClass::subnet_directed_route; }
  friend bool operator==(const Smp&, const Smp&) = default;
};

// Errors: those of MadHeader's decode, wrong_class, wrong_class_version. Counts, pointers and values inside
// are handed on as received.
MadError decode(std::span<const std::byte> mad, Smp& smp);
Mad encode(const Smp& smp);

}  // namespace urnic::wire::mad
