// What a thread does after an empty poll. At first nothing: a completion is often only a few polls away. Then
// it yields the processor after every poll, which costs little where another thread is about to finish.
//
// With more polling threads than processors, yielding is not enough: the polling threads get as much
// processor time as the engine, for which they all wait (device_model/engine/loop/starvation.hpp). When the
// engine says that it is starved, a thread that only polls sleeps (a nap), about as long as a completion
// takes.
#pragma once

#include <cstdint>

namespace urnic::provider {

class EmptyPolls {
 public:
  // So many empty polls take about as long as one read of memory that another processor has written. So a
  // thread with a processor of its own loses nothing.
  static constexpr std::uint32_t kBeforeYield = 16;
  // All durations are nanoseconds. How long a thread yields before the first nap of a row of empty polls.
  // Short for a thread that finds several completions at a time: it will find as many later. A thread that
  // finds one at a time may be waiting for exactly that one.
  static constexpr std::int64_t kBeforeNapAmongMany = 5'000;
  static constexpr std::int64_t kBeforeNap = 200'000;
  static constexpr std::int64_t kShortestNap = 50'000;
  static constexpr std::int64_t kLongestNap = 800'000;
  // A thread that takes longer between two empty polls also does other work.
  static constexpr std::int64_t kElsewhere = 10'000;

  // A poll found `completions` completions.
  void found(std::uint32_t completions);
  // A poll found nothing. Returns the number of empty polls in a row.
  std::uint32_t count() { return ++in_a_row_; }

  // After more than kBeforeYield empty polls, at `now` (any one clock): how long to sleep, or 0 to yield.
  // `starved`: abi::EngineStatus::starved.
  std::int64_t nap_at(std::int64_t now, bool starved);
  // The thread has slept or yielded until `now`. Both are called a rest below.
  void rested(std::int64_t now) { rest_ended_ = now; }

 private:
  std::uint32_t in_a_row_ = 0;       // empty polls
  std::uint32_t found_ = 0;          // completions since the last row with a rest
  bool among_many_ = false;          // there were several of them before this row
  std::int64_t nap_ = kShortestNap;  // length of the last nap
  bool napped_ = false;              // in this row
  std::int64_t row_began_ = 0;       // the first rest of this row; 0: none yet
  std::int64_t rest_ended_ = 0;      // end of the last rest
};

// The running thread's state.
EmptyPolls& empty_polls();

}  // namespace urnic::provider
