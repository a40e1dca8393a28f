// The section [fabric] of the configuration: switches, hosts without a device, and links of the built-in
// InfiniBand fabric.
#pragma once

#include <string>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/settings/table_reader.hpp"

namespace urnic::control {

// Reads them into `configuration.fabric`, behind the devices, which are there already. A device that no link
// names is on the first free port of a switch; without switches in the file there is one for all. Throws
// SettingError.
void read_fabric(const settings::TableReader& root, const std::string& file, Configuration& configuration);

}  // namespace urnic::control
