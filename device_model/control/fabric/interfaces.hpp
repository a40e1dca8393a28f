// Whether devices have network interfaces, and where.
#pragma once

#include <cstdint>

namespace urnic::control {

enum class Interfaces : std::uint8_t {
  none,
  own_network,  // in a network namespace of the device process's own
  host,         // in that of the device process
};

}  // namespace urnic::control
