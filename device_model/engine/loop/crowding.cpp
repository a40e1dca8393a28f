#include "device_model/engine/loop/crowding.hpp"

#include <algorithm>

namespace urnic::engine {

void Crowding::yielded(transport::Time begin, transport::Time end) {
  if (end - yields_began_ > kWindow) {
    yields_began_ = begin;
    long_yields_ = {};
  }
  if (end - begin <= kLongYield) return;
  long_yields_ += end - begin;
  if (long_yields_ * kYieldedShare >= kWindow) sleeps_until_ = end + kSleepPeriod;
}

void Crowding::yielded_to_pollers(transport::Time begin, transport::Time end) {
  if (end - begin > kYieldToPoller) sleeps_until_ = end + kSleepPeriod;
}

// A window much longer than asked for: the engine slept in it, and had time enough.
bool Crowding::is_crowded(transport::Nanoseconds window, const ProcessorShare& share) {
  const transport::Nanoseconds waited = share.waited - before_.waited;
  const transport::Nanoseconds ready = share.ran - before_.ran + waited;
  before_ = share;
  return window <= 2 * kWindow && ready * kReadyShare >= window && waited * kWaitedShare >= ready;
}

Crowding::Advice Crowding::judge(transport::Time now, const ProcessorShare& share, bool chance) {
  crowded_windows_ = is_crowded(now - window_began_, share) ? crowded_windows_ + 1 : 0;
  window_began_ = now;
  if (crowded_windows_ == 0) stay_ = kShortestStay;
  if (crowded_windows_ >= kCrowdedWindows && now >= stays_until_ && chance) {
    crowded_windows_ = 0;
    stays_until_ = now + stay_;
    stay_ = std::min(2 * stay_, kLongestStay);
    avoids_until_ = now + kAvoided;
    sleeps_until_ = now;
    return Advice::avoid_this_processor;
  }
  if (!avoids_until_ || now < *avoids_until_) return Advice::nothing;
  avoids_until_.reset();
  return Advice::avoid_none;
}

}  // namespace urnic::engine
