#include "device_model/control/fabric/port_rate.hpp"

#include <fmt/format.h>

#include <array>

namespace urnic::control {

std::uint32_t verbs_width(subnet::LinkRate rate) { return 1u << static_cast<unsigned>(rate.width); }

// By LinkSpeed; 8 is FDR10.
std::uint32_t verbs_speed(subnet::LinkRate rate) {
  constexpr std::array<std::uint32_t, 7> kSpeeds{1, 2, 4, 16, 32, 64, 128};
  return kSpeeds.at(static_cast<std::size_t>(rate.speed));
}

std::string rate_text(subnet::LinkRate rate) {
  constexpr std::array<unsigned, 7> kTenthsOfALane{25, 50, 100, 140, 250, 500, 1000};
  const auto speed = static_cast<std::size_t>(rate.speed);
  const unsigned lanes = subnet::lanes_of(rate.width);
  const unsigned tenths = kTenthsOfALane.at(speed) * lanes;
  return fmt::format("{}{} Gb/sec ({}X {})", tenths / 10, tenths % 10 != 0 ? ".5" : "", lanes,
                     subnet::kLinkSpeedNames.at(speed));
}

}  // namespace urnic::control
