// Time in the transport: points on a clock that the caller reads, and spans in nanoseconds.
#pragma once

#include <chrono>

namespace urnic::transport {

using Nanoseconds = std::chrono::nanoseconds;

// The device's monotonic clock. It has no now(): the transport is handed the time with every call, so that
// the same code runs under virtual time.
struct DeviceClock {
  using duration = Nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<DeviceClock>;
  static constexpr bool is_steady = true;
};
using Time = DeviceClock::time_point;

}  // namespace urnic::transport
