// opensm, as the device process starts it: where it is, and its options and environment.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/subnet_manager/program_parent.hpp"

namespace urnic::control {

// The first opensm that can be executed in the folders of `search_path`, which are separated by colons; then
// in those for system programs, which ordinary users have not in PATH. Empty: there is none.
std::optional<std::filesystem::path> find_opensm(std::string_view search_path);

// Puts who manages in the place of `automatic`. Throws std::runtime_error with a sentence: opensm is wanted
// and not installed.
ManagerChoice resolve_manager(ManagerChoice wanted, const std::optional<std::filesystem::path>& opensm);

// What opensm needs to manage the fabric of the first InfiniBand device of `configuration`, which has one.
// All its files are in `folder`, whose parent is the run directory; it reads none of this host's own
// (/etc/opensm), and its log is bounded. `stand_in` is the library to preload (provider/kernel).
ProgramStart opensm_start(const std::filesystem::path& opensm, const std::filesystem::path& folder,
                          const std::filesystem::path& stand_in, const Configuration& configuration);

}  // namespace urnic::control
