// How long packets may wait in switches, and what drops them then (IBTA 18.2.5.4); how long a link may be
// silent (7.9.4).
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/unit/link/subnet_bench.hpp"

namespace urnic::link::test {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using transport::Nanoseconds;
using transport::Time;

BOOST_AUTO_TEST_SUITE(timed_subnet)

BOOST_AUTO_TEST_CASE(a_packet_at_the_head_for_too_long_is_dropped) {
  Star star(2);
  star.output.head_of_queue_life = 6;  // 262.144 us
  star.begin();
  star.busy_until[1] = Time(milliseconds(100));
  // Two fill the receiver's buffer; the third one is at the head of the switch's queue.
  for (int i = 0; i < 3; ++i) star.send(0, Star::lid_of(1), kLarge);
  star.run_for(milliseconds(50));
  BOOST_REQUIRE(star.lost.size() == 1u);
  BOOST_TEST(has(star.lost, "HOQLife"));
  // It came so late because the switch's own buffer is full of the two until the first one has left.
  const Nanoseconds line{(kLarge + 2) * 4};
  BOOST_TEST((star.lost_at[0] == Time(3 * (line + kHop)) + Nanoseconds(262'144)));
  BOOST_TEST(star.routes.counters(star.hub, 2).discards == 1u);
  star.run();
  BOOST_TEST(star.arrivals.size() == 2u);
  BOOST_TEST(star.is_at_rest());
}

BOOST_AUTO_TEST_CASE(a_packet_in_a_switch_for_too_long_is_dropped) {
  Star star(2);
  star.node(star.hub).life_time = 6;
  star.begin();
  star.busy_until[1] = Time(milliseconds(100));
  for (int i = 0; i < 3; ++i) star.send(0, Star::lid_of(1), kLarge);
  star.run_for(milliseconds(50));
  BOOST_REQUIRE(star.lost.size() == 1u);
  BOOST_TEST(has(star.lost, "LifeTimeValue"));
  star.run();
  BOOST_TEST(star.is_at_rest());
}

// Adapters keep what they have.
BOOST_AUTO_TEST_CASE(lives_are_those_of_switches) {
  Star star(2);
  star.output.head_of_queue_life = 1;
  star.begin();
  star.node(star.hub).outputs[2].head_of_queue_life = kForEver;
  star.write(star.hub);
  star.busy_until[1] = Time(milliseconds(100));
  for (int i = 0; i < 10; ++i) star.send(0, Star::lid_of(1), kLarge);
  star.run();
  BOOST_TEST(star.lost.empty());
  BOOST_TEST(star.arrivals.size() == 10u);
}

// A manager shortens the life of what has waited for longer already.
BOOST_AUTO_TEST_CASE(a_shorter_life_counts_at_once) {
  Star star(2);
  star.output.head_of_queue_life = 19;  // 2.1 s
  star.begin();
  star.busy_until[1] = Time(std::chrono::seconds(1));
  for (int i = 0; i < 3; ++i) star.send(0, Star::lid_of(1), kLarge);
  star.run_for(milliseconds(10));
  BOOST_TEST(star.lost.empty());
  star.node(star.hub).outputs[2].head_of_queue_life = 6;
  star.write(star.hub);
  star.run_for(milliseconds(1));
  BOOST_REQUIRE(star.lost.size() == 1u);
  BOOST_TEST((star.lost_at[0] == Time(milliseconds(10))));
  BOOST_TEST(star.steps_back == 0u);
}

// Inputs take turns: the next head may have come before the one that was dropped.
BOOST_AUTO_TEST_CASE(an_older_head_after_a_drop_is_dropped_next) {
  Star star(3);
  star.node(star.hub).life_time = 6;  // 262.144 us
  star.begin();
  star.busy_until[2] = Time(milliseconds(100));
  for (int i = 0; i < 4; ++i) star.send(0, Star::lid_of(2), kLarge);
  star.run_for(microseconds(200));
  for (int i = 0; i < 2; ++i) star.send(1, Star::lid_of(2), kLarge);
  star.run_for(milliseconds(1));
  BOOST_TEST(star.lost.size() == 4u);
  BOOST_TEST(std::is_sorted(star.lost_at.begin(), star.lost_at.end()));
  BOOST_TEST(star.steps_back == 0u);
  star.run();
  BOOST_TEST(star.is_at_rest());
}

// It was behind one that came later, by another port, and has left.
BOOST_AUTO_TEST_CASE(an_older_head_after_one_that_has_left_is_dropped) {
  Star star(3);
  star.node(star.hub).life_time = 6;  // 262.144 us
  star.begin();
  star.busy_until[2] = Time(microseconds(250));
  star.device_takes = microseconds(80);
  // Two fill the receiver's buffer; the fourth one is at the switch at 64 us, and too old at 327 us.
  for (int i = 0; i < 4; ++i) star.send(1, Star::lid_of(2), kLarge);
  star.run_until(Time(microseconds(200)));
  star.send(0, Star::lid_of(2), kLarge);
  star.run();
  BOOST_REQUIRE(star.lost.size() == 1u);
  BOOST_TEST(has(star.lost, "LifeTimeValue"));
  // The receiver takes its second one then, so that the packet of the other port leaves.
  BOOST_TEST((star.lost_at[0] == Time(microseconds(330)) + kHop));
  BOOST_TEST(star.steps_back == 0u);
  BOOST_TEST(star.is_at_rest());
}

BOOST_AUTO_TEST_CASE(a_lane_that_drops_again_and_again_stalls) {
  Star star(2);
  star.output.head_of_queue_life = 6;
  star.output.stall_count = 2;
  star.begin();
  star.busy_until[1] = Time(milliseconds(20));
  star.begin_flow(0, Star::lid_of(1), kLarge, 40);
  star.run_for(milliseconds(3));
  // Two are dropped for their time, then all that come in the next 2.1 ms.
  BOOST_REQUIRE(star.lost.size() > 2u);
  for (std::size_t i = 0; i < star.lost.size(); ++i)
    BOOST_TEST((star.lost[i].find(i < 2 ? "HOQLife" : "stalled") != std::string::npos));
  BOOST_TEST(star.routes.counters(star.hub, 2).discards == star.lost.size());
  const Time end = star.lost_at[1] + 8 * Nanoseconds(262'144);
  star.run_until(end - microseconds(20));
  BOOST_REQUIRE(star.arrivals.size() + star.lost.size() + star.subnet->packets() == 40u);
  BOOST_REQUIRE(star.subnet->packets() == 2u);  // at the receiver
  const auto lost = star.lost.size();
  star.run_until(end - kOnLine - kHop - Nanoseconds(100));
  star.send(0, Star::lid_of(1), kBytes);
  star.run_until(end);
  BOOST_TEST(star.lost.size() == lost + 1);
  // It ends: a packet has its time at the head again, and passes when the receiver takes some.
  star.send(0, Star::lid_of(1), kBytes);
  star.run_for(milliseconds(1));
  BOOST_TEST(star.lost.size() == lost + 2);
  BOOST_TEST((star.lost.back().find("HOQLife") != std::string::npos));
  star.run();
  star.begin_flow(0, Star::lid_of(1), kLarge, 5);
  star.run();
  BOOST_TEST(star.arrivals.size() == 2 + 5u);
  BOOST_TEST(star.is_at_rest());
}

// IBTA 7.9.4: 400,000 symbols, which take 1.6 ms on lanes of SDR, however many there are.
BOOST_AUTO_TEST_CASE(a_link_without_flow_control_for_too_long_is_counted) {
  for (const std::uint8_t width : {std::uint8_t{1}, std::uint8_t{4}}) {
    Star star(2);
    star.output.line_width = width;
    star.output.megabits_per_second = kSlow * width;
    star.begin();
    const auto silences = [&] { return star.routes.counters(1, 1).line.silences; };
    const auto cut = [&](microseconds span) { star.subnet->fall_silent(1, star.now, star.now + span); };
    cut(microseconds(1600));
    star.run_for(milliseconds(10));
    BOOST_TEST(silences() == 0u);
    cut(microseconds(1601));
    star.run_for(microseconds(1599));
    BOOST_TEST(silences() == 0u);
    star.run_for(milliseconds(10));
    BOOST_TEST(silences() == 1u);
    // Short cuts in a row are none, but those that overlap are one.
    for (int i = 0; i < 4; ++i, star.run_for(milliseconds(1))) cut(microseconds(999));
    star.run_for(milliseconds(10));
    BOOST_TEST(silences() == 1u);
    for (int i = 0; i < 4; ++i, star.run_for(milliseconds(1))) cut(microseconds(1001));
    star.run_for(milliseconds(10));
    BOOST_TEST(silences() == 2u);
    cut(milliseconds(5));
    star.run_for(milliseconds(1));
    star.subnet->end_silence(1);
    star.run_for(milliseconds(10));
    BOOST_TEST(silences() == 2u);
  }
}

// The line that fell silent has had its time, whatever the line is like that trains next.
BOOST_AUTO_TEST_CASE(a_silence_counts_although_the_rate_changes) {
  Star star(2);
  star.output.line_width = 1;
  star.output.megabits_per_second = kSlow;
  star.begin();
  star.subnet->fall_silent(1, star.now, star.now + milliseconds(5));
  star.output.megabits_per_second = 4 * kSlow;
  star.connect({1, 1}, {star.hub, 2});
  star.write(1);
  star.write(star.hub);
  star.run_for(milliseconds(10));
  BOOST_TEST(star.routes.counters(1, 1).line.silences == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
