// TIMELY's rate, rule by rule (SIGCOMM 2015, algorithm 1).
#define BOOST_TEST_DYN_LINK
#include "device_model/transport/congestion/timely.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/transport/congestion/sender_control.hpp"

using namespace urnic::transport;

namespace timely {

const auto kClose = boost::test_tools::tolerance(1e-9);

struct Bench {
  Bench() { control.start(4096, now); }

  void round_trip(int microseconds) {
    const Nanoseconds taken = std::chrono::microseconds(microseconds);
    now += std::chrono::milliseconds(10);  // the last change is long ago
    control.acknowledged({.bytes = 4096, .round_trip = taken}, now);
  }
  double rate() { return control.allowance(now).rate.gbps(); }

  CongestionSettings settings{.algorithm = CongestionAlgorithm::timely, .line = SendRate::gbps(10)};
  Timely control{settings};
  Time now{};
};

}  // namespace timely

BOOST_AUTO_TEST_SUITE(timely)

BOOST_AUTO_TEST_CASE(round_trips_above_the_limit_lower_the_rate_by_how_far_they_exceed_it) {
  Bench bench;
  bench.round_trip(1000);
  BOOST_TEST(bench.rate() == 10, kClose);  // the first has no difference
  bench.round_trip(1000);
  BOOST_TEST(bench.rate() == 10 * (1 - 0.8 * (1 - 500.0 / 1000)), kClose);
}

BOOST_AUTO_TEST_CASE(between_the_limits_the_gradient_counts) {
  Bench bench;
  bench.round_trip(100);
  bench.round_trip(110);
  const double gradient = 0.875 * 10 / 100;
  BOOST_TEST(bench.rate() == 10 * (1 - 0.8 * gradient), kClose);
  const double lowered = bench.rate();
  bench.round_trip(60);  // the smoothed difference is below zero
  BOOST_TEST(bench.rate() == lowered + 0.01, kClose);
}

BOOST_AUTO_TEST_CASE(short_round_trips_raise_it_and_five_in_a_row_raise_it_fast) {
  Bench bench;
  bench.round_trip(1000);
  bench.round_trip(1000);
  double expected = bench.rate();
  for (int i = 1; i <= 6; ++i) {
    bench.round_trip(20);
    expected += i < 5 ? 0.01 : 0.05;
    BOOST_TEST(bench.rate() == expected, kClose);
  }
}

BOOST_AUTO_TEST_CASE(it_changes_once_in_a_round_trip) {
  Bench bench;
  bench.round_trip(1000);
  bench.round_trip(1000);
  const double before = bench.rate();
  bench.now += std::chrono::microseconds(999);
  bench.control.acknowledged({.bytes = 4096, .round_trip = std::chrono::milliseconds(5)}, bench.now);
  BOOST_TEST(bench.rate() == before, kClose);
}

BOOST_AUTO_TEST_CASE(marks_and_losses_change_nothing) {
  Bench bench;
  bench.control.marked(bench.now);
  bench.control.lost(bench.now);
  BOOST_TEST(bench.rate() == 10, kClose);
  BOOST_TEST(bench.control.snapshot().marks == 1u);
}

BOOST_AUTO_TEST_CASE(slow_restart_begins_low_after_a_timeout_or_a_silence) {
  Bench bench;
  BOOST_TEST(bench.control.timed_out(bench.now));
  BOOST_TEST(bench.rate() == 1, kClose);
  BOOST_TEST(!bench.control.woken(bench.now));  // it is not faster than that
  CongestionSettings settings = bench.settings;
  settings.slow_restart = false;
  Timely without(settings);
  without.start(4096, bench.now);
  BOOST_TEST(!without.woken(bench.now));
  BOOST_TEST(without.allowance(bench.now).rate.gbps() == 10, kClose);
}

// Senders that begin together see round trips become many times as long within one.
BOOST_AUTO_TEST_CASE(one_decrease_takes_at_most_half) {
  Bench bench;
  bench.round_trip(60);
  bench.round_trip(400);
  BOOST_TEST(bench.rate() == 5, kClose);
}

// A sender that hardly ever measured would hardly ever become faster again.
BOOST_AUTO_TEST_CASE(a_slow_sender_measures_as_often_as_a_fast_one) {
  Bench bench;
  BOOST_TEST(bench.control.allowance(bench.now).measured == 25'000u);  // 20 us
  bench.round_trip(60);
  bench.round_trip(400);
  BOOST_TEST(bench.control.allowance(bench.now).measured == 12'500u);
}

BOOST_AUTO_TEST_CASE(packets_ask_for_the_acknowledgements_that_it_measures) {
  SenderControl control({.algorithm = CongestionAlgorithm::timely, .line = SendRate::gbps(10)}, 64);
  control.start(1000, Time{});
  BOOST_TEST(control.ack_interval() == 25u);
}

BOOST_AUTO_TEST_SUITE_END()
