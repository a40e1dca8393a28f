// The local route header (LRH): how a packet finds its way in one subnet (IBTA chapter 7).
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/local_identifier.hpp"

namespace urnic::wire::infiniband {

inline constexpr std::size_t kLocalRouteBytes = 8;
inline constexpr std::size_t kDestinationLidOffset = 2;
inline constexpr std::size_t kSourceLidOffset = 6;

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

// Changes the lane of the LRH at `lrh`, as each link does (IBTA 7.6.6). The ICRC stays right, the VCRC does
// not.
inline void set_virtual_lane(std::byte* lrh, std::uint8_t lane) {
  *lrh = static_cast<std::byte>(lane << 4) | (*lrh & std::byte{0x0F});
}

}  // namespace urnic::wire::infiniband
