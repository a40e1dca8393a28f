// The two directions of a link between a device's port and the switch.
#pragma once

#include <cstdint>
#include <string_view>

namespace urnic::link {

// Seen from the device that the link belongs to.
enum class Direction : std::uint8_t {
  transmit,  // device to switch, "tx"
  receive    // switch to device, "rx"
};

constexpr std::string_view name(Direction direction) {
  return direction == Direction::transmit ? "tx" : "rx";
}

}  // namespace urnic::link
