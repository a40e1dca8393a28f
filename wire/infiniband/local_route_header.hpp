// The local route header (LRH): how a packet finds its way in one subnet (IBTA chapter 7).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace urnic::wire::infiniband {

inline constexpr std::size_t kLocalRouteBytes = 8;

// A local identifier: a port's (1 to 0xBFFF), a multicast group's (0xC000 to 0xFFFE), or permissive.
struct Lid {
  std::uint16_t value = 0;
  friend auto operator<=>(const Lid&, const Lid&) = default;
};
inline constexpr Lid kPermissiveLid{0xFFFF};
inline constexpr Lid kFirstMulticastLid{0xC000};

constexpr bool is_multicast(Lid lid) { return lid >= kFirstMulticastLid && lid != kPermissiveLid; }

// What follows the LRH.
enum class NextHeader : std::uint8_t {
  raw = 0,
  raw_ipv6 = 1,
  transport = 2,  // the BTH
  global = 3,     // the GRH, then the BTH
};

struct LocalRouteHeader {
  std::uint8_t virtual_lane = 0;  // 15: management
  std::uint8_t version = 0;
  std::uint8_t service_level = 0;
  NextHeader next = NextHeader::transport;
  Lid destination;
  std::uint16_t words = 0;  // of 4 bytes, from the LRH to the ICRC; the VCRC does not count
  Lid source;
  friend bool operator==(const LocalRouteHeader&, const LocalRouteHeader&) = default;
};

// Both take kLocalRouteBytes bytes. Reserved bits are written as 0 and ignored.
void encode(const LocalRouteHeader& header, std::byte* to);
LocalRouteHeader decode_local_route(const std::byte* from);

}  // namespace urnic::wire::infiniband
