// What congestion control must make of many senders to one line, with margin; congestion_lab has the figures.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/congestion/incast_figures.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;
using std::chrono::milliseconds;

namespace {

IncastSettings settings(CongestionAlgorithm algorithm, std::uint32_t flows) {
  IncastSettings incast;
  incast.congestion.algorithm = algorithm;
  incast.congestion.line = SendRate::gbps(incast.line_gbps);
  incast.flows = flows;
  if (algorithm != CongestionAlgorithm::dcqcn) incast.ecn_max_bytes = 0;
  return incast;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(incast)

BOOST_AUTO_TEST_CASE(jains_index_is_one_if_all_are_equal_and_one_of_n_if_one_has_all) {
  BOOST_TEST(jain({3, 3, 3}) == 1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(jain({0, 7, 0, 0}) == 0.25, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(without_congestion_control_the_queue_overflows) {
  const IncastFigures figures =
      measure(settings(CongestionAlgorithm::off, 8), milliseconds(10), milliseconds(10));
  BOOST_TEST(figures.drops > 1000u);
  BOOST_TEST(figures.mean_queue > 500'000);
}

BOOST_AUTO_TEST_CASE(dcqcn_shares_a_line_that_marks_without_losses) {
  for (const std::uint32_t flows : {2u, 8u}) {
    const IncastFigures figures =
        measure(settings(CongestionAlgorithm::dcqcn, flows), milliseconds(60), milliseconds(20));
    BOOST_TEST_CONTEXT(flows << " senders") {
      BOOST_TEST(figures.utilisation > 0.95);
      BOOST_TEST(figures.fairness > 0.95);
      BOOST_TEST(figures.drops == 0u);
      BOOST_TEST(figures.p99_queue < 400'000u);
    }
  }
}

BOOST_AUTO_TEST_CASE(round_trips_share_a_line_that_marks_nothing) {
  for (const std::uint32_t flows : {2u, 8u, 64u}) {
    const IncastFigures figures =
        measure(settings(CongestionAlgorithm::rtt, flows), milliseconds(60), milliseconds(10));
    BOOST_TEST_CONTEXT(flows << " senders") {
      BOOST_TEST(figures.utilisation > 0.95);
      BOOST_TEST(figures.fairness > 0.95);
      BOOST_TEST(figures.drops == 0u);
      BOOST_TEST(figures.p99_queue < 500'000u);
    }
  }
}

// Who begins in front of a queue must not take it for a part of the path for ever.
BOOST_AUTO_TEST_CASE(round_trips_give_the_first_and_the_last_to_come_the_same) {
  Incast incast(settings(CongestionAlgorithm::rtt, 4));
  for (std::uint32_t flow = 0; flow < incast.flows(); ++flow) {
    incast.start(flow);
    incast.run_for(milliseconds(5));
  }
  incast.run_for(milliseconds(80));
  const IncastFigures figures = measure(incast, milliseconds(10));
  BOOST_TEST(figures.utilisation > 0.95);
  BOOST_TEST(figures.fairness > 0.9);
}

BOOST_AUTO_TEST_CASE(losses_by_chance_are_not_taken_for_congestion) {
  for (const auto algorithm : {CongestionAlgorithm::dcqcn, CongestionAlgorithm::rtt}) {
    IncastSettings incast = settings(algorithm, 2);
    const double lossless = measure(incast, milliseconds(30), milliseconds(20)).utilisation;
    incast.loss = 0.01;
    BOOST_TEST(measure(incast, milliseconds(30), milliseconds(20)).utilisation > 0.97 * 0.99 * lossless);
  }
}

// Its shares are not unique (docs/congestion.md), but nobody is forgotten.
BOOST_AUTO_TEST_CASE(timely_starves_nobody) {
  const IncastFigures figures =
      measure(settings(CongestionAlgorithm::timely, 2), milliseconds(60), milliseconds(20));
  BOOST_TEST(figures.utilisation > 0.6);
  BOOST_TEST(figures.fairness > 0.7);
}

BOOST_AUTO_TEST_SUITE_END()
