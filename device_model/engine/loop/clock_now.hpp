// The clock that the device goes by.
#pragma once

#include <cstdint>
#include <ctime>

#include "device_model/transport/time.hpp"

namespace urnic::engine {

inline transport::Time clock_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return transport::Time(transport::Nanoseconds(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec));
}

}  // namespace urnic::engine
