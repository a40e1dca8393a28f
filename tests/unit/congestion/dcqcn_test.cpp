// The reaction point of DCQCN, rule by rule (SIGCOMM 2015, section 3.1).
#define BOOST_TEST_DYN_LINK
#include "device_model/transport/congestion/dcqcn.hpp"

#include <boost/test/unit_test.hpp>

using namespace urnic::transport;
using std::chrono::microseconds;

namespace {

constexpr CongestionSettings kSettings{.algorithm = CongestionAlgorithm::dcqcn, .line = SendRate::gbps(40)};

struct Bench {
  explicit Bench(const CongestionSettings& settings = kSettings) : control(settings) {
    control.start(4096, at(0));
  }

  static Time at(std::int64_t microseconds) { return Time{std::chrono::microseconds(microseconds)}; }
  double rate(std::int64_t microseconds) { return control.allowance(at(microseconds)).rate.gbps(); }
  double target() const { return control.snapshot().target_rate.gbps(); }
  double alpha() const { return control.snapshot().alpha; }

  Dcqcn control;
};

const auto kClose = boost::test_tools::tolerance(1e-9);

}  // namespace

BOOST_AUTO_TEST_SUITE(dcqcn)

BOOST_AUTO_TEST_CASE(it_begins_at_the_rate_of_the_line_and_keeps_it) {
  Bench bench;
  BOOST_TEST(bench.rate(0) == 40, kClose);
  BOOST_TEST(bench.rate(1'000'000) == 40, kClose);
}

BOOST_AUTO_TEST_CASE(a_notification_lowers_the_rate_by_half_of_alpha) {
  Bench bench;
  bench.control.marked(Bench::at(100));
  BOOST_TEST(bench.rate(100) == 20, kClose);
  BOOST_TEST(bench.target() == 40, kClose);
  BOOST_TEST(bench.alpha() == 1, kClose);
}

BOOST_AUTO_TEST_CASE(alpha_falls_without_notifications_and_rises_with_them) {
  Bench bench;
  bench.control.marked(Bench::at(0));
  bench.rate(54);
  BOOST_TEST(bench.alpha() == 1, kClose);
  bench.rate(55);
  BOOST_TEST(bench.alpha() == 255.0 / 256, kClose);
  bench.control.marked(Bench::at(60));
  const double before = 255.0 / 256;
  BOOST_TEST(bench.alpha() == before * 255 / 256 + 1.0 / 256, kClose);
}

// Fast recovery: half of the way to the target, five times; then the target rises.
BOOST_AUTO_TEST_CASE(the_timer_brings_the_rate_back_to_the_target_and_beyond) {
  Bench bench({.algorithm = CongestionAlgorithm::dcqcn,
               .line = SendRate::gbps(400),
               .dcqcn = {.increase_bytes = 0, .additive = SendRate::gbps(1)}});
  bench.control.marked(Bench::at(0));
  double expected = 200;
  for (int step = 1; step <= 5; ++step) {
    expected = (expected + 400) / 2;
    BOOST_TEST(bench.rate(step * 55) == expected, kClose);
    BOOST_TEST(bench.target() == 400, kClose);
  }
  // A second decrease, so that there is room above the target.
  bench.control.marked(Bench::at(300));
  const double target = bench.target();
  BOOST_TEST(target == expected, kClose);
  for (int step = 1; step <= 5; ++step) bench.rate(300 + step * 55);
  BOOST_TEST(bench.target() == target, kClose);
  bench.rate(300 + 6 * 55);
  BOOST_TEST(bench.target() == target + 1, kClose);
  bench.rate(300 + 7 * 55);
  BOOST_TEST(bench.target() == target + 2, kClose);
}

BOOST_AUTO_TEST_CASE(the_byte_counter_raises_the_rate_too_and_both_together_raise_it_fast) {
  Bench bench({.algorithm = CongestionAlgorithm::dcqcn,
               .line = SendRate::gbps(400),
               .dcqcn = {.increase_bytes = 1000,
                         .fast_recoveries = 1,
                         .additive = SendRate::gbps(1),
                         .hyper = SendRate::gbps(10)}});
  bench.control.marked(Bench::at(0));
  bench.control.sent(999, Bench::at(1));
  BOOST_TEST(bench.rate(1) == 200, kClose);
  bench.control.sent(1, Bench::at(1));
  BOOST_TEST(bench.rate(1) == 300, kClose);
  bench.control.marked(Bench::at(50));
  const double target = bench.target();
  bench.control.sent(1000, Bench::at(51));
  bench.control.sent(1000, Bench::at(51));
  BOOST_TEST(bench.target() == target + 1, kClose);  // more than F by bytes
  bench.rate(50 + 2 * 55);                           // as often by time
  BOOST_TEST(bench.target() > target + 10);
}

BOOST_AUTO_TEST_CASE(one_decrease_in_an_interval_and_what_came_meanwhile_counts_once) {
  Bench bench;
  bench.control.marked(Bench::at(0));
  for (int i = 1; i < 50; ++i) bench.control.marked(Bench::at(i));
  BOOST_TEST(bench.rate(49) == 20, kClose);
  BOOST_TEST(bench.rate(50) == 10, kClose);
  BOOST_TEST(bench.rate(99) == 10, kClose);
}

// No recovery has begun between the two decreases, so the target is still that of the first.
BOOST_AUTO_TEST_CASE(a_decrease_before_any_increase_keeps_the_target_unless_it_is_clamped) {
  for (const bool clamp : {false, true}) {
    Bench bench({.algorithm = CongestionAlgorithm::dcqcn,
                 .line = SendRate::gbps(40),
                 .dcqcn = {.clamp_target = clamp}});
    bench.control.marked(Bench::at(0));
    bench.control.marked(Bench::at(50));
    BOOST_TEST(bench.rate(50) == 10, kClose);
    BOOST_TEST(bench.target() == (clamp ? 20.0 : 40.0), kClose);
  }
}

BOOST_AUTO_TEST_CASE(no_rate_is_below_the_least_nor_above_the_line) {
  Bench bench;
  for (int i = 0; i < 100; ++i) bench.control.marked(Bench::at(i * 50));
  BOOST_TEST(bench.rate(5000) == 0.01, kClose);
  BOOST_TEST(bench.rate(60'000'000) == 40, kClose);
}

BOOST_AUTO_TEST_CASE(slow_restart_begins_low_and_comes_back) {
  Bench bench;
  bench.control.timed_out(Bench::at(10));
  BOOST_TEST(bench.rate(10) == 1, kClose);
  BOOST_TEST(bench.target() == 40, kClose);
  BOOST_TEST(bench.rate(65) == 20.5, kClose);
  Bench without({.algorithm = CongestionAlgorithm::dcqcn, .line = SendRate::gbps(40), .slow_restart = false});
  without.control.timed_out(Bench::at(10));
  without.control.woken(Bench::at(10));
  BOOST_TEST(without.rate(10) == 40, kClose);
}

BOOST_AUTO_TEST_CASE(a_loss_is_no_sign_of_congestion) {
  Bench bench;
  bench.control.lost(Bench::at(10));
  BOOST_TEST(bench.rate(10) == 40, kClose);
}

// A clock that jumps ahead by hours costs no more than a moment.
BOOST_AUTO_TEST_CASE(hours_without_a_packet_are_worked_out_at_once) {
  Bench bench;
  bench.control.marked(Bench::at(0));
  BOOST_TEST(bench.rate(std::int64_t{100} * 3600 * 1'000'000) == 40, kClose);
  BOOST_TEST(bench.alpha() < 0.001);
}

BOOST_AUTO_TEST_SUITE_END()
