#include "device_model/transport/congestion/swift.hpp"

#include <algorithm>
#include <cmath>

namespace urnic::transport {

namespace {

// How long the shortest round trip counts.
constexpr Nanoseconds kPeriod = std::chrono::seconds(10);
// A window begins with so many packets, as TCP's does (RFC 6928), but with no more than what the line sends
// in this time: where many begin together, more would fill the queue before anything is measured. It is never
// longer than what the line sends in that one.
constexpr double kFirstPackets = 10;
constexpr Nanoseconds kFirstWindow{10'000};
constexpr Nanoseconds kLongestWindow{1'000'000};
// Between two drains there is this time, and so many round trips of an empty path; a drain takes two round
// trips, but no more than a tenth of that, and this. A process that was stopped measures a round trip of
// seconds.
constexpr Nanoseconds kDrainInterval{20'000'000};
constexpr std::int64_t kDrainRoundTrips = 200;
constexpr Nanoseconds kDrainTime{50'000};

}  // namespace

void Swift::start(std::uint32_t packet_bytes, Time now) {
  packet_bytes_ = packet_bytes;
  const double packets_per_nanosecond = settings_.line.gbps() / 8 / packet_bytes_;
  most_ = packets_per_nanosecond * static_cast<double>(kLongestWindow.count());
  window_ = std::min(kFirstPackets, packets_per_nanosecond * static_cast<double>(kFirstWindow.count()));
  never_full_ = true;
  round_trip_ = shortest_ = shortest_before_ = Nanoseconds{0};
  period_ends_ = now + kPeriod;
  decreased_ = drained_until_ = Time{};
  timeouts_ = 0;
  marks_ = 0;
  clamp();
}

void Swift::measure(Nanoseconds round_trip, Time now) {
  if (!measured() || round_trip < shortest_)
    drain_at_ = now + std::max(kDrainInterval, kDrainRoundTrips * round_trip);
  round_trip_ = round_trip;
  if (now >= period_ends_) {
    shortest_before_ = shortest_;
    shortest_ = round_trip;
    period_ends_ = now + kPeriod;
  }
  shortest_ = measured() ? std::min(shortest_, round_trip) : round_trip;
}

// Who begins while others keep a queue takes that for a part of the path: its target is longer than theirs,
// and the queue that it keeps leaves nothing to them. So the queue must become empty now and then, for which
// all must hold back at once. Each does so regularly, and anew that long after it has seen a round trip that
// is shorter than any before, because then another has: so they come to do it together, as BBR's senders do
// (Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016, ProbeRTT).
void Swift::consider_drain(Time now) {
  if (now < drain_at_) return;
  const Nanoseconds interval = std::max(kDrainInterval, kDrainRoundTrips * shortest_);
  drain_at_ = now + interval;
  if (round_trip_ < shortest_ + settings_.rtt.headroom / 2) return;
  drained_until_ = now + std::min(2 * round_trip_, interval / 10) + kDrainTime;
}

// Section 3.5: flows with small windows share the path with many others, and may fill its queues more. The
// target grows with 1 / sqrt(window) from `scaling_to` down to `scaling_from`.
Nanoseconds Swift::target_delay() const {
  const RttSettings& own = settings_.rtt;
  const bool two = shortest_before_ != Nanoseconds{0};
  const Nanoseconds target = (two ? std::min(shortest_, shortest_before_) : shortest_) + own.headroom;
  if (own.scaling_from >= own.scaling_to) return target;
  const double from = 1 / std::sqrt(own.scaling_from);
  const double to = 1 / std::sqrt(own.scaling_to);
  const double place = std::clamp((1 / std::sqrt(window_) - to) / (from - to), 0.0, 1.0);
  const auto scaled = static_cast<std::int64_t>(place * static_cast<double>(own.flow_scaling.count()));
  return target + Nanoseconds(scaled);
}

void Swift::acknowledged(const AcknowledgedBytes& acknowledged, Time now) {
  timeouts_ = 0;
  const bool is_measured = acknowledged.round_trip != Nanoseconds{0};
  if (is_measured) measure(acknowledged.round_trip, now);
  if (is_measured) consider_drain(now);
  const Nanoseconds target = target_delay();
  if (round_trip_ >= target) {
    const double over =
        static_cast<double>((round_trip_ - target).count()) / static_cast<double>(round_trip_.count());
    if (is_measured) decrease(settings_.rtt.decrease * over, now);
    return;
  }
  // A window that was not used says nothing about what the path can take.
  const auto used = static_cast<double>(acknowledged.under_way + acknowledged.bytes);
  if (used < window_ * packet_bytes_ / 2) return;
  const double packets = static_cast<double>(acknowledged.bytes) / packet_bytes_;
  // The first time it doubles in each round trip (RFC 5681, section 3.1): the path may be much longer.
  window_ += never_full_ ? packets : settings_.rtt.additive * packets / std::max(window_, 1.0);
  clamp();
}

// At most once in a round trip, and at most by `most_decrease`.
void Swift::decrease(double part, Time now) {
  never_full_ = false;
  if (!may_decrease(now)) return;
  window_ *= 1 - std::min(part, settings_.rtt.most_decrease);
  decreased_ = now;
  clamp();
}

void Swift::marked(Time now) {
  ++marks_;
  decrease(settings_.rtt.decrease / 2, now);
}

void Swift::lost(Time now) {
  timeouts_ = 0;
  if (settings_.rtt.loss_is_congestion || round_trip_ >= target_delay())
    decrease(settings_.rtt.most_decrease, now);
}

bool Swift::timed_out(Time now) {
  if (++timeouts_ < settings_.rtt.timeouts) {
    decrease(settings_.rtt.most_decrease, now);
    return false;
  }
  never_full_ = false;
  window_ = settings_.rtt.least_window;
  decreased_ = now;
  return true;
}

// Slow restart: the path may have changed. As many packets as the restart's rate sends in a round trip.
bool Swift::woken(Time) {
  if (!settings_.slow_restart || !measured()) return false;
  const double packets =
      settings_.restart.gbps() / 8 * static_cast<double>(shortest_.count()) / packet_bytes_;
  if (window_ <= std::max(packets, 1.0)) return false;
  window_ = std::max(packets, 1.0);
  clamp();
  return true;
}

void Swift::clamp() { window_ = std::clamp(window_, settings_.rtt.least_window, most_); }

// Section 3.2: below one packet the window is one packet, and packets are a round trip / window apart.
SendAllowance Swift::allowance(Time now) {
  SendAllowance allowed{.window = window_bytes()};
  if (now < drained_until_) allowed.window = static_cast<std::uint64_t>(packet_bytes_);
  if (!measured()) allowed.measured = 1;
  if (window_ < 1 && measured()) {
    const double apart = static_cast<double>(round_trip_.count()) / window_;
    allowed.rate = std::max(settings_.least, SendRate::gbps(8 * packet_bytes_ / apart));
  }
  return allowed;
}

std::uint64_t Swift::window_bytes() const {
  return static_cast<std::uint64_t>(std::max(window_, 1.0) * packet_bytes_);
}

CongestionSnapshot Swift::snapshot() const {
  CongestionSnapshot now{.algorithm = CongestionAlgorithm::rtt};
  now.allowance.window = window_bytes();
  now.target_delay = target_delay();
  now.round_trip = round_trip_;
  now.marks = marks_;
  return now;
}

}  // namespace urnic::transport
