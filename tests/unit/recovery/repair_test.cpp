// The repair of one loss by `sack` takes at most twice as long as by the best of the other recoveries,
// wherever in a message the loss is.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/completion_times.hpp"
#include "tests/unit/recovery/names.hpp"
#include "tests/unit/recovery/repair_times.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace repair {

constexpr std::array kLengths{1u, 2u, 3u, 4u, 7u, 10u, 16u, 33u, 64u};  // packets of a message
constexpr std::array kDelays{1, 5, 50};                                 // microseconds each way
constexpr std::array kOthers{RecoveryMode::gbn, RecoveryMode::selective, RecoveryMode::irn};

Nanoseconds median(const Experiment& experiment, std::uint32_t packets, LossPlace place) {
  const std::vector<Nanoseconds> times = repair_times(experiment, packets, place);
  BOOST_REQUIRE_EQUAL(times.size(), lost_packets(place, packets).size());
  return percentile(times, 0.5);
}

void check(LossPlace place) {
  for (const WorkOpcode operation : kOperationsWithAtomic) {
    for (const std::uint32_t mtu : {1024u, 4096u}) {
      for (const int delay : kDelays) {
        for (const std::uint32_t packets : kLengths) {
          if (lost_packets(place, packets).empty()) continue;
          if (operation == WorkOpcode::atomic_fetch_add && packets > 1) continue;
          Experiment experiment;
          experiment.operation = operation;
          experiment.path_mtu = mtu;
          experiment.delay = std::chrono::microseconds(delay);
          Nanoseconds best = kNever;
          for (const RecoveryMode other : kOthers) {
            experiment.mode = other;
            best = std::min(best, median(experiment, packets, place));
          }
          experiment.mode = RecoveryMode::sack;
          BOOST_TEST_CONTEXT(name(operation) << " of " << packets << " packets, MTU " << mtu << ", " << delay
                                             << " us each way") {
            BOOST_CHECK_LE(median(experiment, packets, place).count(), 2 * best.count());
          }
        }
      }
    }
  }
}

}  // namespace repair

BOOST_AUTO_TEST_SUITE(repair)

BOOST_AUTO_TEST_CASE(first_packet) { check(LossPlace::first); }
BOOST_AUTO_TEST_CASE(packet_in_the_middle) { check(LossPlace::middle); }
BOOST_AUTO_TEST_CASE(last_packet) { check(LossPlace::last); }
BOOST_AUTO_TEST_CASE(only_packet) { check(LossPlace::only); }
BOOST_AUTO_TEST_CASE(packet_and_its_retransmission) { check(LossPlace::retransmission); }
BOOST_AUTO_TEST_CASE(acknowledgement) { check(LossPlace::acknowledgement); }

BOOST_AUTO_TEST_SUITE_END()
