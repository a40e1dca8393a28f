// Whether the engine gets less of the processors than its work needs, because others take them.
//
// Programs that poll in vain look as busy to the scheduler as the engine does, for which they all wait, and
// where it shares the processors among sessions (autogroups) giving way to the engine means nothing. It shows
// by rounds that take as long as another thread's time slice. The engine says so in its status page, and
// pollers sleep between their polls instead of looking on (abi/doorbells.hpp).
#pragma once

#include "device_model/transport/time.hpp"

namespace urnic::engine {

class Starvation {
 public:
  // Much longer than a round takes; several times shorter than a time slice.
  static constexpr transport::Nanoseconds kLongRound{400'000};
  // A quarter of so much work's time lost in long rounds is starving. Less is the machine's own: an
  // interrupt, a guest that did not run, a page that was slow to come.
  static constexpr transport::Nanoseconds kWindow{10'000'000};
  static constexpr int kLostShare = 4;
  // For how long it is then said, before another look at how it goes without: longer each time that it is
  // the same again.
  static constexpr transport::Nanoseconds kShortestWord{20'000'000};
  static constexpr transport::Nanoseconds kLongestWord{1'280'000'000};

  // The engine looked for work at `now`, which rises, and `worked` if there was some. What lies between two
  // looks is the first one's work, and for how long the engine was away then.
  void looked(transport::Time now, bool worked);
  // It slept of its own will since it looked.
  void slept() { looked_ = {}; }

  bool starved() const { return starved_; }
  // When the word ends; of meaning while `starved`.
  transport::Time until() const { return until_; }

 private:
  void judge(transport::Time now);

  bool starved_ = false;
  bool again_ = false;                // it has been said, and not yet seen to be over
  bool worked_ = false;               // at the look before
  transport::Time looked_{};          // when that was; 0: there was none since it slept
  transport::Nanoseconds waited_{0};  // in this window: time with work to do
  transport::Nanoseconds lost_{0};    // of which in long rounds
  transport::Nanoseconds word_ = kShortestWord;
  transport::Time until_{};
};

}  // namespace urnic::engine
