#include "device_model/control/files_in_memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {
namespace {

// What one question may read of a process's mounts: any number of them can be made.
constexpr std::size_t kMostLines = 4096;

// Those of which this process holds a file: their numbers are not given to other file systems as long as it
// lives.
class HeldFileSystems {
 public:
  HeldFileSystems() {
    // The kernel's own mounts, which memfds, System V segments and anonymous shared mappings are of.
    for (const unsigned flags : {0u, unsigned{MFD_HUGETLB}, MFD_HUGETLB | unsigned{MFD_HUGE_2MB},
                                 MFD_HUGETLB | unsigned{MFD_HUGE_1GB}}) {
      hold(memory::Descriptor(memfd_create("urnic-file-system", MFD_CLOEXEC | flags)));
    }
    hold(memory::Descriptor(open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  }

  bool have(dev_t device) const {
    return std::find(devices_.begin(), devices_.end(), device) != devices_.end();
  }

 private:
  void hold(memory::Descriptor&& file) {
    struct stat status {};
    struct statfs file_system {};
    if (!file || fstat(file.get(), &status) != 0 || fstatfs(file.get(), &file_system) != 0) return;
    if (file_system.f_type != TMPFS_MAGIC && file_system.f_type != HUGETLBFS_MAGIC) return;
    devices_.push_back(status.st_dev);
    files_.push_back(std::move(file));
  }

  std::vector<memory::Descriptor> files_;
  std::vector<dev_t> devices_;
};

// The type of a mount is the kernel's word; that of a FUSE mount begins with "fuse" (proc(5)).
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

bool is_in_memory(dev_t device, pid_t pid) {
  static const HeldFileSystems held;
  return held.have(device) || is_mounted_in_memory(std::to_string(pid), device) ||
         is_mounted_in_memory("self", device);
}

}  // namespace urnic::control
