// Detects CPU starvation: the engine gets less processor time than it needs, because other threads take it.
//
// Programs that poll in vain look as busy to the scheduler as the engine that they wait for, and where
// processors are shared among sessions (autogroups) yielding to the engine has no effect. Starvation shows by
// rounds as long as another thread's time slice. The status page then says `starved`, and pollers sleep
// between polls (abi/doorbells.hpp).
#pragma once

#include "device_model/transport/time.hpp"

namespace urnic::engine {

class Starvation {
 public:
  // Much longer than a normal round; several times shorter than a time slice.
  static constexpr transport::Nanoseconds kLongRound{400'000};
  // Starved: a quarter of a window's work time is lost in long rounds. Smaller losses are the machine's own:
  // interrupts, a guest that is not scheduled, page faults.
  static constexpr transport::Nanoseconds kWindow{10'000'000};
  static constexpr int kLostShare = 4;
  // How long `starved` stays set before it is measured again; doubles while starvation lasts.
  static constexpr transport::Nanoseconds kShortestPeriod{20'000'000};
  static constexpr transport::Nanoseconds kLongestPeriod{1'280'000'000};

  // The engine looked for work at `now`, which never decreases; `worked`: there was some. The time until the
  // next look is that work's, and the time for which the engine was not scheduled.
  void looked(transport::Time now, bool worked);
  // The engine slept because it was idle.
  void slept() { looked_ = {}; }

  bool starved() const { return starved_; }
  // When `starved` is measured again; valid while `starved`.
  transport::Time until() const { return until_; }

 private:
  void judge(transport::Time now);

  bool starved_ = false;
  bool again_ = false;                // `starved` was set, and starvation is not yet seen to be over
  bool worked_ = false;               // at the look before
  transport::Time looked_{};          // time of the last look; 0: none since the engine slept
  transport::Nanoseconds waited_{0};  // in this window: time with work to do
  transport::Nanoseconds lost_{0};    // the part of it in long rounds
  transport::Nanoseconds period_ = kShortestPeriod;
  transport::Time until_{};
};

}  // namespace urnic::engine
