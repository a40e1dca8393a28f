#include "tests/unit/recovery/repair_times.hpp"

#include <numeric>

#include "wire/opcode.hpp"

namespace urnic::transport::lab {
namespace {

bool takes_responses(WorkOpcode opcode) {
  return opcode == WorkOpcode::rdma_read || opcode == WorkOpcode::atomic_fetch_add;
}

// Loses the next `times` packets with a PSN. A packet is data or not: acknowledgements have PSNs of data.
class Loser {
 public:
  void lose(wire::Psn psn, int times) {
    psn_ = psn;
    times_ = times;
  }
  bool operator()(const wire::TransportHeaders& headers, bool chosen) {
    if (times_ == 0 || !chosen || headers.bth.psn != psn_) return false;
    --times_;
    return true;
  }
  bool has_lost_all() const { return times_ == 0; }

 private:
  wire::Psn psn_;
  int times_ = 0;
};

// Messages one at a time over a link whose losses are chosen packet by packet.
class Exchange {
 public:
  Exchange(const Experiment& experiment, std::uint32_t packets, LossPlace place)
      : experiment_(experiment), packets_(packets), place_(place), laboratory_(settings()) {}

  // The time of one message.
  Nanoseconds message() {
    const Nanoseconds posted = laboratory_.now();
    const bool atomic = experiment_.operation == WorkOpcode::atomic_fetch_add;
    laboratory_.post(0, experiment_.operation, atomic ? 8 : packets_ * experiment_.path_mtu);
    laboratory_.run_until_complete(++messages_, posted + std::chrono::seconds(1));
    const Nanoseconds time = laboratory_.last_completion(0) - posted;
    // What is sent again needlessly is out of the way.
    laboratory_.run_until_quiet(laboratory_.now() + std::chrono::seconds(1));
    return time;
  }
  // The time of one message that loses data packet `lost`; empty if it failed.
  std::optional<Nanoseconds> message_that_loses(std::uint32_t lost) {
    const bool request = place_ == LossPlace::acknowledgement && takes_responses(experiment_.operation);
    const std::uint32_t packet = place_ != LossPlace::acknowledgement ? lost : request ? 0 : packets_ - 1;
    const auto psn = static_cast<std::uint32_t>(messages_ * packets_ + packet);
    loser_.lose(wire::Psn(psn & wire::Psn::kMask), place_ == LossPlace::retransmission ? 2 : 1);
    const Nanoseconds time = message();
    if (laboratory_.failed(0) != 0 || !loser_.has_lost_all()) return std::nullopt;
    return time;
  }

 private:
  LaboratorySettings settings() {
    LaboratorySettings settings = laboratory_settings(experiment_);
    const bool responses = takes_responses(experiment_.operation);
    const bool last_word = place_ == LossPlace::acknowledgement;
    const std::size_t from = responses == last_word ? 0 : 1;
    settings.links[from].drop = [this, chosen = last_word && !responses](
                                    const wire::TransportHeaders& headers, std::uint64_t, Nanoseconds) {
      return loser_(headers, is_acknowledge(headers) == chosen);
    };
    return settings;
  }

  const Experiment& experiment_;
  std::uint32_t packets_;
  LossPlace place_;
  Loser loser_;
  std::uint64_t messages_ = 0;
  Laboratory laboratory_;
};

}  // namespace

std::string_view name(LossPlace place) {
  switch (place) {
    case LossPlace::first:
      return "first";
    case LossPlace::middle:
      return "middle";
    case LossPlace::last:
      return "last";
    case LossPlace::only:
      return "only";
    case LossPlace::retransmission:
      return "retransmission";
    case LossPlace::acknowledgement:
      break;
  }
  return "acknowledgement";
}

std::vector<std::uint32_t> lost_packets(LossPlace place, std::uint32_t packets) {
  const auto range = [](std::uint32_t first, std::uint32_t end) {
    std::vector<std::uint32_t> numbers(first < end ? end - first : 0);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
  };
  switch (place) {
    case LossPlace::first:
      return range(0, packets > 1 ? 1 : 0);
    case LossPlace::middle:
      return range(1, packets > 2 ? packets - 1 : 0);
    case LossPlace::last:
      return range(packets - 1, packets > 1 ? packets : 0);
    case LossPlace::only:
      return range(0, packets == 1 ? 1 : 0);
    case LossPlace::retransmission:
      return range(0, packets);
    case LossPlace::acknowledgement:
      break;
  }
  return range(packets - 1, packets);
}

std::optional<Nanoseconds> repair_time(const Experiment& experiment, std::uint32_t packets, LossPlace place,
                                       std::uint32_t lost) {
  constexpr int kWarmUp = 8;
  Exchange exchange(experiment, packets, place);
  for (int i = 0; i < kWarmUp; ++i) exchange.message();
  const Nanoseconds lossless = exchange.message();
  const std::optional<Nanoseconds> with_loss = exchange.message_that_loses(lost);
  if (!with_loss) return std::nullopt;
  return *with_loss - lossless;
}

std::vector<Nanoseconds> repair_times(const Experiment& experiment, std::uint32_t packets, LossPlace place) {
  std::vector<Nanoseconds> times;
  for (const std::uint32_t lost : lost_packets(place, packets)) {
    if (const auto time = repair_time(experiment, packets, place, lost)) times.push_back(*time);
  }
  return times;
}

}  // namespace urnic::transport::lab
