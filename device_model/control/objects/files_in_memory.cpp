#include "device_model/control/objects/files_in_memory.hpp"

#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/shared_mapping.hpp"

namespace urnic::control {
namespace {

// Lines of a process's mounts that one query may read; a process can have any number of mounts.
constexpr std::size_t kMostLines = 4096;

struct KernelMount {
  dev_t device = 0;
  std::uint64_t page_bytes = 0;
};

// The kernel's own mounts, one for each size of pages. They stay mounted, so their device numbers are never
// reused.
std::vector<KernelMount> find_kernel_mounts() {
  std::vector<KernelMount> mounts;
  for (const unsigned flags : {0u, unsigned{MFD_HUGETLB}, MFD_HUGETLB | unsigned{MFD_HUGE_2MB},
                               MFD_HUGETLB | unsigned{MFD_HUGE_1GB}}) {
    const memory::Descriptor file(memfd_create("urnic-file-system", MFD_CLOEXEC | flags));
    struct stat status {};
    if (file && fstat(file.get(), &status) == 0) {
      mounts.push_back({status.st_dev, memory::page_bytes_of(file.get())});
    } else if (flags == 0) {
      break;
    }
  }
  return mounts;
}

const std::vector<KernelMount>& kernel_mounts() {
  static const std::vector<KernelMount> mounts = find_kernel_mounts();
  return mounts;
}

// The kernel reports a mount's type; that of a FUSE mount begins with "fuse" (proc(5)).
bool says_in_memory(const std::string& line, dev_t device) {
  unsigned major = 0;
  unsigned minor = 0;
  if (std::sscanf(line.c_str(), "%*d %*d %u:%u", &major, &minor) != 2) return false;
  if (makedev(major, minor) != device) return false;
  const std::size_t separator = line.find(" - ");
  if (separator == std::string::npos) return false;
  const std::string rest = line.substr(separator + 3);
  const std::string type = rest.substr(0, rest.find(' '));
  return type == "tmpfs" || type == "hugetlbfs" || type == "devtmpfs";
}

bool is_mounted_in_memory(const std::string& process, dev_t device) {
  std::ifstream mounts("/proc/" + process + "/mountinfo");
  std::string line;
  for (std::size_t i = 0; i < kMostLines && std::getline(mounts, line); ++i) {
    if (says_in_memory(line, device)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> page_bytes_of_kernel_mount(dev_t device) {
  for (const KernelMount& mount : kernel_mounts())
    if (mount.device == device) return mount.page_bytes;
  return {};
}

bool is_in_memory(dev_t device, pid_t pid) {
  return page_bytes_of_kernel_mount(device) || is_mounted_in_memory(std::to_string(pid), device) ||
         is_mounted_in_memory("self", device);
}

}  // namespace urnic::control
