// PCI devices in sysfs: of each RDMA device whose face is a part of one. Linux keeps the folders of all
// classes below the PCI device, and the classes have links there; so does this tree
// (Documentation/filesystems/sysfs.rst).
#pragma once

#include <filesystem>

#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {

// Makes the folder of an entry of a class, such as root/class/infiniband_verbs/uverbs0, for the device: the
// folder itself, or a link to it in the folder of the device's PCI device. Throws
// std::filesystem::filesystem_error, as all functions here.
void make_class_entry(const std::filesystem::path& root, const std::filesystem::path& entry,
                      const ServedDevice& device);

// Fills the PCI devices' folders, and makes the bus, the driver and its module in the tree at `root`, the bus
// with the machine's own devices. Does nothing if no device is on the bus. After the classes' entries.
void write_pci_bus(const std::filesystem::path& root, const Fabric& fabric);

}  // namespace urnic::control
