// Who manages the built-in InfiniBand fabric: the setting subnet_manager (docs/configuration.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace urnic::control {

enum class ManagerChoice : std::uint8_t {
  none,       // a program that the user starts, if any
  opensm,     // opensm, started and ended with the device process
  built_in,   // the device process itself (device_model/subnet/manager)
  automatic,  // opensm if it is installed, else the device process
};

// In the order of ManagerChoice.
inline constexpr std::array<std::string_view, 4> kManagerNames{"none", "opensm", "built_in", "automatic"};
constexpr std::string_view name(ManagerChoice choice) {
  return kManagerNames[static_cast<std::size_t>(choice)];
}

}  // namespace urnic::control
