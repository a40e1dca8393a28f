// The folder `device` of an RDMA device: the processors and the memory that are near it, and its network
// interface.
#pragma once

#include <filesystem>

#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {

// Fills `folder`, and makes it if it is not there. Throws std::filesystem::filesystem_error.
void write_hardware(const std::filesystem::path& folder, const ServedDevice& device);

}  // namespace urnic::control
