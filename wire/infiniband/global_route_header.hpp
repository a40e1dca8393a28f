// The global route header (GRH): addresses beyond one subnet, and of multicast groups (IBTA chapter 8). It
// looks like the header of IPv6.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::wire::infiniband {

inline constexpr std::size_t kGlobalRouteBytes = 40;
// GlobalRouteHeader::next: a transport header of InfiniBand follows.
inline constexpr std::uint8_t kNextIsTransport = 0x1B;

struct GlobalRouteHeader {
  std::uint8_t version = 6;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;     // 20 bits
  std::uint16_t payload_bytes = 0;  // behind the GRH, to the ICRC's end
  std::uint8_t next = kNextIsTransport;
  std::uint8_t hop_limit = 0;
  Gid source;
  Gid destination;
  friend bool operator==(const GlobalRouteHeader&, const GlobalRouteHeader&) = default;
};

// Both take kGlobalRouteBytes bytes.
void encode(const GlobalRouteHeader& header, std::byte* to);
GlobalRouteHeader decode_global_route(const std::byte* from);

}  // namespace urnic::wire::infiniband
