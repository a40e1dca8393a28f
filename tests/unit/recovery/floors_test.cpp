// How much of what a link can carry at its loss the selective recoveries keep, at least: 100 Gbit/s, 5 us
// each way, losses in both directions, messages of 1 MiB. The seed is fixed, so chance decides nothing. What
// `selective` keeps where holes lie closer is in silent_peers_test.cpp.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/goodput.hpp"
#include "tests/unit/recovery/names.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace floors {

struct Floor {
  double loss;
  double at_1024;
  double at_4096;
};

void check(RecoveryMode mode, const Floor& floor) {
  for (const WorkOpcode operation : kOperations) {
    for (const std::uint32_t mtu : {1024u, 4096u}) {
      Experiment experiment;
      experiment.mode = mode;
      experiment.operation = operation;
      experiment.path_mtu = mtu;
      experiment.loss.loss = floor.loss;
      // 250,000 packets of 1,024 bytes, 66,000 of 4,096.
      const Goodput goodput = measure_goodput(experiment, std::chrono::milliseconds(22));
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation) << " MTU " << mtu << ", loss " << floor.loss) {
        BOOST_CHECK(!goodput.gave_up);
        // The lossless goodput is the line rate: goodput_test.cpp.
        BOOST_CHECK_GE(share(goodput.bits_per_second, line_rate(experiment), experiment),
                       mtu == 1024 ? floor.at_1024 : floor.at_4096);
      }
    }
  }
}

}  // namespace floors

BOOST_AUTO_TEST_SUITE(floors)

BOOST_AUTO_TEST_CASE(sack_keeps_what_the_link_can_carry) {
  for (const Floor& floor : {Floor{0.0001, 0.998, 0.998}, Floor{0.001, 0.997, 0.997}, Floor{0.01, 0.99, 0.99},
                             Floor{0.03, 0.985, 0.985}, Floor{0.1, 0.97, 0.97}}) {
    check(RecoveryMode::sack, floor);
  }
}

BOOST_AUTO_TEST_CASE(selective_keeps_it_while_there_is_less_than_one_hole_in_a_round_trip) {
  for (const Floor& floor : {Floor{0.0001, 0.99, 0.99}, Floor{0.001, 0.98, 0.98}, Floor{0.01, 0.70, 0.95}}) {
    check(RecoveryMode::selective, floor);
  }
}

BOOST_AUTO_TEST_SUITE_END()
