// The loss recoveries by their names in files and commands.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "device_model/transport/recovery_settings.hpp"

namespace urnic::control {

// In the order of transport::RecoveryMode.
inline constexpr std::array<std::string_view, 4> kRecoveryNames{"gbn", "selective", "irn", "sack"};

// The default for a device's QPs.
inline constexpr transport::RecoveryMode kDefaultRecovery = transport::RecoveryMode::sack;

constexpr std::string_view name(transport::RecoveryMode mode) {
  return kRecoveryNames[static_cast<std::size_t>(mode)];
}

}  // namespace urnic::control
