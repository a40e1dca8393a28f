#include "device_model/transport/congestion/timely.hpp"

#include <algorithm>

namespace urnic::transport {

namespace {

// The paper's largest segment, and the time in which a slow sender is to have measured, too: about one round
// trip.
constexpr double kLongestSegment = 64 * 1024;
constexpr double kSegmentTime = 20'000;  // nanoseconds
// The least factor of one decrease. Round trips that become several times as long within one, because many
// begin together, would take all of the rate.
constexpr double kMostDecrease = 0.5;

}  // namespace

// A sender that hardly ever measured would hardly ever become faster again.
std::uint64_t Timely::segment() const {
  return static_cast<std::uint64_t>(std::min(kLongestSegment, rate_.gbps() / 8 * kSegmentTime));
}

void Timely::start(std::uint32_t, Time now) {
  rate_ = settings_.line;
  shortest_ = previous_ = Nanoseconds{0};
  difference_ = 0;
  increases_ = 0;
  next_update_ = now;
  marks_ = 0;
}

// Once a round trip: the paper's rate is updated at each completion of a segment of 16 to 64 KB, which is
// about that.
void Timely::acknowledged(const AcknowledgedBytes& acknowledged, Time now) {
  const Nanoseconds round_trip = acknowledged.round_trip;
  if (round_trip == Nanoseconds{0} || now < next_update_) return;
  next_update_ = now + round_trip;
  shortest_ = shortest_ == Nanoseconds{0} ? round_trip : std::min(shortest_, round_trip);
  if (previous_ == Nanoseconds{0}) {
    previous_ = round_trip;
    return;
  }
  const TimelySettings& own = settings_.timely;
  const auto difference = static_cast<double>((round_trip - previous_).count());
  previous_ = round_trip;
  difference_ = (1 - own.smoothing) * difference_ + own.smoothing * difference;
  const double gradient = difference_ / static_cast<double>(shortest_.count());
  if (round_trip < own.low) return increase();
  if (round_trip > own.high)
    return decrease(1 - own.decrease * (1 - static_cast<double>(own.high.count()) /
                                                static_cast<double>(round_trip.count())));
  if (gradient <= 0) return increase();
  decrease(1 - own.decrease * gradient);
}

void Timely::increase() {
  const bool hyperactive = ++increases_ >= settings_.timely.increases;
  rate_ = rate_ + settings_.timely.additive * (hyperactive ? settings_.timely.increases : 1.0);
  rate_ = std::min(rate_, settings_.line);
}

void Timely::decrease(double factor) {
  increases_ = 0;
  rate_ = std::max(settings_.least, rate_ * std::max(factor, kMostDecrease));
}

bool Timely::woken(Time) {
  if (!settings_.slow_restart) return false;
  increases_ = 0;
  if (rate_ <= settings_.restart) return false;
  rate_ = std::max(settings_.least, settings_.restart);
  return true;
}

CongestionSnapshot Timely::snapshot() const {
  CongestionSnapshot now{.algorithm = CongestionAlgorithm::timely};
  now.allowance.rate = rate_;
  now.round_trip = previous_;
  now.marks = marks_;
  return now;
}

}  // namespace urnic::transport
