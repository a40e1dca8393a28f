#include "provider/plugin/empty_polls.hpp"

#include <algorithm>

namespace urnic::provider {

std::int64_t EmptyPolls::nap_at(std::int64_t now) {
  if (rest_ended_ != 0) only_polls_ = now - rest_ended_ < kElsewhere;
  rest_began_ = now;
  napping_ = only_polls_ && naps_left_ > 0;
  if (!napping_) return 0;
  const std::int64_t nap = nap_;
  nap_ = std::min(nap * 2, kLongestNap);
  --naps_left_;
  return nap;
}

void EmptyPolls::rested(std::int64_t now) {
  rest_ended_ = now;
  if (napping_) return;
  const std::int64_t yield = now - rest_began_;
  waited_ += yield;
  if (yield >= kLongYield) lost_ += yield;
  if (waited_ < window_) return;
  const bool crowded = lost_ * kLostShare >= waited_;
  naps_left_ = crowded ? naps_next_ : 0;
  naps_next_ = crowded ? std::min(naps_next_ * 2, kMostNaps) : kFewestNaps;
  window_ = crowded ? kNextWindow : kWindow;
  waited_ = lost_ = 0;
}

EmptyPolls& empty_polls() {
  static thread_local EmptyPolls of_this_thread;
  return of_this_thread;
}

}  // namespace urnic::provider
