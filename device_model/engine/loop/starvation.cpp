#include "device_model/engine/loop/starvation.hpp"

#include <algorithm>

namespace urnic::engine {

using transport::Nanoseconds;
using transport::Time;

void Starvation::looked(Time now, bool worked) {
  const Time before = looked_;
  const bool had_work = worked || worked_;
  looked_ = now;
  worked_ = worked;
  if (starved_) {
    if (now >= until_) starved_ = false;
    return;
  }
  if (before == Time{} || !had_work) return;
  const Nanoseconds passed = now - before;
  waited_ += passed;
  if (passed >= kLongRound) lost_ += passed;
  // Just after `starved` was cleared, one lost time slice is enough to set it again.
  if (waited_ >= kWindow || (again_ && lost_ * kLostShare >= kWindow)) judge(now);
}

void Starvation::judge(Time now) {
  starved_ = again_ = lost_ * kLostShare >= std::min(waited_, kWindow);
  waited_ = lost_ = Nanoseconds{0};
  if (!starved_) {
    period_ = kShortestPeriod;
    return;
  }
  until_ = now + period_;
  period_ = std::min(period_ * 2, kLongestPeriod);
}

}  // namespace urnic::engine
