#include "provider/kernel/path_map.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "device_model/abi/run_directory_layout.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/device_number.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

namespace {

constexpr char kDeviceFolder[] = "/dev/infiniband";
constexpr char kDeviceNumbers[] = "/dev/char";
constexpr char kSysfsMount[] = "/sys";
// Where ibacm says at which TCP port it answers. There is no such file here (interpose_socket.cpp).
constexpr char kIbacmPort[] = "/run/ibacm.port";

// The kernel's directories that the run directory's sysfs tree has under the same name. Linux keeps software
// devices below /sys/devices/virtual; class entries may be links to there, here as in Linux.
constexpr const char* kSysfsFolders[] = {
    "/sys/class/infiniband",     "/sys/class/infiniband_verbs", "/sys/class/infiniband_cm",
    "/sys/class/infiniband_mad", "/sys/class/misc/rdma_cm",     "/sys/devices/virtual/infiniband",
    "/sys/devices/pci7572:00",
};
static_assert(std::string_view(abi::kPciBusFolder) == "pci7572:00");

// The same, but for device processes whose tree has none: then programs see the machine's. The tree has links
// to what the machine has there besides.
constexpr const char* kSharedSysfsFolders[] = {"/sys/bus/pci", "/sys/module/mlx5_core",
                                               "/sys/module/mlx5_ib"};
// Where Linux has an interface like those that the device process makes, and the link to it.
constexpr const char* kInterfaces[] = {"/sys/class/net/", "/sys/devices/virtual/net/"};

struct Component {
  const char* text;
  std::size_t length;
  bool is(const char* name) const {
    return std::strlen(name) == length && std::memcmp(text, name, length) == 0;
  }
};

// Takes the next component off `cursor`; skips empty components and ".". False at the end.
bool next_component(const char*& cursor, Component& component) {
  do {
    while (*cursor == '/') ++cursor;
    component.text = cursor;
    while (*cursor != '\0' && *cursor != '/') ++cursor;
    component.length = static_cast<std::size_t>(cursor - component.text);
  } while (component.is("."));
  return component.length != 0;
}

// True if ".." leads out of the directory to which `rest` is relative.
bool climbs_out(const char* rest) {
  int depth = 0;
  Component component;
  while (depth >= 0 && next_component(rest, component)) depth += component.is("..") ? -1 : 1;
  return depth < 0;
}

// "/sys/class/net/mlx5_0/device": the interface has the device's name, which tells the path (below).
bool is_device_of_interface(const char* folder) {
  for (const char* interfaces : kInterfaces) {
    const std::size_t length = std::strlen(interfaces);
    if (std::strncmp(folder, interfaces, length) != 0) continue;
    const char* const slash = std::strchr(folder + length, '/');
    return slash != nullptr && std::strcmp(slash, "/device") == 0;
  }
  return false;
}

bool may_be_shared(const char* folder) {
  for (const char* candidate : kSharedSysfsFolders)
    if (std::strcmp(folder, candidate) == 0) return true;
  return is_device_of_interface(folder);
}

bool is_there(const PathText& path) {
  const KeptErrno kept;
  struct stat status;
  return path.fits() && real::lstat(path.text(), &status) == 0;
}

void append_same_folder(const char* folder, PathText& mapped) {
  mapped.append(run_directory()).append("/").append(abi::kSysfs);
  mapped.append(folder + sizeof kSysfsMount - 1);
}

// Appends the run directory's path of `folder`, a path in plain form; false if `folder` is not mapped.
bool append_mapped_folder(const char* folder, PathText& mapped) {
  if (std::strcmp(folder, kDeviceFolder) == 0) {
    mapped.append(run_directory()).append("/").append(abi::kDeviceNodes);
    return true;
  }
  if (std::strcmp(folder, kIbacmPort) == 0) {
    mapped.append(run_directory()).append("/ibacm.port");
    return true;
  }
  for (const char* candidate : kSysfsFolders) {
    if (std::strcmp(folder, candidate) != 0) continue;
    append_same_folder(folder, mapped);
    return true;
  }
  if (!may_be_shared(folder)) return false;
  PathText shared;
  append_same_folder(folder, shared);
  if (!is_there(shared)) return false;
  mapped.append(shared.text());
  return true;
}

// Appends the path of the node whose other name is /dev/char/`rest`; false if no node here has that number.
bool append_node_by_number(const char* rest, PathText& mapped) {
  Component component;
  dev_t number = 0;
  PathText name;
  if (!next_component(rest, component) || *rest != '\0') return false;
  if (!parse_device_number(component.text, number) || !find_node_name(number, name)) return false;
  append_node_path(name.text(), mapped);
  return true;
}

// Adds `component` to `plain`; ".." removes the last component.
void step(const Component& component, PathText& plain) {
  if (!component.is("..")) {
    plain.append("/").append(component.text, component.length);
    return;
  }
  std::size_t length = plain.length();
  while (length > 0 && plain.text()[--length] != '/') {
  }
  plain.shorten(length);
}

// Every mapped path contains one of these words.
bool has_telling_word(const char* path) {
  return std::strstr(path, "infiniband") != nullptr || std::strstr(path, "rdma_cm") != nullptr ||
         std::strstr(path, "/char/") != nullptr || std::strstr(path, kIbacmPort) != nullptr ||
         std::strstr(path, "pci") != nullptr || std::strstr(path, "mlx5") != nullptr;
}

bool append_working_directory(int directory, PathText& path) {
  const KeptErrno kept;
  char place[kPathCapacity];
  ssize_t length = 0;
  if (directory == AT_FDCWD) {
    length = syscall(SYS_getcwd, place, sizeof place) - 1;
  } else if (directory >= 0) {
    PathText link;
    link.append("/proc/self/fd/").append_number(static_cast<unsigned>(directory));
    length = real::readlink(link.text(), place, sizeof place);
  }
  if (length <= 0 || place[0] != '/') return false;
  path.append(place, static_cast<std::size_t>(length));
  return true;
}

bool starts_with_folder(const char* path, const PathText& folder) {
  return std::strncmp(path, folder.text(), folder.length()) == 0 &&
         (path[folder.length()] == '/' || path[folder.length()] == '\0');
}

}  // namespace

