// What a port's link runs at, in the encodings of verbs and as sysfs says it.
#pragma once

#include <cstdint>
#include <string>

#include "device_model/subnet/link_ability.hpp"

namespace urnic::control {

// active_width and active_speed of ibv_port_attr.
std::uint32_t verbs_width(subnet::LinkRate rate);
std::uint32_t verbs_speed(subnet::LinkRate rate);

// As Linux has it in the file `rate` (its ib_port_attr_to_speed_info and rate_show): "100 Gb/sec (4X EDR)".
std::string rate_text(subnet::LinkRate rate);

}  // namespace urnic::control
