// What a thread does that polls in vain. At first nothing: the answer is a few looks away. Then it gives the
// processor away with every poll, which costs little where another thread is about to finish.
//
// Where more threads poll than there are processors, that is not enough: those who only look get as much of
// the processors as the engine, for which they all wait, and between two sessions giving way means nothing
// where the scheduler shares among sessions (autogroups). It shows by the time for which a thread that gives
// way does not come back. One that loses much of its waiting so, and does nothing but poll, sleeps instead;
// never longer than it has waited already, so that no wait becomes more than twice as long.
#pragma once

#include <cstdint>

namespace urnic::provider {

class EmptyPolls {
 public:
  // About what one look at memory written by another processor costs, so that a free processor loses nothing.
  static constexpr std::uint32_t kBeforeYield = 16;
  // Several times what a switch to a thread and back takes that has little to do.
  static constexpr std::int64_t kLongYield = 100'000;
  // Crowded is where a quarter of so much waiting was lost in long yields. Less is the machine's own: an
  // interrupt, a guest that did not run.
  static constexpr std::int64_t kWindow = 20'000'000;
  static constexpr std::int64_t kLostShare = 4;
  static constexpr std::int64_t kNextWindow = 4'000'000;  // to see whether it is still so
  // Naps before the next window: more each time that it is still so.
  static constexpr std::uint32_t kFewestNaps = 64;
  static constexpr std::uint32_t kMostNaps = 2048;
  static constexpr std::int64_t kShortestNap = 50'000;
  static constexpr std::int64_t kLongestNap = 400'000;
  // A thread that is away for longer between two empty polls does something else, too.
  static constexpr std::int64_t kElsewhere = 10'000;

  // A poll found something.
  void found() {
    in_a_row_ = 0;
    nap_ = kShortestNap;
    rest_ended_ = 0;
  }
  // Another one found nothing. Returns how many that are in a row.
  std::uint32_t count() { return ++in_a_row_; }

  // All times are of one clock, in nanoseconds. At `now`, behind kBeforeYield empty polls: how long to sleep,
  // or 0 to give the processor away.
  std::int64_t nap_at(std::int64_t now);
  // That is done; it began at the time of `nap_at`.
  void rested(std::int64_t now);

 private:
  std::uint32_t in_a_row_ = 0;
  std::uint32_t naps_left_ = 0;
  std::uint32_t naps_next_ = kFewestNaps;
  std::int64_t window_ = kWindow;
  std::int64_t waited_ = 0;  // in this window
  std::int64_t lost_ = 0;
  bool only_polls_ = false;
  bool napping_ = false;
  std::int64_t nap_ = kShortestNap;
  std::int64_t rest_began_ = 0;
  std::int64_t rest_ended_ = 0;  // the last since something was found; 0: none
};

// The running thread's.
EmptyPolls& empty_polls();

}  // namespace urnic::provider
