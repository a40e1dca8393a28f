#include "tests/unit/recovery/goodput.hpp"

namespace urnic::transport::lab {
namespace {

// The first and the last completion that count. The first messages are left out: the pipe fills.
class Span final : public Observer {
 public:
  void completed(std::size_t at, const Completion& completion, Nanoseconds now) override {
    if (at != 0 || completion.receive || completion.status != WorkStatus::success) return;
    last_ = now;
    if (++messages_ == kWarmUp) first_ = now;
  }

  static constexpr std::uint64_t kWarmUp = 2;
  std::uint64_t messages() const { return messages_ > kWarmUp ? messages_ - kWarmUp : 0; }
  Nanoseconds length() const { return last_ - first_; }

 private:
  std::uint64_t messages_ = 0;
  Nanoseconds first_{0};
  Nanoseconds last_{0};
};

}  // namespace

Goodput measure_goodput(const Experiment& experiment, Nanoseconds duration, std::uint64_t least_messages) {
  constexpr std::uint32_t kEndless = 1u << 16;  // 64 GiB; all of it is flushed if the queue pair gives up
  constexpr int kMostDurations = 50;
  constexpr std::uint64_t kMostEvents = 3'000'000;
  Laboratory laboratory(laboratory_settings(experiment));
  Span span;
  laboratory.observe(&span);
  laboratory.post(0, experiment.operation, kGoodputMessage, kEndless);
  laboratory.run_until_complete(~std::uint64_t{0}, duration);
  laboratory.run(
      [&] {
        return laboratory.failed(0) != 0 || span.messages() >= least_messages ||
               laboratory.events() >= kMostEvents;
      },
      kMostDurations * duration);
  Goodput goodput;
  goodput.messages = span.messages();
  goodput.gave_up = laboratory.failed(0) != 0;
  const double bytes = static_cast<double>(goodput.messages) * kGoodputMessage;
  if (goodput.messages > 0) goodput.bits_per_second = 8 * bytes / seconds(span.length());
  const double all = static_cast<double>(goodput.messages + Span::kWarmUp) * kGoodputMessage;
  goodput.sent_twice =
      static_cast<double>(laboratory.counters(0).retransmitted_packets) / (all / experiment.path_mtu);
  goodput.timeouts = laboratory.counters(0).local_ack_timeout;
  goodput.events = laboratory.events();
  return goodput;
}

double share(double goodput, double lossless, const Experiment& experiment) {
  return goodput / ((1 - experiment.loss.loss) * lossless);
}

}  // namespace urnic::transport::lab
