// The settings of congestion control by their names in files and commands (docs/congestion.md).
#pragma once

#include <span>
#include <string_view>

#include "device_model/control/fabric/setting_key.hpp"
#include "device_model/transport/congestion_settings.hpp"

namespace urnic::control {

using CongestionKey = SettingKey<transport::CongestionSettings>;

std::span<const CongestionKey> congestion_keys();
// Null if no key has this name.
const CongestionKey* find_congestion_key(std::string_view name);

}  // namespace urnic::control
