// What is measured in the incast laboratory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/unit/congestion/incast.hpp"

namespace urnic::transport::lab {

// Of flows that all have been started.
struct IncastFigures {
  double utilisation = 0;  // data that arrived, as a share of what the line can carry
  double fairness = 0;     // Jain's index of the flows' goodput: 1 if all are equal, 1 / N if one has all
  double mean_queue = 0;   // bytes
  std::uint64_t p99_queue = 0;  // bytes
  std::uint64_t drops = 0;      // at the queue's end
  std::uint64_t marks = 0;
  std::vector<double> goodput;  // of each flow, as a share of what the line can carry
};

// (sum of x)^2 / (n * sum of x^2).
double jain(const std::vector<double>& values);

// For the next `window`.
IncastFigures measure(Incast& incast, Nanoseconds window);

// All flows start together; the figures are of `window` after `before`.
IncastFigures measure(const IncastSettings& settings, Nanoseconds before, Nanoseconds window);

// Goodput is averaged over this time where moments count.
inline constexpr Nanoseconds kAverage{2'000'000};

// `settings.flows` - 1 flows run for `before`, then the last one starts. How long it takes until its share is
// within 20 % of the fair one for an average's time, to the beginning of that; empty: more than `limit`.
std::optional<Nanoseconds> time_to_join(const IncastSettings& settings, Nanoseconds before,
                                        Nanoseconds limit);
// All flows run for `before`, then every second one leaves. How long it takes until the others have had 95 %
// of the line for an average's time, to the beginning of that.
std::optional<Nanoseconds> time_to_take_over(const IncastSettings& settings, Nanoseconds before,
                                             Nanoseconds limit);

}  // namespace urnic::transport::lab
