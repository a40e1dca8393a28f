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

#include "device_model/control/fabric/face_identity.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/planned_devices.hpp"
#include "device_model/control/sysfs/hardware_files.hpp"
#include "device_model/control/sysfs/pci_bus.hpp"
#include "device_model/control/sysfs/port_files.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

// Device numbers of uverbs nodes (Linux, Documentation/admin-guide/devices.txt).
constexpr std::uint32_t kUverbsMajor = 231;
constexpr std::uint32_t kUverbsFirstMinor = 192;
constexpr std::uint32_t kUmadMajor = 231;
constexpr std::uint32_t kUmadNodes = 64;
constexpr int kUmadAbi = 5;    // ib_umad's, which libibumad requires
constexpr int kUverbsAbi = 6;  // ib_uverbs's, which libibverbs requires
constexpr int kRdmaCmAbi = 4;  // rdma_ucm's, which librdmacm requires
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

void write_device(const fs::path& folder, const Fabric& fabric, const ServedDevice& device) {
  const std::string guid = guid_text(device.node_guid);
  write_file(folder / "node_type", "1: CA");
  write_file(folder / "node_guid", guid);
  write_file(folder / "sys_image_guid", guid);
  write_file(folder / "node_desc", description_of(device.settings));
  const FaceIdentity& identity = identity_of(device.settings.face);
  write_file(folder / "fw_ver", std::string(identity.firmware_version));
  write_file(folder / "hw_rev",
             fmt::format("{}{:x}", identity.revision_prefix, device.settings.hardware_version));
  write_file(folder / "hca_type", std::string(identity.hca_type));
  write_file(folder / "board_id", std::string(identity.board_id));
  write_hardware(folder / "device", device);
  fs::create_directories(folder / "ports" / "1");
  write_port_files(folder / "ports" / "1", fabric, device);
}

void write_rdma_cm_node(const fs::path& folder) {
  fs::create_directories(folder);
  write_file(folder / "abi_version", std::to_string(kRdmaCmAbi));
  write_file(folder / "dev", kRdmaCmNumber);
}

void write_node(const fs::path& folder, const ServedDevice& device, std::uint32_t number) {
  write_file(folder / "ibdev", device.settings.name);
  write_file(folder / "dev", fmt::format("{}:{}", kUverbsMajor, kUverbsFirstMinor + number));
  write_file(folder / "abi_version", std::to_string(identity_of(device.settings.face).provider_abi));
}

void write_management_node(const fs::path& folder, const ServedDevice& device, std::uint32_t number) {
  write_file(folder / "ibdev", device.settings.name);
  write_file(folder / "port", "1");
  write_file(folder / "dev", fmt::format("{}:{}", kUmadMajor, number));
}

}  // namespace

std::vector<std::uint32_t> make_listed_entries(const fs::path& parent, const char* prefix,
                                               std::uint32_t count, const MakeEntry& make) {
  const auto path_of = [&](std::uint32_t number) { return parent / (prefix + std::to_string(number)); };
  const auto make_folders = [&](const std::vector<std::uint32_t>& order) {
    for (const std::uint32_t number : order) fs::create_directory(path_of(number));
    std::vector<std::uint32_t> listed = listed_numbers(parent, prefix);
    for (const std::uint32_t number : order) fs::remove(path_of(number));
    return listed;
  };
  // File systems list in order of creation, newest first, or by a hash of the name: folders tell which.
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::uint32_t> listed = make_folders(order);
  if (listed != order) {
    std::reverse(order.begin(), order.end());
    listed = make_folders(order);
  }
  for (const std::uint32_t number : order) {
    const auto place = std::find(listed.begin(), listed.end(), number);
    make(static_cast<std::uint32_t>(place - listed.begin()), path_of(number));
  }
  return listed;
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

  // libibverbs lists devices in the order of this folder. Where the file system chooses the order, the entry
  // listed first becomes the first device's.
  const auto& served = fabric.devices();
  node_numbers_ = make_listed_entries(nodes, "uverbs", count, [&](std::uint32_t index, const fs::path& path) {
    make_class_entry(root, path, *served[index]);
  });
  write_file(nodes / "abi_version", std::to_string(kUverbsAbi));
  for (const auto& device : served) {
    const fs::path& folder = devices / device->settings.name;
    make_class_entry(root, folder, *device);
    write_device(folder, fabric, *device);
    const std::uint32_t number = node_number(*device);
    write_node(nodes / fmt::format("uverbs{}", number), *device, number);
    if (const auto umad = management_node_number(*device)) {
      const fs::path node = management / fmt::format("umad{}", *umad);
      make_class_entry(root, node, *device);
      write_management_node(node, *device, *umad);
      if (device->adapter) {
        const fs::path manager = management / fmt::format("issm{}", *umad);
        make_class_entry(root, manager, *device);
        write_management_node(manager, *device, kUmadNodes + *umad);
      }
    }
  }
  write_pci_bus(root, fabric);
}

std::optional<std::uint32_t> SysfsTree::management_node_number(const ServedDevice& device) const {
  return device.index < kUmadNodes ? std::optional(device.index) : std::nullopt;
}

fs::path SysfsTree::port_folder(const ServedDevice& device) const {
  return root_ / "class" / "infiniband" / device.settings.name / "ports" / "1";
}

}  // namespace urnic::control
