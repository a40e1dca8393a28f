// The ioctl that queries a maps file of /proc for one mapping, and its struct procmap_query (linux/fs.h),
// which headers older than Linux 6.11 do not have.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace urnic::control {

struct ProcmapQuery {
  std::uint64_t size = sizeof(ProcmapQuery);
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t start = 0;  // from here on: the kernel's answer
  std::uint64_t end = 0;
  std::uint64_t rights = 0;
  std::uint64_t page_size = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint32_t name_size = 0;  // 0: no name and no build id
  std::uint32_t build_id_size = 0;
  std::uint64_t name = 0;
  std::uint64_t build_id = 0;
};
static_assert(sizeof(ProcmapQuery) == 104);

inline constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);

}  // namespace urnic::control
