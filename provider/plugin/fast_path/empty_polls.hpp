// What a thread does that polls in vain. At first nothing: the answer is a few looks away. Then it gives the
// processor away with every poll, which costs little where another thread is about to finish.
//
// Where more threads poll than there are processors, that is not enough: those who only look get as much of
// the processors as the engine, for which they all wait (device_model/engine/loop/starvation.hpp). When the
// engine says that it starves, a thread that does nothing but poll sleeps instead, about as long as it takes
// until there is something to find.
#pragma once

#include <cstdint>

namespace urnic::provider {

class EmptyPolls {
 public:
  // About what one look at memory written by another processor costs, so that a free processor loses nothing.
  static constexpr std::uint32_t kBeforeYield = 16;
  // How long a thread gives way before the first nap of a row. Not for long where it finds several
  // completions at a time, because it will find as many later; who finds one at a time may be waiting for
  // just that one.
  static constexpr std::int64_t kBeforeNapAmongMany = 5'000;
  static constexpr std::int64_t kBeforeNap = 200'000;
  static constexpr std::int64_t kShortestNap = 50'000;
  static constexpr std::int64_t kLongestNap = 800'000;
  // A thread that is away for longer between two empty polls does something else, too.
  static constexpr std::int64_t kElsewhere = 10'000;

  // A poll found so many completions.
  void found(std::uint32_t completions);
  // Another one found nothing. Returns how many that are in a row.
  std::uint32_t count() { return ++in_a_row_; }

  // All times are of one clock, in nanoseconds. At `now`, behind kBeforeYield empty polls: how long to sleep,
  // or 0 to give the processor away. `starved` is what the engine says.
  std::int64_t nap_at(std::int64_t now, bool starved);
  // That is done.
  void rested(std::int64_t now) { rest_ended_ = now; }

 private:
  std::uint32_t in_a_row_ = 0;
  std::uint32_t found_ = 0;          // since the last row in which it rested
  bool among_many_ = false;          // of which there were several, as this row began
  std::int64_t nap_ = kShortestNap;  // the last one's length
  bool napped_ = false;              // in this row
  std::int64_t row_began_ = 0;       // when it first rested in this row; 0: it has not
  std::int64_t rest_ended_ = 0;      // the last in this row
};

// The running thread's.
EmptyPolls& empty_polls();

}  // namespace urnic::provider
