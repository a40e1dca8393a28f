#include "device_model/control/umad/packet_rest.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace urnic::control {

// Only files on tmpfs and hugetlbfs answer at all, with or without seals, and those are in memory. Others are
// not asked anything more, as a FUSE daemon might never answer.
std::optional<std::size_t> rest_bytes(int file) {
  struct stat status {};
  if (fcntl(file, F_GET_SEALS) < 0 || fstat(file, &status) != 0 || status.st_size < 0) return {};
  return static_cast<std::size_t>(status.st_size);
}

bool read_rest(int file, std::span<std::byte> part, std::size_t offset) {
  auto at = static_cast<off_t>(offset);
  while (!part.empty()) {
    const ssize_t got = pread(file, part.data(), part.size(), at);
    if (got == 0 || (got < 0 && errno != EINTR)) return false;
    if (got < 0) continue;
    at += got;
    part = part.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace urnic::control
