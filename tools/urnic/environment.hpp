// The environment under which a program sees urnic's devices.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tools/urnic/installation.hpp"

namespace urnic::cli {

// Variables to set, with their whole new values: lists keep the entries that they have now.
std::map<std::string, std::string> program_environment(const Installation& installation,
                                                       const std::filesystem::path& run_directory);

}  // namespace urnic::cli
