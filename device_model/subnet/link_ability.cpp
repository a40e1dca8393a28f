#include "device_model/subnet/link_ability.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace urnic::subnet {
namespace {

using wire::mad::PortInfo;

// Bits of the members for widths, by LinkWidth, and of those for speeds: SDR to QDR, then the extended ones.
constexpr unsigned kBasicSpeeds = 3;
constexpr std::uint8_t kQdrBit = 4;

// Values of a Set that are no sets of bits: all that is supported, and (of extended speeds) none.
constexpr std::uint8_t kAllWidths = 255;
constexpr std::uint8_t kAllSpeeds = 15;
constexpr std::uint8_t kAllExtendedSpeeds = 31;
constexpr std::uint8_t kNoExtendedSpeeds = 30;

// The lowest `count` bits.
std::uint8_t up_to(unsigned count) { return static_cast<std::uint8_t>((1u << count) - 1); }

std::uint8_t best_of(unsigned bits) { return static_cast<std::uint8_t>(std::bit_floor(bits)); }

unsigned place_of(std::uint8_t bit) { return static_cast<unsigned>(std::bit_width(bit)) - 1; }

std::uint8_t extended_of(const PortInfo& port) {
  return port.extended_speed_enabled == kNoExtendedSpeeds ? std::uint8_t{0} : port.extended_speed_enabled;
}

// Ports with an extended speed show QDR beside it.
void show_active(PortInfo& port, std::uint8_t width, std::uint8_t speed, std::uint8_t extended) {
  port.width_active = width;
  port.speed_active = extended != 0 ? kQdrBit : speed;
  port.extended_speed_active = extended;
}

bool is_within(unsigned wanted, unsigned supported) { return (wanted & ~supported) == 0; }

}  // namespace

unsigned lanes_of(LinkWidth width) {
  constexpr std::array<unsigned, 4> kLanes{1, 4, 8, 12};
  return kLanes.at(static_cast<std::size_t>(width));
}

void give_ability(PortInfo& port, const LinkAbility& ability) {
  const auto speeds = static_cast<unsigned>(ability.speed) + 1;
  port.width_supported = port.width_enabled = up_to(static_cast<unsigned>(ability.width) + 1);
  port.speed_supported = port.speed_enabled = up_to(std::min(speeds, kBasicSpeeds));
  port.extended_speed_supported = port.extended_speed_enabled =
      up_to(speeds - std::min(speeds, kBasicSpeeds));
  show_active(port, best_of(port.width_supported), best_of(port.speed_supported),
              best_of(port.extended_speed_supported));
  port.neighbor_mtu = port.mtu_capacity = ability.mtu;
  port.vl_capacity = port.operational_vls = ability.vls;
}

bool train(PortInfo& one, PortInfo& other) {
  const std::uint8_t width = best_of(one.width_enabled & other.width_enabled);
  const std::uint8_t speed = best_of(one.speed_enabled & other.speed_enabled);
  const std::uint8_t extended = best_of(extended_of(one) & extended_of(other));
  if (width == 0 || (speed == 0 && extended == 0)) return false;
  show_active(one, width, speed, extended);
  show_active(other, width, speed, extended);
  return true;
}

LinkRate active_rate(const PortInfo& port) {
  const unsigned speed = port.extended_speed_active != 0 ? kBasicSpeeds + place_of(port.extended_speed_active)
                                                         : place_of(port.speed_active);
  return {static_cast<LinkWidth>(place_of(port.width_active)), static_cast<LinkSpeed>(speed)};
}

std::uint32_t data_rate_mbps(const LinkRate& rate) {
  constexpr std::array<std::uint32_t, 7> kOfLane{2000, 4000, 8000, 13636, 25000, 50000, 100000};
  return kOfLane.at(static_cast<std::size_t>(rate.speed)) * lanes_of(rate.width);
}

bool may_enable(const PortInfo& port, const PortInfo& wanted) {
  const bool widths =
      wanted.width_enabled == kAllWidths || is_within(wanted.width_enabled, port.width_supported);
  const bool speeds =
      wanted.speed_enabled == kAllSpeeds || is_within(wanted.speed_enabled, port.speed_supported);
  const bool extended = wanted.extended_speed_enabled >= kNoExtendedSpeeds ||
                        is_within(wanted.extended_speed_enabled, port.extended_speed_supported);
  return widths && speeds && extended;
}

// Zero leaves a member as it is.
void enable(PortInfo& port, const PortInfo& wanted) {
  if (wanted.width_enabled != 0)
    port.width_enabled = wanted.width_enabled == kAllWidths ? port.width_supported : wanted.width_enabled;
  if (wanted.speed_enabled != 0)
    port.speed_enabled = wanted.speed_enabled == kAllSpeeds ? port.speed_supported : wanted.speed_enabled;
  if (wanted.extended_speed_enabled != 0)
    port.extended_speed_enabled = wanted.extended_speed_enabled == kAllExtendedSpeeds
                                      ? port.extended_speed_supported
                                      : wanted.extended_speed_enabled;
}

}  // namespace urnic::subnet
