#include "device_model/control/sysfs/hardware_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "device_model/control/fabric/face_identity.hpp"
#include "device_model/control/sysfs/port_files.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

// Processors as the kernel prints masks: groups of 32, highest first.
std::string processor_mask(long processors) {
  std::string text;
  for (long group = (processors - 1) / 32; group >= 0; --group) {
    const long bits = std::min(processors - group * 32, 32L);
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
    text += fmt::format("{}{:08x}", text.empty() ? "" : ",", mask);
  }
  return text;
}

// What does not change while the interface has its name. By dev_port and dev_id programs tell the interfaces
// of a device's ports apart.
void write_interface(const fs::path& folder, const link::LocalInterface& interface) {
  fs::create_directories(folder);
  write_file(folder / "ifindex", std::to_string(interface.index));
  write_file(folder / "dev_port", "0");
  write_file(folder / "dev_id", "0x0");
  write_file(folder / "type", "1");  // ARPHRD_ETHER
  write_file(folder / "uevent", fmt::format("INTERFACE={}\nIFINDEX={}", interface.name, interface.index));
}

}  // namespace

void write_hardware(const fs::path& folder, const ServedDevice& device) {
  fs::create_directories(folder);
  const long processors = std::max(sysconf(_SC_NPROCESSORS_CONF), 1L);
  write_file(folder / "local_cpus", processor_mask(processors));
  write_file(folder / "local_cpulist", processors == 1 ? "0" : fmt::format("0-{}", processors - 1));
  write_file(folder / "numa_node", "-1");
  const auto none = identity_of(device.settings.face).no_interface;
  if (const link::LocalInterface* const interface = interface_of(device, 0)) {
    write_interface(folder / "net" / interface->name, *interface);
  } else if (none) {
    fs::create_directories(folder / "net" / *none);
  }
}

}  // namespace urnic::control
