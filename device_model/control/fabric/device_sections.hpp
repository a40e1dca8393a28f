// The sections [device] and [[devices]] of the device process's configuration.
#pragma once

#include <cstddef>
#include <string>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/settings/table_reader.hpp"

namespace urnic::control {

// 192.0.2.1 to 192.0.2.254
inline constexpr std::size_t kMaxDevices = 254;

// Adds the devices that the file's sections name, or two if they name none. `file` is its name in errors.
// With `sections`, these are in the place of the file's [[devices]]. Throws ConfigurationError.
void read_devices(const settings::TableReader& root, const std::string& file, Configuration& configuration,
                  const toml::array* sections = nullptr);

}  // namespace urnic::control
