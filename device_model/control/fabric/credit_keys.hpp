// The settings of the section [fabric] by which packets take time inside the InfiniBand fabric.
#pragma once

#include <array>
#include <string_view>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/settings/table_reader.hpp"

namespace urnic::control {

inline constexpr std::array<std::string_view, 3> kCreditKeys{"credits", "buffer_bytes", "hop_delay_us"};

// Into `configuration.credits`. Throws SettingError.
void read_credits(const settings::TableReader& fabric, Configuration& configuration);

// Throws SettingError if packets take time in the fabric of `configuration`, and its switches would need too
// much memory for their queues.
void check_queues(const settings::TableReader& fabric, const Configuration& configuration);

}  // namespace urnic::control
