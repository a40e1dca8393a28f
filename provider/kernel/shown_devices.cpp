#include "provider/kernel/shown_devices.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "device_model/abi/run_directory_layout.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/bounded_text.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

namespace {

constexpr char kAll[] = "all";
constexpr std::size_t kLongestName = 32;  // with the NUL: device_model/control/fabric allows 31 characters
constexpr std::size_t kMostNames = 254;   // and so many devices

enum class Shown : int { unknown, all, some };
constinit std::atomic<Shown> shown_now{Shown::unknown};

// The devices that are named, each with a NUL behind it, and another NUL at the end. A program may clear its
// environment later.
constinit char shown_names[kMostNames * kLongestName + 1] = {};

// The value, if `variable` is URNIC_SHOW_…; else null.
const char* value_of(const char* variable) {
  constexpr std::size_t kPrefix = sizeof abi::kShownDevicesVariable - 1;
  if (std::strncmp(variable, abi::kShownDevicesVariable, kPrefix) != 0 || variable[kPrefix] != '_')
    return nullptr;
  const char* const sign = std::strchr(variable, '=');
  return sign == nullptr ? nullptr : sign + 1;
}

// Values that no device can have are passed over, and what is too much.
Shown read_environment() {
  const char* const whole = getenv(abi::kShownDevicesVariable);
  if (whole != nullptr && std::strcmp(whole, kAll) == 0) return Shown::all;
  Shown result = Shown::all;
  char* end = shown_names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const char* const value = value_of(*variable);
    if (value == nullptr) continue;
    result = Shown::some;
    const std::size_t size = std::strlen(value) + 1;
    if (size == 1 || size > kLongestName || end + size >= shown_names + sizeof shown_names) continue;
    std::memcpy(end, value, size);
    end += size;
  }
  return result;
}

bool is_named(const char* device) {
  for (const char* name = shown_names; *name != '\0'; name += std::strlen(name) + 1)
    if (std::strcmp(name, device) == 0) return true;
  return false;
}

// Before the program has threads, unless a constructor of another library asks first.
__attribute__((constructor)) void read_shown_devices() { some_devices_are_hidden(); }

bool is_same(const struct stat& directory, const PathText& path) {
  struct stat status;
  return path.fits() && real::stat(path.text(), &status) == 0 && status.st_ino == directory.st_ino &&
         status.st_dev == directory.st_dev;
}

bool has_beginning(const char* name, const char* beginning) {
  return std::strncmp(name, beginning, std::strlen(beginning)) == 0;
}

// The folder of a class, or of all nodes, whose entry is not the device itself: its file "ibdev" names
// the device. Null: the entry may be the device itself.
const char* class_of_node(const char* entry) {
  if (has_beginning(entry, "uverbs")) return "infiniband_verbs";
  return has_beginning(entry, "umad") || has_beginning(entry, "issm") ? "infiniband_mad" : nullptr;
}

void append_class_folder(const char* name, PathText& path) {
  path.append(run_directory()).append("/").append(abi::kSysfs).append("/class/").append(name);
}

void append_pci_folder(PathText& path) {
  path.append(run_directory()).append("/").append(abi::kSysfs).append("/devices/").append(abi::kPciBusFolder);
}

bool is_device_folder(const struct stat& directory) {
  PathText by_class;
  append_class_folder("infiniband", by_class);
  PathText by_place;
  by_place.append(run_directory()).append("/").append(abi::kSysfs).append("/devices/virtual/infiniband");
  return is_same(directory, by_class) || is_same(directory, by_place);
}

bool is_node_folder(const struct stat& directory, const char* class_name) {
  PathText by_class;
  append_class_folder(class_name, by_class);
  PathText nodes;
  nodes.append(run_directory()).append("/").append(abi::kDeviceNodes);
  return is_same(directory, by_class) || is_same(directory, nodes);
}

bool is_pci_folder(const struct stat& directory) {
  PathText by_bus;
  by_bus.append(run_directory()).append("/").append(abi::kSysfs).append("/bus/pci/devices");
  PathText by_place;
  append_pci_folder(by_place);
  return is_same(directory, by_bus) || is_same(directory, by_place);
}

bool exists(const PathText& path) {
  struct stat status;
  return path.fits() && real::stat(path.text(), &status) == 0;
}

// Whether the entry of the PCI bus is one of the device process's, and of an RDMA device that is not named.
bool is_hidden_pci_device(const char* entry) {
  PathText folder;
  append_pci_folder(folder);
  folder.append("/").append(entry).append("/infiniband");
  if (!exists(folder)) return false;
  const std::size_t length = folder.length();
  for (const char* name = shown_names; *name != '\0'; name += std::strlen(name) + 1) {
    folder.append("/").append(name);
    if (exists(folder)) return false;
    folder.shorten(length);
  }
  return true;
}

// The name of the device of a node; false if its folder does not say.
bool read_device(const char* class_name, const char* node, char (&device)[kLongestName]) {
  PathText path;
  append_class_folder(class_name, path);
  path.append("/").append(node).append("/ibdev");
  const int file = path.fits() ? real::open(path.text(), O_RDONLY | O_CLOEXEC, 0) : -1;
  if (file < 0) return false;
  const ssize_t length = real::read(file, device, sizeof device - 1);
  close(file);
  if (length <= 0) return false;
  device[length] = '\0';
  device[std::strcspn(device, "\n")] = '\0';
  return true;
}

}  // namespace

bool some_devices_are_hidden() {
  if (!stand_in_active()) return false;
  Shown known = shown_now.load(std::memory_order_acquire);
  if (known == Shown::unknown) {
    known = read_environment();
    shown_now.store(known, std::memory_order_release);
  }
  return known == Shown::some;
}

bool is_hidden_entry(const struct stat& directory, const char* entry) {
  const KeptErrno kept;
  if (const char* const class_name = class_of_node(entry)) {
    char device[kLongestName];
    return is_node_folder(directory, class_name) && read_device(class_name, entry, device) &&
           !is_named(device);
  }
  if (entry[0] == '.') return false;
  if (is_device_folder(directory)) return !is_named(entry);
  return is_pci_folder(directory) && is_hidden_pci_device(entry);
}

struct dirent* read_shown_entry(DIR* directory) {
  struct dirent* entry = real::readdir(directory);
  if (__builtin_expect(!some_devices_are_hidden(), 1)) return entry;
  const KeptErrno kept;
  struct stat status;
  if (real::fstat(dirfd(directory), &status) != 0) return entry;
  while (entry != nullptr && is_hidden_entry(status, entry->d_name)) entry = real::readdir(directory);
  return entry;
}

}  // namespace urnic::kernel
