// A program that waits for a page which the engine has taken away, in its userfaultfd.
#pragma once

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

namespace urnic::engine {

// Does not read the descriptor: a program may have made it one on which readers wait.
inline bool has_fault(int faults) {
  pollfd entry{.fd = faults, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

// The page, at `address` in the program, is there again.
inline void end_fault(int faults, std::uint64_t address, std::size_t page_bytes) {
  uffdio_range range{.start = address, .len = page_bytes};
  ioctl(faults, UFFDIO_WAKE, &range);
}

}  // namespace urnic::engine
