// As which device programs see a device: [[devices]] face (docs/mlx5-face.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace urnic::control {

enum class Face : std::uint8_t {
  urnic,  // a device of its own kind, which the plugin liburnic drives
  mlx5,   // a ConnectX, which the distribution's libmlx5 drives
};

// In the order of Face.
inline constexpr std::array<std::string_view, 2> kFaceNames{"urnic", "mlx5"};
constexpr std::string_view name(Face face) { return kFaceNames[static_cast<std::size_t>(face)]; }

}  // namespace urnic::control
