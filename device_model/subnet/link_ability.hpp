// What a port's link can do, and what the two ends of a link make of it (IBTA 14.2.5.6: the members of
// PortInfo for width, speed, MTU and virtual lanes; volume 2, 5.6: both ends take the best that they have in
// common).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "wire/mad/subnet_attributes.hpp"

namespace urnic::subnet {

// By their number of lanes; and by the rate of a lane. FDR10 has no encoding in PortInfo.
enum class LinkWidth : std::uint8_t { x1, x4, x8, x12 };
enum class LinkSpeed : std::uint8_t { sdr, ddr, qdr, fdr, edr, hdr, ndr };

inline constexpr std::array<std::string_view, 4> kLinkWidthNames{"1x", "4x", "8x", "12x"};
inline constexpr std::array<std::string_view, 7> kLinkSpeedNames{"SDR", "DDR", "QDR", "FDR",
                                                                 "EDR", "HDR", "NDR"};
inline constexpr std::uint8_t kLargestMtuCode = 5;
// Data lanes, by VLCap's code minus 1.
inline constexpr std::array<std::uint16_t, 5> kDataLanes{1, 2, 4, 8, 15};

// The most that a port does; it also does all that is less.
struct LinkAbility {
  LinkWidth width = LinkWidth::x4;
  LinkSpeed speed = LinkSpeed::edr;
  std::uint8_t mtu = kLargestMtuCode;  // PortInfo's code: 1 is 256 bytes, 5 is 4096
  std::uint8_t vls = 4;                // PortInfo's code: 1 is VL 0, 4 is VL 0 to 7
  friend bool operator==(const LinkAbility&, const LinkAbility&) = default;
};

struct LinkRate {
  LinkWidth width = LinkWidth::x4;
  LinkSpeed speed = LinkSpeed::edr;
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

unsigned lanes_of(LinkWidth width);

// Makes it the port's: supported, enabled, and active as on a link to a port that has the same.
void give_ability(wire::mad::PortInfo& port, const LinkAbility& ability);

// The ends agree on the widest link and the fastest speed that both have enabled. False: they have none in
// common, and the link does not come up.
bool train(wire::mad::PortInfo& one, wire::mad::PortInfo& other);

// What the port's link runs at.
LinkRate active_rate(const wire::mad::PortInfo& port);

// What it carries: 10^6 bits a second of data, without the encoding of the line (8b/10b up to QDR, else
// 64b/66b), as people name it: 100,000 for EDR 4x.
std::uint32_t data_rate_mbps(const LinkRate& rate);

// What a manager writes to the enabled widths and speeds. A value may name only what is supported.
bool may_enable(const wire::mad::PortInfo& port, const wire::mad::PortInfo& wanted);
// It has effect when the link trains again.
void enable(wire::mad::PortInfo& port, const wire::mad::PortInfo& wanted);

}  // namespace urnic::subnet
