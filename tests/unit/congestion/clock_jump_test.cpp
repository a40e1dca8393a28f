// Every algorithm when the clock jumps ahead: a process that was stopped, or a machine that stood still. What
// a sender measures then is not the path.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

#include "device_model/transport/congestion/sender_control.hpp"

using namespace urnic::transport;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t kPacket = 1000;
constexpr std::uint32_t kUnderWay = 1024;
constexpr Nanoseconds kRoundTrip = 20us;
constexpr SendRate kLine = SendRate::gbps(8);  // a byte a nanosecond

// When the clock jumps.
enum class Moment { silence, under_way, marked, timed_out };
constexpr const char* kMoments[] = {"silence", "packets under way", "a notification", "a timeout"};
constexpr Nanoseconds kJumps[] = {500ms, 2s, 11s, std::chrono::hours(1), std::chrono::hours(10 * 365 * 24)};

struct Case {
  CongestionAlgorithm algorithm;
  Nanoseconds recovers_within;
};
// TIMELY changes its rate once in a round trip, and the longest that it believes is a second.
constexpr Case kCases[] = {{CongestionAlgorithm::dcqcn, 50ms},
                           {CongestionAlgorithm::rtt, 50ms},
                           {CongestionAlgorithm::timely, 1200ms}};

struct Sender {
  explicit Sender(CongestionAlgorithm algorithm)
      : control({.algorithm = algorithm, .line = kLine}, kUnderWay) {
    control.start(kPacket, now);
    for (int i = 0; i < 2000; ++i) exchange(kRoundTrip);
  }

  // What leaves in a round trip.
  void send() {
    if (sent == acknowledged) control.wake(now);
    const double by_rate = std::min(control.rate(now).gbps() / 8, 1e3) / kPacket;
    const auto most = static_cast<std::uint64_t>(by_rate * static_cast<double>(kRoundTrip.count()));
    const std::uint64_t end = sent + std::clamp<std::uint64_t>(most, 1, kUnderWay);
    const std::uint64_t first = sent;
    do {
      control.sent(PacketNumber(sent++), kPacket, now);
      check();
    } while (sent < end && control.has_room(0));
    packets = sent - first;
  }
  void answer() {
    acknowledged = sent;
    control.acknowledged(PacketNumber(acknowledged), true, now);
    check();
  }
  void exchange(Nanoseconds round_trip) {
    send();
    now += round_trip;
    answer();
  }

  void jump(Moment moment, Nanoseconds span) {
    if (moment != Moment::silence) send();
    if (moment == Moment::marked) control.marked(now);
    now += span;
    if (moment == Moment::timed_out) control.timed_out(now);
    check();
    if (moment != Moment::silence) answer();
  }

  void check() {
    const SendRate rate = control.rate(now);
    const SendAllowance allowed = control.snapshot().allowance;
    if (rate.gbps() > 0 && (rate <= kLine || !rate.is_limited()) && allowed.window >= kPacket) return;
    BOOST_TEST_MESSAGE("rate " << rate.gbps() << ", window " << allowed.window);
    in_bounds = false;
  }

  SenderControl control;
  Time now{std::chrono::hours(1)};
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t packets = 0;  // in the last round trip
  bool in_bounds = true;
};

// How long until it sends as much as before in each of ten round trips; at most `patience`.
Nanoseconds recovery_time(Sender& sender, std::uint64_t packets_before, Nanoseconds patience) {
  const Time begin = sender.now;
  for (int in_a_row = 0; sender.now - begin < patience && in_a_row < 10;) {
    sender.exchange(kRoundTrip);
    in_a_row = 20 * sender.packets >= 19 * packets_before ? in_a_row + 1 : 0;
  }
  return sender.now - begin;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(clock_jump)

BOOST_AUTO_TEST_CASE(no_rate_is_out_of_bounds_and_all_recover) {
  for (const Case& each : kCases) {
    for (const Moment moment : {Moment::silence, Moment::under_way, Moment::marked, Moment::timed_out}) {
      for (const Nanoseconds span : kJumps) {
        BOOST_TEST_CONTEXT("algorithm " << static_cast<int>(each.algorithm) << ", "
                                        << kMoments[static_cast<int>(moment)] << ", " << span.count()
                                        << " ns") {
          Sender sender(each.algorithm);
          const std::uint64_t before = sender.packets;
          BOOST_TEST(before >= 20u);
          sender.jump(moment, span);
          const Nanoseconds taken = recovery_time(sender, before, 3s);
          BOOST_TEST(sender.in_bounds);
          BOOST_TEST(taken.count() <= each.recovers_within.count());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
