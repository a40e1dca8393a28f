// The machine's own PCI devices beside those of this tree: programs look at /sys/bus/pci as a whole.
#pragma once

#include <filesystem>

namespace urnic::control {

// Makes links in root/bus/pci to all that `machine`/bus/pci has, as it is now, but for what the tree has
// already. `machine` is an absolute path, "/sys". What cannot be read there is left out. Throws
// std::filesystem::filesystem_error if the tree cannot be written.
void link_to_machine_pci_bus(const std::filesystem::path& root, const std::filesystem::path& machine);

}  // namespace urnic::control
