// The sysfs files of a port: written once, and those that change kept true.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "device_model/control/fabric/configuration.hpp"

namespace urnic::control {

// Makes `path` with a line of text. Throws std::filesystem::filesystem_error, as all of these.
void write_file(const std::filesystem::path& path, const std::string& text);

// Fills the folder `port`, …/ports/1 of a device whose link is whole.
void write_port_files(const std::filesystem::path& port, const DeviceSettings& settings);

// From now on; whoever reads meanwhile reads the old state or the new one.
void show_port_state(const std::filesystem::path& port, bool up);
// The entry of the GID table; zeros for one that is empty.
void show_gid(const std::filesystem::path& port, std::size_t index, const wire::Gid& gid);

}  // namespace urnic::control
