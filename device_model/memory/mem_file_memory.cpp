#include "device_model/memory/mem_file_memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <charconv>
#include <string>
#include <string_view>

#include "device_model/memory/transfer_groups.hpp"

namespace urnic::memory {

namespace {

off_t file_offset(const TransferGroup& group, std::size_t k) {
  return static_cast<off_t>(reinterpret_cast<std::uintptr_t>(group.remote[k].iov_base));
}

int pieces(const TransferGroup& group, std::size_t k) { return static_cast<int>(group.count - k); }

std::string path_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char target[256];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

bool is_mem_file(int descriptor) {
  struct statfs file_system {};
  if (fstatfs(descriptor, &file_system) != 0 || file_system.f_type != PROC_SUPER_MAGIC) return false;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || (flags & O_PATH) != 0) return false;
  return path_of(descriptor).ends_with("/mem");
}

pid_t mem_file_number(int mem_file) {
  struct stat file {};
  struct stat ours {};
  if (fstat(mem_file, &file) != 0 || stat("/proc/self", &ours) != 0 || file.st_dev != ours.st_dev) return 0;
  const std::string path = path_of(mem_file);  // /proc/PID/mem
  const std::size_t end = path.rfind('/');
  if (end == std::string::npos || end == 0) return 0;
  const std::size_t begin = path.rfind('/', end - 1) + 1;
  pid_t number = 0;
  const auto [stopped, error] = std::from_chars(path.data() + begin, path.data() + end, number);
  return error == std::errc{} && stopped == path.data() + end ? number : 0;
}

bool address_space_lives(int mem_file) {
  // The kernel answers 0 when the address space has no user left, before it looks at the address; page 0 is
  // not mapped, so a living one answers EIO (mem_rw() in fs/proc/base.c).
  std::byte byte;
  return pread(mem_file, &byte, sizeof byte, 0) != 0;
}

void MemFileMemory::read(std::span<Transfer> batch) {
  run_batch(batch, Adjacency::contiguous_addresses, [this](const TransferGroup& group, std::size_t k) {
    return preadv(mem_.get(), group.local + k, pieces(group, k), file_offset(group, k));
  });
}

void MemFileMemory::write(std::span<Transfer> batch) {
  run_batch(batch, Adjacency::contiguous_addresses, [this](const TransferGroup& group, std::size_t k) {
    return pwritev(mem_.get(), group.local + k, pieces(group, k), file_offset(group, k));
  });
}

}  // namespace urnic::memory
