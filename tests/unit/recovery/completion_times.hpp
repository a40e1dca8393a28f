// How long a message takes when messages are sent one after another: each is posted when the one before is
// complete.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/unit/recovery/experiment.hpp"

namespace urnic::transport::lab {

// The times of `messages` messages of `length` bytes, in order; fewer if the queue pair gave up.
std::vector<Nanoseconds> completion_times(const Experiment& experiment, std::uint32_t length,
                                          std::uint32_t messages);

// What one of them takes when nothing is lost, without the first few: before the first answer the requester
// has no credits.
Nanoseconds lossless_completion_time(Experiment experiment, std::uint32_t length);

// The smallest of `times` that at least the share `part` of them does not exceed. `times` must not be empty.
Nanoseconds percentile(std::vector<Nanoseconds> times, double part);

}  // namespace urnic::transport::lab
