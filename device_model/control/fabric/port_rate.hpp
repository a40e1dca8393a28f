// What a port's link runs at, in the encodings of verbs and of path records, and as sysfs says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device_model/subnet/link_ability.hpp"

namespace urnic::control {

// active_width and active_speed of ibv_port_attr.
std::uint32_t verbs_width(subnet::LinkRate rate);
std::uint32_t verbs_speed(subnet::LinkRate rate);

// As PathRecord:Rate and enum ibv_rate have it (IBTA 15.2.5.16).
std::uint8_t path_rate(subnet::LinkRate rate);
// The link with such a rate; empty: none has it.
std::optional<subnet::LinkRate> link_rate(std::uint8_t path_rate);
// The slower of two.
subnet::LinkRate slower(subnet::LinkRate one, subnet::LinkRate other);

// As Linux has it in the file `rate` (its ib_port_attr_to_speed_info and rate_show): "100 Gb/sec (4X EDR)".
std::string rate_text(subnet::LinkRate rate);

}  // namespace urnic::control
