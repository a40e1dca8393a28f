// Files that urnic's libraries write in a program, which may have a limit (`ulimit -f`).
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace urnic::provider {

// Whether a file may be that long. A larger one, also in memory, would raise SIGXFSZ (setrlimit(2)).
inline bool may_write(std::uint64_t bytes) {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

}  // namespace urnic::provider
