#include "device_model/control/sysfs/pci_bus.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string>
#include <system_error>

#include "device_model/abi/run_directory_layout.hpp"
#include "device_model/control/fabric/face_identity.hpp"
#include "device_model/control/sysfs/machine_pci_bus.hpp"
#include "device_model/control/sysfs/port_files.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

// In the tree, of the PCI device.
fs::path folder_of(const PciAddress& address) {
  return fs::path("devices") / abi::kPciBusFolder / to_text(address);
}

void make_link(const fs::path& link, const fs::path& target) {
  fs::create_directories(link.parent_path());
  fs::create_symlink(target, link);
}

std::string modalias(const PciIdentity& pci) {
  return fmt::format("pci:v{:08X}d{:08X}sv{:08X}sd{:08X}bc{:02X}sc{:02X}i{:02X}", pci.vendor, pci.device,
                     pci.subsystem_vendor, pci.subsystem_device, pci.device_class >> 16,
                     pci.device_class >> 8 & 0xFF, pci.device_class & 0xFF);
}

std::string uevent(const PciIdentity& pci, const PciAddress& address) {
  return fmt::format(
      "DRIVER={}\nPCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:{:04X}\nPCI_SLOT_NAME={}\n"
      "MODALIAS={}",
      pci.driver, pci.device_class, pci.vendor, pci.device, pci.subsystem_vendor, pci.subsystem_device,
      to_text(address), modalias(pci));
}

// No window of the device's can be mapped: a line for each of the six, the ROM and the bridges' six.
std::string resources() {
  std::string text;
  for (int i = 0; i < 13; ++i)
    text += fmt::format("{}{:#018x} {:#018x} {:#018x}", i == 0 ? "" : "\n", 0, 0, 0);
  return text;
}

// The first 64 bytes are the header of type 0 (PCI Local Bus Specification, 6.1); there are no capabilities.
std::array<std::uint8_t, 256> configuration_space(const PciIdentity& pci) {
  std::array<std::uint8_t, 256> bytes{};
  const auto put = [&](std::size_t offset, std::uint32_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) bytes[offset + i] = static_cast<std::uint8_t>(value >> 8 * i);
  };
  constexpr std::uint32_t kMemoryAndBusMaster = 0x6;
  put(0x00, pci.vendor, 2);
  put(0x02, pci.device, 2);
  put(0x04, kMemoryAndBusMaster, 2);
  put(0x08, pci.revision, 1);
  put(0x09, pci.device_class, 3);
  put(0x2C, pci.subsystem_vendor, 2);
  put(0x2E, pci.subsystem_device, 2);
  return bytes;
}

void write_bytes(const fs::path& path, const std::array<std::uint8_t, 256>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  file.close();
  if (!file)
    throw fs::filesystem_error("cannot be written", path, std::error_code(errno, std::generic_category()));
}

void write_pci_device(const fs::path& folder, const PciIdentity& pci, const PciAddress& address) {
  const auto number = [&](const char* name, int digits, std::uint32_t value) {
    write_file(folder / name, fmt::format("0x{:0{}x}", value, digits));
  };
  number("vendor", 4, pci.vendor);
  number("device", 4, pci.device);
  number("subsystem_vendor", 4, pci.subsystem_vendor);
  number("subsystem_device", 4, pci.subsystem_device);
  number("class", 6, pci.device_class);
  number("revision", 2, pci.revision);
  write_file(folder / "modalias", modalias(pci));
  write_file(folder / "uevent", uevent(pci, address));
  write_file(folder / "resource", resources());
  write_bytes(folder / "config", configuration_space(pci));
  write_file(folder / "irq", "0");
  write_file(folder / "enable", "1");
  for (const char* which : {"current", "max"}) {
    write_file(folder / fmt::format("{}_link_speed", which), "16.0 GT/s PCIe");
    write_file(folder / fmt::format("{}_link_width", which), "16");
  }
  make_link(folder / "subsystem", "../../../bus/pci");
  make_link(folder / "driver", fs::path("../../../bus/pci/drivers") / pci.driver);
}

void write_module(const fs::path& root, const std::string& name) {
  const fs::path folder = root / "module" / name;
  fs::create_directories(folder);
  write_file(folder / "initstate", "live");
  write_file(folder / "refcnt", "1");
}

void write_driver(const fs::path& root, const PciIdentity& pci) {
  const std::string driver(pci.driver);
  write_module(root, driver);
  write_module(root, std::string(pci.rdma_module));
  make_link(root / "module" / driver / "holders" / pci.rdma_module, fs::path("../..") / pci.rdma_module);
  make_link(root / "module" / driver / "drivers" / ("pci:" + driver),
            fs::path("../../../bus/pci/drivers") / driver);
  make_link(root / "bus/pci/drivers" / driver / "module", fs::path("../../../../module") / driver);
}

// What says where the device is: the bus, its driver, and its own network interface.
void link_to_pci_device(const fs::path& root, const ServedDevice& device, const PciIdentity& pci) {
  const PciAddress address = *device.settings.pci;
  const fs::path folder = folder_of(address);
  make_link(root / "bus/pci/devices" / to_text(address), "../../.." / folder);
  make_link(root / "bus/pci/drivers" / pci.driver / to_text(address), "../../../.." / folder);
  if (!device.interface) return;
  const fs::path interface = fs::path("devices/virtual/net") / device.interface->name;
  make_link(root / interface / "device", "../../../.." / folder);
  make_link(root / "class/net" / device.interface->name, "../.." / interface);
}

}  // namespace

void make_class_entry(const fs::path& root, const fs::path& entry, const ServedDevice& device) {
  if (!device.settings.pci) {
    fs::create_directories(entry);
    return;
  }
  const fs::path class_name = entry.parent_path().filename();
  const fs::path folder = folder_of(*device.settings.pci) / class_name / entry.filename();
  fs::create_directories(root / folder);
  make_link(entry, "../.." / folder);
  make_link(root / folder / "device", fs::path("../../..") / to_text(*device.settings.pci));
  make_link(root / folder / "subsystem", "../../../../../class" / class_name);
}

void write_pci_bus(const fs::path& root, const Fabric& fabric) {
  bool any = false;
  for (const auto& device : fabric.devices()) {
    if (!device->settings.pci) continue;
    const PciIdentity& pci = *identity_of(device->settings.face).pci;
    if (!any) write_driver(root, pci);
    any = true;
    write_pci_device(root / folder_of(*device->settings.pci), pci, *device->settings.pci);
    link_to_pci_device(root, *device, pci);
  }
  if (any) link_to_machine_pci_bus(root, "/sys");
}

}  // namespace urnic::control
