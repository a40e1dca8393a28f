#include "device_model/control/sysfs/sysfs_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <system_error>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/sysfs/port_files.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

// Device numbers of uverbs nodes (Linux, Documentation/admin-guide/devices.txt).
constexpr std::uint32_t kUverbsMajor = 231;
constexpr std::uint32_t kUverbsFirstMinor = 192;
constexpr std::uint32_t kUmadMajor = 231;
constexpr std::uint32_t kUmadNodes = 64;
constexpr int kUmadAbi = 5;      // ib_umad's, which libibumad requires
constexpr int kUverbsAbi = 6;    // ib_uverbs's, which libibverbs requires
constexpr int kProviderAbi = 1;  // urnic's own
constexpr int kRdmaCmAbi = 4;    // rdma_ucm's, which librdmacm requires
// Linux numbers miscellaneous devices from 0 to 255 and, once these are used up, upwards.
constexpr char kRdmaCmNumber[] = "10:65535";

std::vector<std::uint32_t> listed_numbers(const fs::path& parent, const std::string& prefix) {
  struct Close {
    void operator()(DIR* directory) const { closedir(directory); }
  };
  const std::unique_ptr<DIR, Close> directory(opendir(parent.c_str()));
  if (directory == nullptr) throw std::system_error(errno, std::generic_category(), parent.string());
  std::vector<std::uint32_t> numbers;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    numbers.push_back(static_cast<std::uint32_t>(std::stoul(name.substr(prefix.size()))));
  }
  return numbers;
}

std::string guid_text(const std::array<std::uint8_t, 8>& guid) {
  return fmt::format("{:02x}{:02x}:{:02x}{:02x}:{:02x}{:02x}:{:02x}{:02x}", guid[0], guid[1], guid[2],
                     guid[3], guid[4], guid[5], guid[6], guid[7]);
}

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

std::string host_name() {
  char name[65] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void write_device(const fs::path& folder, const ServedDevice& device) {
  const std::string guid = guid_text(device.node_guid);
  write_file(folder / "node_type", "1: CA");
  write_file(folder / "node_guid", guid);
  write_file(folder / "sys_image_guid", guid);
  write_file(folder / "node_desc", fmt::format("{} {}", host_name(), device.settings.name));
  write_file(folder / "fw_ver", URNIC_VERSION);
  write_file(folder / "hw_rev", fmt::format("0x{:x}", device.settings.hardware_version));
  write_file(folder / "hca_type", "urnic");
  write_file(folder / "board_id", "urnic");

  const long processors = std::max(sysconf(_SC_NPROCESSORS_CONF), 1L);
  const fs::path hardware = folder / "device";
  fs::create_directories(hardware);
  write_file(hardware / "local_cpus", processor_mask(processors));
  write_file(hardware / "local_cpulist", processors == 1 ? "0" : fmt::format("0-{}", processors - 1));
  write_file(hardware / "numa_node", "-1");
  // Programs that look for the device's interface and take its address can connect. Without one it is the one
  // interface of every machine whose addresses, 127/8, name devices (docs/rdma-cm.md).
  const link::LocalInterface* const interface = interface_of(device, 0);
  fs::create_directories(hardware / "net" / (interface != nullptr ? interface->name : "lo"));
  fs::create_directories(folder / "ports" / "1");
  write_port_files(folder / "ports" / "1", device);
}

void write_rdma_cm_node(const fs::path& folder) {
  fs::create_directories(folder);
  write_file(folder / "abi_version", std::to_string(kRdmaCmAbi));
  write_file(folder / "dev", kRdmaCmNumber);
}

void write_node(const fs::path& folder, const ServedDevice& device, std::uint32_t number) {
  write_file(folder / "ibdev", device.settings.name);
  write_file(folder / "dev", fmt::format("{}:{}", kUverbsMajor, kUverbsFirstMinor + number));
  write_file(folder / "abi_version", std::to_string(kProviderAbi));
}

void write_management_node(const fs::path& folder, const ServedDevice& device, std::uint32_t number) {
  fs::create_directory(folder);
  write_file(folder / "ibdev", device.settings.name);
  write_file(folder / "port", "1");
  write_file(folder / "dev", fmt::format("{}:{}", kUmadMajor, number));
}

}  // namespace

std::vector<std::uint32_t> make_listed_folders(const fs::path& parent, const char* prefix,
                                               std::uint32_t count) {
  std::vector<std::uint32_t> wanted(count);
  std::iota(wanted.begin(), wanted.end(), 0u);
  const auto make = [&](std::uint32_t number) {
    fs::create_directory(parent / (prefix + std::to_string(number)));
  };
  // File systems list in order of creation, newest first, or by a hash of the name.
  std::for_each(wanted.begin(), wanted.end(), make);
  std::vector<std::uint32_t> listed = listed_numbers(parent, prefix);
  if (listed == wanted) return listed;
  for (const std::uint32_t number : wanted) fs::remove(parent / (prefix + std::to_string(number)));
  std::for_each(wanted.rbegin(), wanted.rend(), make);
  return listed_numbers(parent, prefix);
}

SysfsTree::SysfsTree(const fs::path& root, const Fabric& fabric) : root_(root) {
  const auto count = static_cast<std::uint32_t>(fabric.devices().size());
  const fs::path nodes = root / "class" / "infiniband_verbs";
  const fs::path devices = root / "class" / "infiniband";
  fs::create_directories(nodes);
  fs::create_directories(devices);
  write_rdma_cm_node(root / "class" / "misc" / "rdma_cm");
  const fs::path management = root / "class" / "infiniband_mad";
  fs::create_directories(management);
  write_file(management / "abi_version", std::to_string(kUmadAbi));

  // libibverbs lists devices in the order of this folder. Where the file system chooses the order, the folder
  // listed first becomes the first device's.
  node_numbers_ = make_listed_folders(nodes, "uverbs", count);
  write_file(nodes / "abi_version", std::to_string(kUverbsAbi));
  for (const auto& device : fabric.devices()) {
    fs::create_directory(devices / device->settings.name);
    write_device(devices / device->settings.name, *device);
    const std::uint32_t number = node_number(*device);
    write_node(nodes / fmt::format("uverbs{}", number), *device, number);
    if (const auto umad = management_node_number(*device))
      write_management_node(management / fmt::format("umad{}", *umad), *device, *umad);
  }
}

std::optional<std::uint32_t> SysfsTree::management_node_number(const ServedDevice& device) const {
  return device.index < kUmadNodes ? std::optional(device.index) : std::nullopt;
}

fs::path SysfsTree::port_folder(const ServedDevice& device) const {
  return root_ / "class" / "infiniband" / device.settings.name / "ports" / "1";
}

}  // namespace urnic::control
