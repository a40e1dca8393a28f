// The sections [device] and [[devices]] of the device process's configuration.
#pragma once

#include <string>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/settings/table_reader.hpp"

namespace urnic::control {

// Adds the devices that the file's sections name, or two if they name none. `file` is its name in errors.
// Throws ConfigurationError.
void read_devices(const settings::TableReader& root, const std::string& file, Configuration& configuration);

}  // namespace urnic::control
