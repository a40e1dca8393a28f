#include "device_model/control/fabric/port_rate.hpp"

#include <fmt/format.h>

#include <array>

namespace urnic::control {
namespace {

// In tenths of 1 Gbit/s.
unsigned tenths_of(subnet::LinkRate rate) {
  constexpr std::array<unsigned, 7> kTenthsOfALane{25, 50, 100, 140, 250, 500, 1000};
  return kTenthsOfALane.at(static_cast<std::size_t>(rate.speed)) * subnet::lanes_of(rate.width);
}

}  // namespace

std::uint32_t verbs_width(subnet::LinkRate rate) { return 1u << static_cast<unsigned>(rate.width); }

// By LinkSpeed; 8 is FDR10.
std::uint32_t verbs_speed(subnet::LinkRate rate) {
  constexpr std::array<std::uint32_t, 7> kSpeeds{1, 2, 4, 16, 32, 64, 128};
  return kSpeeds.at(static_cast<std::size_t>(rate.speed));
}

// By LinkWidth and LinkSpeed. The codes are in the order in which the specification got the rates.
std::uint8_t path_rate(subnet::LinkRate rate) {
  constexpr std::array<std::array<std::uint8_t, 7>, 4> kCodes{{{2, 5, 3, 11, 15, 20, 16},
                                                               {3, 6, 7, 12, 16, 17, 21},
                                                               {6, 7, 9, 13, 17, 21, 23},
                                                               {4, 8, 10, 14, 18, 22, 24}}};
  return kCodes.at(static_cast<std::size_t>(rate.width)).at(static_cast<std::size_t>(rate.speed));
}

std::optional<subnet::LinkRate> link_rate(std::uint8_t code) {
  for (std::size_t width = 0; width < subnet::kLinkWidthNames.size(); ++width) {
    for (std::size_t speed = 0; speed < subnet::kLinkSpeedNames.size(); ++speed) {
      const subnet::LinkRate rate{static_cast<subnet::LinkWidth>(width),
                                  static_cast<subnet::LinkSpeed>(speed)};
      if (path_rate(rate) == code) return rate;
    }
  }
  return {};
}

subnet::LinkRate slower(subnet::LinkRate one, subnet::LinkRate other) {
  return tenths_of(other) < tenths_of(one) ? other : one;
}

std::string rate_text(subnet::LinkRate rate) {
  const unsigned tenths = tenths_of(rate);
  return fmt::format("{}{} Gb/sec ({}X {})", tenths / 10, tenths % 10 != 0 ? ".5" : "",
                     subnet::lanes_of(rate.width),
                     subnet::kLinkSpeedNames.at(static_cast<std::size_t>(rate.speed)));
}

}  // namespace urnic::control
