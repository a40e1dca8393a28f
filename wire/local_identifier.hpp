// Local identifiers: the addresses of ports and groups within one InfiniBand subnet (IBTA 4.1).
#pragma once

#include <compare>
#include <cstdint>

namespace urnic::wire {

// A port's (1 to 0xBFFF), a multicast group's (0xC000 to 0xFFFE), or permissive. 0: none. RoCE has none.
struct Lid {
  std::uint16_t value = 0;
  friend constexpr auto operator<=>(Lid, Lid) = default;
};
inline constexpr Lid kPermissiveLid{0xFFFF};
inline constexpr Lid kFirstMulticastLid{0xC000};

constexpr bool is_multicast(Lid lid) { return lid >= kFirstMulticastLid && lid != kPermissiveLid; }
constexpr bool is_unicast(Lid lid) { return lid != Lid{} && lid < kFirstMulticastLid; }

// Whether `lid` is one of a port's, which are the 2^lmc from `base` on (IBTA 4.1.3). A port without a base
// LID has none.
constexpr bool has_lid(Lid base, std::uint8_t lmc, Lid lid) {
  return base != Lid{} && lid.value >> lmc == base.value >> lmc;
}

}  // namespace urnic::wire
