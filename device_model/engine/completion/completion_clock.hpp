// The clock by which CQEs have their times, where programs can read it, too.
#pragma once

#include <cstdint>

namespace urnic::engine {

// Engine thread only.
class CompletionClock {
 public:
  CompletionClock() = default;
  virtual ~CompletionClock() = default;
  CompletionClock(const CompletionClock&) = delete;
  CompletionClock& operator=(const CompletionClock&) = delete;

  // The time now, in ticks. A program that reads the clock later reads no earlier time.
  virtual std::uint64_t now() = 0;
  // The same of the time that this round goes by, which costs no look at the clock.
  virtual std::uint64_t of_round() = 0;
};

}  // namespace urnic::engine
