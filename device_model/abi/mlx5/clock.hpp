// The two pages by which libmlx5 reads the device's clock without a system call: the clock itself, and what
// makes wall time of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "device_model/abi/mlx5/big_endian.hpp"

namespace urnic::abi::mlx5 {

// The clock's ticks are nanoseconds.
inline constexpr std::uint64_t kTicksPerMillisecond = 1'000'000;

// libmlx5 reads the upper half, the lower half, and the upper half again (mlx5_read_clock).
class SharedClock {
 public:
  void store(std::uint64_t ticks) { stored_.store(big_endian(ticks), std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> stored_;
};
static_assert(sizeof(SharedClock) == 8);

// Wall time is `nanoseconds` + ((ticks - `at`) * `multiplier` + `fraction`) >> `shift`, and a tick earlier
// than `at` counts backwards (mlx5dv_ts_to_ns). Numbers are in the host's order. While `sequence` is odd the
// device writes; it changes with each write.
struct ClockInfo {
  std::atomic<std::uint32_t> sequence;
  std::uint32_t reserved;
  std::atomic<std::uint64_t> nanoseconds;
  std::atomic<std::uint64_t> at;
  std::uint64_t fraction;
  std::uint32_t multiplier;
  std::uint32_t shift;
  std::uint64_t mask;    // of a tick
  std::uint64_t period;  // nanoseconds within which the page is written again
};
static_assert(sizeof(ClockInfo) == 56 && offsetof(ClockInfo, nanoseconds) == 8);
static_assert(offsetof(ClockInfo, multiplier) == 32 && offsetof(ClockInfo, mask) == 40);

}  // namespace urnic::abi::mlx5
