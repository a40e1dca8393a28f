// The devices' sysfs files, as a kernel driver has them, in the run directory; the kernel stand-in shows them
// to programs under /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {

class SysfsTree {
 public:
  // Writes the tree at `root`, which must not exist. Throws std::filesystem::filesystem_error or
  // std::system_error.
  SysfsTree(const std::filesystem::path& root, const Fabric& fabric);

  // The N of a device's node, uverbsN.
  std::uint32_t node_number(const ServedDevice& device) const { return node_numbers_[device.index]; }
  // The N of its umadN; empty: it has none, for programs look at the first 64 only.
  std::optional<std::uint32_t> management_node_number(const ServedDevice& device) const;
  // …/ports/1 of a device.
  std::filesystem::path port_folder(const ServedDevice& device) const;

 private:
  std::filesystem::path root_;
  std::vector<std::uint32_t> node_numbers_;  // by device index
};

// Makes one entry of a folder: the one of this device, by its index, at `path`.
using MakeEntry = std::function<void(std::uint32_t device, const std::filesystem::path& path)>;

// Makes entries `prefix`0 to `prefix`(count-1) in `parent`, so that readdir lists them in the devices' order.
// Returns the entries' numbers by device index, which are ascending if the file system allows.
std::vector<std::uint32_t> make_listed_entries(const std::filesystem::path& parent, const char* prefix,
                                               std::uint32_t count, const MakeEntry& make);

}  // namespace urnic::control
