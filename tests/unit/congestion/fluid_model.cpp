#include "tests/unit/congestion/fluid_model.hpp"

#include <algorithm>
#include <cmath>

namespace urnic::transport::lab {

namespace {

constexpr double kStepSeconds = 1e-6;

// p / ((1 - p)^-n - 1): how often in a packet's time n packets in a row pass unmarked.
double unmarked_runs(double marked, double packets) {
  if (marked < 1e-9) return 1 / packets;
  if (marked > 1 - 1e-9) return 0;
  return marked / std::expm1(-packets * std::log1p(-marked));
}

// (1 - p)^n.
double none_of(double marked, double packets) {
  if (marked > 1 - 1e-9) return 0;
  return std::exp(packets * std::log1p(-marked));
}

}  // namespace

FluidModel::FluidModel(const FluidSettings& settings)
    : settings_(settings),
      past_marking_(static_cast<std::size_t>(std::lround(settings.control_delay / kStepSeconds)), 0.0) {}

void FluidModel::add_flow() {
  const double line = settings_.line / settings_.packet;
  flows_.push_back({1, line, line, std::vector<double>(past_marking_.size(), line)});
}

double FluidModel::share(std::size_t flow) const {
  return flows_[flow].rate * settings_.packet / settings_.line;
}

// Equation 5.
double FluidModel::marking() const {
  if (queue_ <= settings_.marking_from) return 0;
  if (queue_ > settings_.marking_to) return 1;
  return (queue_ - settings_.marking_from) / (settings_.marking_to - settings_.marking_from) *
         settings_.probability;
}

// Equations 7 to 9; `marked` and `before` are p and R_C of a control delay ago.
void FluidModel::step(Flow& flow, double marked, double before) const {
  const FluidSettings& own = settings_;
  const double notified = 1 - none_of(marked, own.notification * before);
  const double bytes = own.byte_counter / own.packet;
  const double ticks = own.timer * before;
  const double by_bytes = before * unmarked_runs(marked, bytes);
  const double by_timer = before * unmarked_runs(marked, ticks);
  const double additive = own.additive / own.packet;
  const double gap = flow.target - flow.rate;
  const double alpha =
      own.gain / own.alpha_interval * ((1 - none_of(marked, own.alpha_interval * before)) - flow.alpha);
  const double target = -gap / own.notification * notified +
                        additive * none_of(marked, own.fast_recoveries * bytes) * by_bytes +
                        additive * none_of(marked, own.fast_recoveries * ticks) * by_timer;
  const double rate =
      -flow.rate * flow.alpha / (2 * own.notification) * notified + gap / 2 * (by_bytes + by_timer);
  const double line = own.line / own.packet;
  flow.alpha += alpha * kStepSeconds;
  flow.target = std::min(flow.target + target * kStepSeconds, line);
  flow.rate = std::clamp(flow.rate + rate * kStepSeconds, line / 4000, line);
}

void FluidModel::run_for(double seconds) {
  for (auto steps = std::lround(seconds / kStepSeconds); steps > 0; --steps) {
    const double marked = past_marking_[place_];
    past_marking_[place_] = marking();
    double arriving = 0;
    for (Flow& flow : flows_) {
      const double before = flow.past[place_];
      flow.past[place_] = flow.rate;
      step(flow, marked, before);
      arriving += flow.rate * settings_.packet;
    }
    // Equation 6.
    queue_ = std::max(queue_ + (arriving - settings_.line) * kStepSeconds, 0.0);
    place_ = (place_ + 1) % past_marking_.size();
  }
}

}  // namespace urnic::transport::lab
