#include "device_model/control/sysfs/machine_pci_bus.hpp"

#include <system_error>

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

void link_if_missing(const fs::path& link, const fs::path& target) {
  if (is_there(link)) return;
  fs::create_directories(link.parent_path());
  fs::create_symlink(target, link);
}

// "../../../devices/pci0000:00/0000:00:1f.0": the part that follows `devices`.
fs::path first_below_devices(const fs::path& target) {
  auto part = target.begin();
  while (part != target.end() && *part == "..") ++part;
  if (part == target.end() || *part != "devices" || ++part == target.end()) return {};
  return *part;
}

// Links as the kernel's own: programs read them, too. They lead to the machine's folder by way of a link in
// place of the folder that Linux has there.
void link_device(const fs::path& root, const fs::path& machine, const fs::path& device) {
  std::error_code error;
  const fs::path target = fs::read_symlink(device, error);
  const fs::path place = first_below_devices(target);
  if (error || place.empty()) return;
  link_if_missing(root / "devices" / place, machine / "devices" / place);
  link_if_missing(root / "bus/pci/devices" / device.filename(), target);
}

template <typename Link>
void for_each_entry(const fs::path& folder, const Link& link) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    link(entry->path());
}

}  // namespace

void link_to_machine_pci_bus(const fs::path& root, const fs::path& machine) {
  const fs::path bus = machine / "bus/pci";
  for_each_entry(bus / "devices", [&](const fs::path& device) { link_device(root, machine, device); });
  for_each_entry(bus / "drivers", [&](const fs::path& driver) {
    link_if_missing(root / "bus/pci/drivers" / driver.filename(), driver);
  });
  for_each_entry(bus,
                 [&](const fs::path& other) { link_if_missing(root / "bus/pci" / other.filename(), other); });
}

}  // namespace urnic::control
