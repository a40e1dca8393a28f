#include "tests/unit/recovery/needless.hpp"

#include <vector>

namespace urnic::transport::lab {
namespace {

// Counts the data packets that arrive at one side for the second time and more.
class Arrivals final : public Observer {
 public:
  explicit Arrivals(std::size_t side) : side_(side) {}

  void arrived(std::size_t at, const Flight& flight, Nanoseconds) override {
    if (at != side_ || is_acknowledge(flight.headers)) return;
    const std::size_t psn = flight.headers.bth.psn.value();
    if (seen_.size() <= psn) seen_.resize(2 * psn + 1);
    if (seen_[psn]) ++twice;
    seen_[psn] = true;
  }
  std::uint64_t twice = 0;

 private:
  std::size_t side_;
  std::vector<bool> seen_;  // by PSN: a measurement has fewer than there are
};

}  // namespace

// Where too few packets follow, the hold ends when so many full ones could have.
void hold_back(link::LinkSettings& impairments, const Reordering& reordering, const Experiment& experiment) {
  impairments.reorder = reordering.share;
  impairments.reorder_packets = reordering.packets;
  impairments.reorder_hold = reordering.packets * data_slot(experiment) + data_slot(experiment) / 2;
}

Needless measure_needless(const Experiment& experiment, const Reordering& reordering, const Load& load) {
  LaboratorySettings settings = laboratory_settings(experiment);
  for (LinkSettings& link : settings.links) hold_back(link.impairments, reordering, experiment);
  Laboratory laboratory(settings);
  const std::size_t data_to = experiment.operation == WorkOpcode::rdma_read ? 0 : 1;
  Arrivals arrivals(data_to);
  laboratory.observe(&arrivals);
  const std::uint32_t length = load.message_packets * experiment.path_mtu;
  const Nanoseconds end = std::chrono::seconds(100);
  if (load.one_at_a_time) {
    for (std::uint32_t i = 1; i <= load.messages; ++i) {
      laboratory.post(0, experiment.operation, length);
      if (!laboratory.run_until_complete(i, end)) break;
    }
  } else {
    laboratory.post(0, experiment.operation, length, load.messages);
    laboratory.run_until_complete(load.messages, end);
  }
  const Nanoseconds time = laboratory.now();
  laboratory.run_until_quiet(end);
  return {.sent_again = laboratory.counters(0).retransmitted_packets,
          .arrived_twice = arrivals.twice,
          .lost_data = laboratory.link(1 - data_to).lost(),
          .lost_answers = laboratory.link(data_to).lost(),
          .completed = laboratory.completed(0),
          .time = time};
}

}  // namespace urnic::transport::lab
