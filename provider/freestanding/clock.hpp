// Reads clocks without a C++ runtime library.
#pragma once

#include <time.h>

#include <cstdint>

namespace urnic::provider {

// Nanoseconds of `clock` (clock_gettime(2)).
inline std::int64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace urnic::provider
