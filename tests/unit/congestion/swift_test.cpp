// Swift's window, rule by rule (SIGCOMM 2020, algorithm 1), and the choices that are ours.
#define BOOST_TEST_DYN_LINK
#include "device_model/transport/congestion/swift.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace urnic::transport;

namespace swift {

constexpr std::uint32_t kPacket = 1000;
const auto kClose = boost::test_tools::tolerance(1e-6);

// 8 Gbit/s is a byte a nanosecond: the window begins with 10 packets, and has at most 1,000. No flow scaling.
constexpr CongestionSettings settings(RttSettings own = {}) {
  own.flow_scaling = Nanoseconds{0};
  return {.algorithm = CongestionAlgorithm::rtt,
          .line = SendRate::gbps(8),
          .least = SendRate::mbps(0.001),
          .rtt = own};
}

struct Bench {
  explicit Bench(const CongestionSettings& chosen = settings()) : control(chosen) {
    control.start(kPacket, Time{});
  }

  static Nanoseconds us(double microseconds) { return Nanoseconds(std::llround(microseconds * 1000)); }
  // An acknowledgement of `packets` that took `round_trip`; the window was in use.
  void acknowledge(double round_trip, double packets = 1) {
    control.acknowledged({.bytes = static_cast<std::uint64_t>(packets * kPacket),
                          .round_trip = us(round_trip),
                          .under_way = 1'000'000'000},
                         now);
  }
  double window() { return static_cast<double>(control.allowance(now).window) / kPacket; }
  // The first decrease: it grows by a packet a round trip from now on.
  void end_doubling() {
    acknowledge(10);
    now += us(1000);
    control.marked(now);
    now += us(1000);
  }

  Swift control;
  Time now{std::chrono::seconds(1)};
};

}  // namespace swift

BOOST_AUTO_TEST_SUITE(swift)

BOOST_AUTO_TEST_CASE(it_doubles_in_a_round_trip_until_the_first_decrease) {
  Bench bench;
  BOOST_TEST(bench.window() == 10, kClose);
  bench.acknowledge(10, 10);
  BOOST_TEST(bench.window() == 20, kClose);
}

BOOST_AUTO_TEST_CASE(then_it_grows_by_a_packet_in_a_round_trip) {
  Bench bench;
  bench.end_doubling();
  const double before = bench.window();
  bench.acknowledge(10, before);
  BOOST_TEST(bench.window() == before + 1, boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(it_shrinks_by_the_part_that_the_delay_exceeds_the_target) {
  Bench bench;
  bench.end_doubling();
  const double before = bench.window();
  // The shortest is 10 us, the headroom 25 us.
  BOOST_TEST((bench.control.target_delay() == Bench::us(35)));
  bench.acknowledge(70);
  BOOST_TEST(bench.window() == before * (1 - 0.8 * 35 / 70), boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(it_shrinks_once_in_a_round_trip_and_never_by_more_than_half) {
  Bench bench;
  bench.end_doubling();
  bench.now += Bench::us(5'000);
  const double before = bench.window();
  bench.acknowledge(5'000);
  BOOST_TEST(bench.window() == before / 2, boost::test_tools::tolerance(0.01));
  bench.now += Bench::us(4'999);
  bench.acknowledge(5'000);
  BOOST_TEST(bench.window() == before / 2, boost::test_tools::tolerance(0.01));
  bench.now += Bench::us(1);
  bench.acknowledge(5'000);
  BOOST_TEST(bench.window() == before / 4, boost::test_tools::tolerance(0.1));
}

BOOST_AUTO_TEST_CASE(below_one_packet_the_window_is_a_pace) {
  Bench bench;
  bench.end_doubling();
  for (int i = 0; i < 5; ++i) {
    bench.acknowledge(100);
    bench.now += Bench::us(100);
    bench.control.marked(bench.now);
    bench.now += Bench::us(100);
  }
  BOOST_TEST(bench.control.allowance(bench.now).window == kPacket);
  const SendRate rate = bench.control.allowance(bench.now).rate;
  BOOST_TEST(rate.is_limited());
  BOOST_TEST(rate.gbps() < 8.0 * kPacket / 100'000);  // less than a packet in a round trip
}

BOOST_AUTO_TEST_CASE(a_window_that_is_not_used_does_not_grow) {
  Bench bench;
  bench.control.acknowledged({.bytes = kPacket, .round_trip = Bench::us(10), .under_way = 0}, bench.now);
  BOOST_TEST(bench.window() == 10, kClose);
}

BOOST_AUTO_TEST_CASE(a_loss_counts_only_while_the_delay_exceeds_the_target) {
  for (const bool always : {false, true}) {
    Bench bench(settings({.loss_is_congestion = always}));
    bench.end_doubling();
    const double before = bench.window();
    bench.control.lost(bench.now);
    BOOST_TEST(bench.window() == (always ? before / 2 : before), boost::test_tools::tolerance(0.01));
  }
  Bench bench;
  bench.end_doubling();
  bench.acknowledge(40);
  bench.now += Bench::us(40);
  const double before = bench.window();
  bench.control.lost(bench.now);
  BOOST_TEST(bench.window() == before / 2, boost::test_tools::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(a_timeout_halves_the_window) {
  Bench bench;
  bench.end_doubling();
  const double before = bench.window();
  bench.now += Bench::us(10'000);
  BOOST_TEST(!bench.control.timed_out(bench.now));
  BOOST_TEST(bench.window() == before / 2, boost::test_tools::tolerance(0.01));
}

// 1 Gbit/s for a round trip of 80 us is ten packets.
BOOST_AUTO_TEST_CASE(after_a_silence_the_window_is_what_the_restarts_rate_sends_in_a_round_trip) {
  for (const bool slow : {true, false}) {
    CongestionSettings chosen = settings();
    chosen.slow_restart = slow;
    Bench bench(chosen);
    bench.acknowledge(80, 100);
    const double before = bench.window();
    BOOST_TEST(before == 110, kClose);
    BOOST_TEST(bench.control.woken(bench.now) == slow);
    BOOST_TEST(bench.window() == (slow ? 10 : before), kClose);
    BOOST_TEST(!bench.control.woken(bench.now));  // it is not faster than that
  }
}

BOOST_AUTO_TEST_CASE(after_timeouts_in_a_row_the_window_is_the_least) {
  Bench bench;
  bench.end_doubling();
  for (int i = 0; i < 5; ++i) {
    bench.now += Bench::us(10'000);
    bench.control.timed_out(bench.now);
  }
  BOOST_TEST(bench.control.allowance(bench.now).rate.gbps() < 8.0 * kPacket / 10'000 / 50);
}

// However many notifications come, and from whomever.
BOOST_AUTO_TEST_CASE(no_rate_is_below_the_least) {
  CongestionSettings chosen = settings();
  chosen.least = SendRate::mbps(10);
  Bench bench(chosen);
  bench.acknowledge(1'000);
  for (int i = 0; i < 100; ++i) {
    bench.now += Bench::us(1'000);
    bench.control.marked(bench.now);
  }
  BOOST_TEST(bench.control.allowance(bench.now).rate.gbps() == 0.01, kClose);
}

BOOST_AUTO_TEST_CASE(a_notification_counts_as_a_round_trip_of_twice_the_target) {
  Bench bench;
  bench.end_doubling();
  const double before = bench.window();
  bench.control.marked(bench.now);
  BOOST_TEST(bench.window() == before * 0.6, boost::test_tools::tolerance(0.01));
  BOOST_TEST(bench.control.snapshot().marks == 2u);
}

// Section 3.5: the target of a small window is longer.
BOOST_AUTO_TEST_CASE(the_target_grows_as_the_window_shrinks) {
  CongestionSettings scaled = settings();
  scaled.rtt.flow_scaling = Nanoseconds{100'000};
  scaled.rtt.scaling_from = 0.1;
  scaled.rtt.scaling_to = 100;
  Bench bench(scaled);
  bench.acknowledge(10);
  const Nanoseconds large = bench.control.target_delay();
  for (int i = 0; i < 30; ++i) {
    bench.now += Bench::us(100);
    bench.control.marked(bench.now);
  }
  BOOST_TEST((bench.control.target_delay() == Bench::us(10 + 25 + 100)));
  BOOST_TEST((large < bench.control.target_delay()));
  scaled.rtt.scaling_to = scaled.rtt.scaling_from;
  Bench equal(scaled);
  equal.acknowledge(10);
  BOOST_TEST((equal.control.target_delay() == Bench::us(35)));
}

BOOST_AUTO_TEST_CASE(a_path_that_has_become_longer_gets_a_longer_target) {
  Bench bench;
  bench.end_doubling();
  for (int second = 0; second < 25; ++second) {
    bench.now += std::chrono::seconds(1);
    bench.acknowledge(200);
  }
  BOOST_TEST((bench.control.target_delay() == Bench::us(225)));
}

// RFC 6928: many that begin together must not fill the queue before anything is measured.
BOOST_AUTO_TEST_CASE(it_begins_with_no_more_than_ten_packets) {
  CongestionSettings fast = settings();
  fast.line = SendRate::gbps(80);
  Bench bench(fast);
  BOOST_TEST(bench.window() == 10, kClose);
}

// The first packet is the one that finds the emptiest path.
BOOST_AUTO_TEST_CASE(each_packet_is_measured_until_the_first_round_trip_is_known) {
  Bench bench;
  BOOST_TEST(bench.control.allowance(bench.now).measured == 1u);
  bench.acknowledge(10);
  BOOST_TEST(bench.control.allowance(bench.now).measured == SendAllowance{}.measured);
}

// Its share of a queue leaves with it, so that others see the path as it is.
BOOST_AUTO_TEST_CASE(it_drains_the_queue_now_and_then) {
  Bench bench;
  bench.end_doubling();
  const double before = bench.window();
  bench.now += Bench::us(17'999);  // 2 ms after the first measurement
  bench.acknowledge(30, 0);
  BOOST_TEST(bench.window() == before, kClose);
  bench.now += Bench::us(1);
  bench.acknowledge(30, 0);
  BOOST_TEST(bench.window() == 1, kClose);
  bench.now += Bench::us(2 * 30 + 49);
  BOOST_TEST(bench.window() == 1, kClose);
  bench.now += Bench::us(1);
  BOOST_TEST(bench.window() == before, kClose);
}

BOOST_AUTO_TEST_CASE(it_drains_nothing_while_there_is_no_queue) {
  Bench bench;
  bench.end_doubling();
  bench.now += Bench::us(30'000);
  bench.acknowledge(20, 0);
  BOOST_TEST(bench.window() > 1);
}

// So senders come to drain together.
BOOST_AUTO_TEST_CASE(it_drains_that_long_after_it_saw_that_another_did) {
  Bench bench;
  bench.end_doubling();
  bench.now += Bench::us(10'000);
  bench.acknowledge(9, 0);
  bench.now += Bench::us(19'999);
  bench.acknowledge(30, 0);
  BOOST_TEST(bench.window() > 1);
  bench.now += Bench::us(1);
  bench.acknowledge(30, 0);
  BOOST_TEST(bench.window() == 1, kClose);
}

BOOST_AUTO_TEST_SUITE_END()
