// Goodput where it can be calculated: without loss, and of go-back-N. Holds the laboratory as much as the
// transport.
#define BOOST_TEST_DYN_LINK
#include "tests/unit/recovery/goodput.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/names.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;

BOOST_AUTO_TEST_SUITE(goodput)

BOOST_AUTO_TEST_CASE(every_mode_fills_a_link_that_loses_nothing) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      for (const std::uint32_t mtu : {1024u, 4096u}) {
        for (const int delay : {5, 50}) {
          Experiment experiment;
          experiment.mode = mode;
          experiment.operation = operation;
          experiment.path_mtu = mtu;
          experiment.delay = std::chrono::microseconds(delay);
          const Goodput goodput = measure_goodput(experiment, std::chrono::milliseconds(3));
          BOOST_TEST_CONTEXT(name(mode)
                             << ' ' << name(operation) << " MTU " << mtu << ", " << delay << " us") {
            BOOST_CHECK_GE(goodput.bits_per_second, 0.999 * line_rate(experiment));
            BOOST_CHECK_LE(goodput.bits_per_second, 1.000001 * line_rate(experiment));
            BOOST_CHECK_EQUAL(goodput.sent_twice, 0);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gbn_is_as_calculated) {
  struct Point {
    double loss;
    int milliseconds;
    double tolerance;  // in percent: there are few timeouts, and each is long
  };
  for (const WorkOpcode operation : {WorkOpcode::rdma_write, WorkOpcode::rdma_read}) {
    for (const std::uint32_t mtu : {1024u, 4096u}) {
      for (const Point& point : {Point{0.001, 40, 5}, Point{0.01, 150, 20}}) {
        Experiment experiment;
        experiment.mode = RecoveryMode::gbn;
        experiment.operation = operation;
        experiment.path_mtu = mtu;
        experiment.loss.loss = point.loss;
        const Goodput goodput = measure_goodput(experiment, std::chrono::milliseconds(point.milliseconds));
        BOOST_TEST_CONTEXT(name(operation) << " MTU " << mtu << ", loss " << point.loss) {
          BOOST_CHECK_CLOSE(goodput.bits_per_second, gbn_closed_form(experiment), point.tolerance);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_run) {
  Experiment experiment;
  experiment.loss.loss = 0.01;
  const auto run = [&](std::uint64_t seed) {
    experiment.seed = seed;
    return measure_goodput(experiment, std::chrono::milliseconds(2));
  };
  const Goodput first = run(5);
  const Goodput second = run(5);
  BOOST_CHECK_EQUAL(first.bits_per_second, second.bits_per_second);
  BOOST_CHECK_EQUAL(first.events, second.events);
  BOOST_CHECK_NE(first.events, run(6).events);
}

BOOST_AUTO_TEST_SUITE_END()
