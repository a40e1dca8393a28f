// What a device's port leads to: [[devices]] wire (docs/wires.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace urnic::control {

enum class WireKind : std::uint8_t {
  built_in,  // the switch of this process
  udp,       // UDP port 4791 of this host
};

// In the order of WireKind.
inline constexpr std::array<std::string_view, 2> kWireNames{"switch", "udp"};
constexpr std::string_view name(WireKind kind) { return kWireNames[static_cast<std::size_t>(kind)]; }

}  // namespace urnic::control
