// Pages of a file that a program has mapped: the engine takes one away, and the program's next access waits
// in its userfaultfd until the page is there again.
#pragma once

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

namespace urnic::engine {

inline constexpr std::size_t kTakenPageBytes = 4096;

// False: the kernel does not do it.
inline bool take_page(int file, std::size_t page) {
  const auto at = static_cast<off_t>(page * kTakenPageBytes);
  return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, kTakenPageBytes) == 0;
}

// Does not read the descriptor: a program may have made it one on which readers wait.
inline bool has_fault(int faults) {
  pollfd entry{.fd = faults, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

// The page, at `address` in the program, is there again.
inline void end_fault(int faults, std::uint64_t address) {
  uffdio_range range{.start = address, .len = kTakenPageBytes};
  ioctl(faults, UFFDIO_WAKE, &range);
}

}  // namespace urnic::engine
