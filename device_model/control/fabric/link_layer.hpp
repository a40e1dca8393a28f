// What a device's port speaks below the transport: [[devices]] link_layer (docs/configuration.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace urnic::control {

enum class LinkLayer : std::uint8_t {
  ethernet,    // RoCE
  infiniband,  // a port of the built-in InfiniBand fabric (docs/infiniband.md)
};

// In the order of LinkLayer.
inline constexpr std::array<std::string_view, 2> kLinkLayerNames{"ethernet", "infiniband"};
constexpr std::string_view name(LinkLayer layer) { return kLinkLayerNames[static_cast<std::size_t>(layer)]; }

}  // namespace urnic::control
