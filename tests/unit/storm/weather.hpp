// Random links and fault plans.
#pragma once

#include <array>
#include <string>

#include "device_model/link/link_settings.hpp"
#include "tests/unit/storm/chance.hpp"

namespace urnic::engine::storm {

// The devices' names in fault plans, in the order of their numbers.
inline const std::array<std::string, 2> kDevices{"urnic0", "urnic1"};

link::LinkSettings random_link(Chance& chance);

// A fault plan as TOML (docs/faults.md).
std::string random_fault_plan(Chance& chance);

}  // namespace urnic::engine::storm
