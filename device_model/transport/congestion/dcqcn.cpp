#include "device_model/transport/congestion/dcqcn.hpp"

#include <algorithm>

namespace urnic::transport {

namespace {

// Behind that many steps alpha is as good as zero, and a rate has long reached the line's: after a long
// silence there is nothing more to work out.
constexpr int kMostSteps = 10'000;

}  // namespace

void Dcqcn::start(std::uint32_t, Time now) {
  rate_ = target_ = settings_.line;
  alpha_ = settings_.dcqcn.initial_alpha;
  never_marked_ = true;
  mark_waits_ = false;
  may_decrease_ = now;
  marks_ = 0;
  begin_recovery(now);
}

void Dcqcn::begin_recovery(Time now) {
  timer_ = now + settings_.dcqcn.increase_interval;
  bytes_ = 0;
  timer_events_ = byte_events_ = 0;
}

void Dcqcn::sent(std::uint64_t bytes, Time now) {
  let_pass(now);
  if (!reacts() || settings_.dcqcn.increase_bytes == 0) return;
  bytes_ += bytes;
  if (bytes_ < settings_.dcqcn.increase_bytes) return;
  bytes_ -= settings_.dcqcn.increase_bytes;
  ++byte_events_;
  increase();
}

// Notifications that come faster than decreases are allowed count as one more when that time is over, as
// ConnectX's rate_reduce_monitor_period has it.
void Dcqcn::marked(Time now) {
  let_pass(now);
  ++marks_;
  if (now >= may_decrease_) return decrease(now);
  mark_waits_ = true;
}

// Equation 1: the target becomes the rate, the rate falls by alpha / 2, alpha rises. The first notification
// finds the first alpha.
void Dcqcn::decrease(Time now) {
  const DcqcnSettings& own = settings_.dcqcn;
  // While the last recovery has not begun, its target still tells how fast the path was.
  const bool recovered = timer_events_ != 0 || byte_events_ != 0;
  if (own.clamp_target || recovered || never_marked_) target_ = rate_;
  rate_ = std::max(settings_.least, rate_ * (1 - std::min(alpha_ / 2, own.most_decrease)));
  if (!never_marked_) alpha_ = (1 - own.alpha_gain) * alpha_ + own.alpha_gain;
  never_marked_ = false;
  mark_waits_ = false;
  alpha_falls_ = now + own.alpha_interval;
  may_decrease_ = now + own.decrease_interval;
  begin_recovery(now);
}

void Dcqcn::let_pass(Time now) {
  if (mark_waits_ && now >= may_decrease_) decrease(may_decrease_);
  let_alpha_fall(now);
  for (int steps = 0; reacts() && now >= timer_; timer_ += settings_.dcqcn.increase_interval) {
    if (++steps > kMostSteps) {
      timer_ = now;
      continue;
    }
    ++timer_events_;
    increase();
  }
}

// Equation 2.
void Dcqcn::let_alpha_fall(Time now) {
  if (never_marked_) return;
  for (int steps = 0; now >= alpha_falls_; alpha_falls_ += settings_.dcqcn.alpha_interval) {
    if (++steps > kMostSteps) {
      alpha_falls_ = now;
      continue;
    }
    alpha_ *= 1 - settings_.dcqcn.alpha_gain;
  }
}

// Fast recovery, additive increase, hyper increase; in each the rate goes half the way to the target
// (equations 3 and 4).
void Dcqcn::increase() {
  const DcqcnSettings& own = settings_.dcqcn;
  if (std::min(timer_events_, byte_events_) > own.fast_recoveries) {
    const std::uint32_t beyond = std::min(timer_events_, byte_events_) - own.fast_recoveries;
    target_ = target_ + own.hyper * static_cast<double>(beyond);
  } else if (std::max(timer_events_, byte_events_) > own.fast_recoveries) {
    target_ = target_ + own.additive;
  }
  target_ = std::min(target_, settings_.line);
  rate_ = (rate_ + target_) * 0.5;
  // Halving the distance never ends.
  if (rate_ > settings_.line * 0.999) rate_ = settings_.line;
}

// Slow restart. The timer brings it back like any other decrease.
bool Dcqcn::woken(Time now) {
  let_pass(now);
  if (!settings_.slow_restart || rate_ <= settings_.restart) return false;
  target_ = rate_;
  rate_ = std::max(settings_.least, settings_.restart);
  begin_recovery(now);
  return true;
}

SendAllowance Dcqcn::allowance(Time now) {
  let_pass(now);
  return {.rate = rate_};
}

CongestionSnapshot Dcqcn::snapshot() const {
  CongestionSnapshot now{.algorithm = CongestionAlgorithm::dcqcn};
  now.allowance.rate = rate_;
  now.target_rate = target_;
  now.alpha = alpha_;
  now.marks = marks_;
  return now;
}

}  // namespace urnic::transport
