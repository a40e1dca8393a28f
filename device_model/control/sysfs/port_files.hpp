// The sysfs files of a port: the constant ones, and those that change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/port_record.hpp"

namespace urnic::control {

// Creates `path` with a line of text. Throws std::filesystem::filesystem_error, as all functions here.
void write_file(const std::filesystem::path& path, const std::string& text);

// Fills the folder `port`, …/ports/1 of a device whose link is up.
void write_port_files(const std::filesystem::path& port, const Fabric& fabric, const ServedDevice& device);

// Updates what the subnet manager has changed of an InfiniBand port: `record` is the port's, `shown` that of
// the last call, or empty.
void show_infiniband_port(const std::filesystem::path& port, const PortRecord& shown,
                          const PortRecord& record);

// Updates the state; a concurrent reader sees the old state or the new one.
void show_port_state(const std::filesystem::path& port, bool up);
// Updates an entry of the GID table; zeros for an empty one.
void show_gid(const std::filesystem::path& port, std::size_t index, const wire::Gid& gid);
// Updates the name of the network interface that has the address of an entry; only of a device on UDP.
void show_interface(const std::filesystem::path& port, std::size_t index, const std::string& name);

}  // namespace urnic::control