bool map_absolute_path(const char* path, PathText& mapped) {
  if (!has_telling_word(path)) return false;
  PathText plain;
  bool climbed_out = false;
  const char* cursor = path;
  for (Component component; next_component(cursor, component);) {
    step(component, plain);
    if (std::strcmp(plain.text(), kDeviceNumbers) == 0 && append_node_by_number(cursor, mapped)) return true;
    PathText target;
    if (!append_mapped_folder(plain.text(), target)) continue;
    climbed_out = climbs_out(cursor);
    if (climbed_out) continue;
    mapped.append(target.text()).append(cursor);
    return true;
  }
  if (climbed_out) mapped.append(plain.length() == 0 ? "/" : plain.text());
  return climbed_out;
}

bool find_program_path(const char* run, const char* actual, PathText& path) {
  PathText nodes;
  nodes.append(run).append("/").append(abi::kDeviceNodes);
  if (starts_with_folder(actual, nodes)) {
    path.append(kDeviceFolder).append(actual + nodes.length());
    return path.fits();
  }
  PathText sysfs;
  sysfs.append(run).append("/").append(abi::kSysfs);
  if (!sysfs.fits() || !starts_with_folder(actual, sysfs)) return false;
  path.append(kSysfsMount).append(actual + sysfs.length());
  PathText mapped;
  return path.fits() && map_absolute_path(path.text(), mapped);
}

void KernelPath::look_up(int directory) {
  if (!stand_in_active()) return;
  if (path_[0] == '/') {
    is_mapped_ = map_absolute_path(path_, mapped_);
  } else {
    // A path without such a word may begin in a mapped directory; then the kernel is in the run directory
    // already.
    if (!has_telling_word(path_)) return;
    PathText absolute;
    if (!append_working_directory(directory, absolute)) return;
    absolute.append("/").append(path_);
    is_mapped_ = absolute.fits() && map_absolute_path(absolute.text(), mapped_);
  }
  is_mapped_ = is_mapped_ && mapped_.fits();
  if (is_mapped_) path_ = mapped_.text();
}

}  // namespace urnic::kernel
