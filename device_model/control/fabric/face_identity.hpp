// All that differs between devices of two faces before a program opens one: names, numbers and versions that
// sysfs, RDMA netlink and ibv_query_device tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device_model/control/fabric/face.hpp"

namespace urnic::control {

// Of the PCI device that the RDMA device is a part of, as in its configuration space.
struct PciIdentity {
  std::uint16_t vendor;
  std::uint16_t device;
  std::uint16_t subsystem_vendor;
  std::uint16_t subsystem_device;
  std::uint32_t device_class;  // 24 bits
  std::uint8_t revision;
  std::string_view driver;       // the kernel's, and its module
  std::string_view rdma_module;  // the driver's RDMA part, which uses that module
};

struct FaceIdentity {
  std::string_view name_prefix;   // every device's name begins so: libraries find devices by it
  std::string_view default_name;  // the part before the number of the name that a device has by default
  std::string_view firmware_version;
  std::string_view hca_type;
  std::string_view board_id;
  std::string_view revision_prefix;  // of hw_rev, before the number in base 16
  std::uint32_t vendor_id;           // defaults, which the configuration may replace
  std::uint32_t vendor_part_id;
  std::uint32_t provider_abi;  // of the uverbs node: which versions of the library take the device
  std::optional<std::uint32_t> driver_id;        // RDMA_DRIVER_…; empty: the kernel's headers have none
  std::optional<PciIdentity> pci;                // empty: it is part of no PCI device
  std::optional<std::string_view> no_interface;  // the network interface of a device without one; empty: none
};

const FaceIdentity& identity_of(Face face);

}  // namespace urnic::control
