// Packets that are overtaken but not lost: up to RecoverySettings::reordering no recovery that keeps what is
// out of order sends anything again, beyond that everything arrives all the same.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/experiment.hpp"
#include "tests/unit/recovery/names.hpp"
#include "tests/unit/recovery/needless.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace reordering {

constexpr Nanoseconds kEnough = std::chrono::seconds(10);

// Runs 60 messages of 64 KiB over links that hold back every tenth packet until `packets` full ones have
// overtaken it. READ requests stay in order: an early one that is late counts as lost.
std::unique_ptr<Laboratory> run(RecoveryMode mode, WorkOpcode operation, int packets) {
  Experiment experiment;
  experiment.mode = mode;
  experiment.operation = operation;
  LaboratorySettings settings = laboratory_settings(experiment);
  const Reordering reordering{0.1, static_cast<std::uint32_t>(packets)};
  hold_back(settings.links[1].impairments, reordering, experiment);
  if (operation != WorkOpcode::rdma_read) hold_back(settings.links[0].impairments, reordering, experiment);
  auto laboratory = std::make_unique<Laboratory>(settings);
  laboratory->post(0, operation, 1u << 16, 60);
  BOOST_CHECK(laboratory->run_until_quiet(kEnough));
  BOOST_CHECK_EQUAL(laboratory->completed(0), 60u);
  return laboratory;
}

}  // namespace reordering

BOOST_AUTO_TEST_SUITE(reordering)

// The degree is the number of packets that may overtake one: with one more it counts as lost.
BOOST_AUTO_TEST_CASE(sack_sends_nothing_again_up_to_its_degree) {
  BOOST_REQUIRE_EQUAL(RecoverySettings{}.reordering, 8u);  // as docs/loss-recovery.md has it
  for (const WorkOpcode operation : {WorkOpcode::rdma_write, WorkOpcode::send}) {
    for (const int packets : {1, 2, 4, 7, 8}) {
      BOOST_TEST_CONTEXT(name(operation) << ", overtaken by " << packets) {
        const auto laboratory = run(RecoveryMode::sack, operation, packets);
        BOOST_CHECK_EQUAL(laboratory->counters(0).retransmitted_packets, 0u);
        BOOST_CHECK_GT(laboratory->counters(1).held_packets, 0u);
      }
    }
    BOOST_TEST_CONTEXT(name(operation) << ", overtaken by 9") {
      BOOST_CHECK_GT(run(RecoveryMode::sack, operation, 9)->counters(0).retransmitted_packets, 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(read_responses_out_of_order_are_not_asked_for_again) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    for (const int packets : {1, 4, 7, 8}) {
      BOOST_TEST_CONTEXT(name(mode) << ", overtaken by " << packets) {
        BOOST_CHECK_EQUAL(run(mode, WorkOpcode::rdma_read, packets)->counters(0).retransmitted_packets, 0u);
      }
    }
    BOOST_TEST_CONTEXT(name(mode) << ", overtaken by 9") {
      BOOST_CHECK_GT(run(mode, WorkOpcode::rdma_read, 9)->counters(0).retransmitted_packets, 0u);
    }
  }
}

// A path that has never reordered is not known to: until the first packets that are late have been seen, a
// few are sent again needlessly at the end of what is under way, and after sixteen losses without reordering
// once more. A lost answer costs a packet in any case.
BOOST_AUTO_TEST_CASE(sack_sends_hardly_anything_again_needlessly) {
  constexpr std::uint32_t kPackets = 4000;
  constexpr std::array kLoads{Load{2, kPackets / 2, true}, Load{10, kPackets / 10, true},
                              Load{64, kPackets / 64, true}, Load{16, kPackets / 16, false}};
  constexpr std::uint64_t kFew = 8;
  for (const WorkOpcode operation : kOperations) {
    for (const int delay : {1, 5}) {
      for (const double loss : {0.0, 0.01}) {
        for (const double held_back : {0.01, 0.1}) {
          for (const Load& load : kLoads) {
            for (std::uint32_t packets = 1; packets <= 8; ++packets) {
              Experiment experiment;
              experiment.operation = operation;
              experiment.delay = std::chrono::microseconds(delay);
              experiment.loss.loss = loss;
              const Needless found = measure_needless(experiment, {held_back, packets}, load);
              const bool read = operation == WorkOpcode::rdma_read;
              std::uint64_t allowed = kFew + (read ? 0 : found.lost_answers);
              // A READ request that is late before any other was is asked for again, the whole message.
              if (read && !load.one_at_a_time) allowed += 2 * load.message_packets;
              // Beside losses, reports of READ requests that are late look like lost requests.
              if (read && !load.one_at_a_time && loss > 0) allowed = kPackets / 50;
              BOOST_TEST_CONTEXT(name(operation)
                                 << ", " << delay << " us, loss " << loss << ", " << held_back
                                 << " overtaken by " << packets << ", messages of " << load.message_packets) {
                BOOST_CHECK_EQUAL(found.completed, load.messages);
                BOOST_CHECK_LE(found.arrived_twice, allowed);
              }
            }
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(everything_arrives_however_far_it_is_overtaken) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      for (const int packets : {3, 30, 300}) {
        BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation) << ", overtaken by " << packets) {
          const auto laboratory = run(mode, operation, packets);
          BOOST_CHECK_EQUAL(laboratory->received(1), operation == WorkOpcode::send ? 60u : 0u);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
