// How a container sees the devices of a device process: what is mounted into it, and the environment of its
// programs.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/urnic/installation.hpp"

namespace urnic::cli {

// The vendor in names such as urnic.dev/nic=urnic0.
inline constexpr char kContainerVendor[] = "urnic.dev";
// Stands for every device of a device process.
inline constexpr char kAllDevices[] = "all";

// A folder of this machine, and where containers see it. Containers cannot write to it.
struct ContainerMount {
  std::filesystem::path outside;
  std::filesystem::path inside;
  bool programs = false;  // has files that are executed or loaded
};

// What every container needs that gets a device of one class.
struct ContainerEdits {
  std::vector<ContainerMount> mounts;
  std::vector<std::string> environment;  // NAME=VALUE
};

// The class of the device process `name`, empty for the default one, where nobody has chosen another.
std::string default_device_class(const std::string& name);

// Throws Failure if `device_class` is no name for a class of CDI 0.5: letters, digits, '-' and '_', which a
// letter begins and a letter or a digit ends, 2 to 63 of them.
void require_device_class(const std::string& device_class);

// Whether containers can ask for a device of this name: letters, digits, '-', '_', '.' and ':', with a letter
// or a digit at each end, two or more of them.
bool is_container_device_name(const std::string& name);

// The libraries of `installation` and `run_directory` under /run/urnic.dev/CLASS, and the variables that lead
// there.
ContainerEdits container_edits(const Installation& installation, const std::filesystem::path& run_directory,
                               const std::string& device_class);

// The variable of the one device `name`, the `index`th of its device process.
std::string shown_device_variable(unsigned index, const std::string& name);
// The variable of all devices, which beats those of single ones.
std::string all_devices_variable();

// A specification of version 0.5 of the Container Device Interface: the devices `names`, those of them that
// containers can ask for, and `all`.
nlohmann::json container_specification(const ContainerEdits& edits, const std::string& device_class,
                                       const std::vector<std::string>& names);

// The same for a `podman run` that reads no specification: options without a space in them. Throws Failure if
// a path cannot be written in such an option.
std::vector<std::string> podman_options(const ContainerEdits& edits);

}  // namespace urnic::cli
