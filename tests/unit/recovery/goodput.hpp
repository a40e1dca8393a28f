// How much data arrives per time in the long run: messages of 1 MiB, always more posted than the window
// holds.
#pragma once

#include <cstdint>

#include "tests/unit/recovery/experiment.hpp"

namespace urnic::transport::lab {

inline constexpr std::uint32_t kGoodputMessage = 1u << 20;

struct Goodput {
  double bits_per_second = 0;  // of data, between two completions
  std::uint64_t messages = 0;  // that the figure is taken from
  bool gave_up = false;        // the queue pair ended with an error: the figure is of the time before
  double sent_twice = 0;       // data packets sent again, as a share of those needed
  std::uint64_t timeouts = 0;  // of the local ACK timer
  std::uint64_t events = 0;    // that the laboratory went through
};

// Runs for `duration` of virtual time, and longer, up to 50 times that, until at least `least_messages` are
// complete or three million things have happened.
Goodput measure_goodput(const Experiment& experiment, Nanoseconds duration,
                        std::uint64_t least_messages = 12);

// `goodput` as a share of what the link could carry at this loss: (1 - p) times `lossless`, both in bits per
// second.
double share(double goodput, double lossless, const Experiment& experiment);

}  // namespace urnic::transport::lab
