// What an engine that others wake (with sockets, or with UAR pages) does when other threads want its
// processor.
//
// Where most of the time goes into yields that take as long as another thread's time slice, the engine sleeps
// instead of yielding for a while, because a thread that is woken has a processor sooner than one that
// yields. A single one of them tells nothing: programs that poll and other engines give the processor back at
// once, and sleeping makes each packet wait until the engine is woken.
//
// The kernel likes to wake the receiver of a packet on its sender's processor. Two device processes of one
// machine that exchange packets then share a processor and take turns, while another one has less to do. Each
// turn is short, but the engine is ready to run for much longer than it runs. So it avoids this processor for
// a while. Chance decides whether it does at once, because the other engine sees the same and must not
// follow.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/engine/loop/processor_share.hpp"
#include "device_model/engine/loop/starvation.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class Crowding {
 public:
  // Longer than another engine's round.
  static constexpr transport::Nanoseconds kLongYield = Starvation::kLongRound;
  // The engine sleeps where long yields take a half of a window.
  static constexpr int kYieldedShare = 2;
  // Among threads that poll without yielding, a yield that takes this long was a part of such a thread's
  // slice.
  static constexpr transport::Nanoseconds kYieldToPoller{50'000};
  // How long the engine sleeps instead of yielding.
  static constexpr transport::Nanoseconds kSleepPeriod{100'000'000};
  // How often the engine looks at its share of the processor.
  static constexpr transport::Nanoseconds kWindow{10'000'000};
  // Crowded: ready for a quarter of the window at least, and waiting for a fifth of that, in so many windows.
  static constexpr int kReadyShare = 4;
  static constexpr int kWaitedShare = 5;
  static constexpr int kCrowdedWindows = 2;
  // The least time between two moves. It doubles while moves do not help, which is so where all processors
  // have too much to do.
  static constexpr transport::Nanoseconds kShortestStay{20'000'000};
  static constexpr transport::Nanoseconds kLongestStay{5'120'000'000};
  // How long a processor is avoided.
  static constexpr transport::Nanoseconds kAvoided{5'000'000'000};

  enum class Advice : std::uint8_t { nothing, avoid_this_processor, avoid_none };

  // The engine yielded from `begin` to `end`.
  void yielded(transport::Time begin, transport::Time end);
  // The same among threads that never yield while they poll: one long yield is enough.
  void yielded_to_pollers(transport::Time begin, transport::Time end);
  // The engine had better sleep than yield.
  bool sleeps(transport::Time now) const { return now < sleeps_until_; }
  // True where the share is due, which `judge` then takes.
  bool is_due(transport::Time now) const { return now - window_began_ >= kWindow; }
  // `share`: of this thread, up to `now`; `chance`: true in half of the calls.
  Advice judge(transport::Time now, const ProcessorShare& share, bool chance);

 private:
  bool is_crowded(transport::Nanoseconds window, const ProcessorShare& share);

  transport::Time window_began_{};
  ProcessorShare before_{};
  int crowded_windows_ = 0;
  transport::Time stays_until_{};
  transport::Nanoseconds stay_ = kShortestStay;
  std::optional<transport::Time> avoids_until_;
  // Of the window of yields: `judge` is not called where the kernel does not tell shares.
  transport::Time yields_began_{};
  transport::Nanoseconds long_yields_{0};  // in that window
  transport::Time sleeps_until_{};
};

}  // namespace urnic::engine
