// The congestion controls by their names in files and commands.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "device_model/transport/congestion_settings.hpp"

namespace urnic::control {

// In the order of transport::CongestionAlgorithm.
inline constexpr std::array<std::string_view, 4> kCongestionNames{"off", "dcqcn", "rtt", "timely"};

constexpr std::string_view name(transport::CongestionAlgorithm algorithm) {
  return kCongestionNames[static_cast<std::size_t>(algorithm)];
}

}  // namespace urnic::control
