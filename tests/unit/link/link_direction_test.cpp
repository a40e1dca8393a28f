// What a link does to packets, in virtual time and without frames.
#include "device_model/link/link_direction.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

namespace urnic::link::test {

namespace {

using transport::Nanoseconds;
using transport::Time;

constexpr Time kStart{Nanoseconds(1'000'000)};

PacketIdentity packet(std::uint64_t count, std::uint32_t queue_pair = 1) { return {0, queue_pair, count}; }

std::int64_t after_start(Time time) { return (time - kStart).count(); }

// How many of `packets` the direction drops for `cause`.
int dropped(LinkDirection& link, int packets, DropCause cause) {
  int count = 0;
  for (int i = 1; i <= packets; ++i)
    count += link.enter(kStart, 100, packet(static_cast<std::uint64_t>(i))).drop == cause;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(link_direction)

BOOST_AUTO_TEST_CASE(a_perfect_wire_is_not_impaired_and_changes_nothing) {
  const LinkSettings settings;
  BOOST_TEST(!is_impaired(settings));
  LinkDirection link(settings, 0, Direction::transmit);
  const Passage passage = link.enter(kStart, 4096, packet(1));
  BOOST_TEST((passage.drop == DropCause::none));
  BOOST_TEST(passage.copies == 1);
  BOOST_TEST(after_start(passage.due) == 0);
  BOOST_TEST(passage.behind == 0);
  BOOST_TEST(!passage.corrupted);
  BOOST_TEST(!passage.congestion);
}

BOOST_AUTO_TEST_CASE(a_rate_takes_its_time_and_packets_wait_for_each_other) {
  LinkDirection link({.rate_gbps = 8, .delay = Nanoseconds(5000)}, 0, Direction::transmit);  // 1 ns a byte
  BOOST_TEST(after_start(link.enter(kStart, 976, packet(1)).due) == 1000 + 5000);
  BOOST_TEST(after_start(link.enter(kStart, 976, packet(2)).due) == 2000 + 5000);
  BOOST_TEST(after_start(link.clear_at()) == 2000);
  const Time later = kStart + Nanoseconds(10'000);
  BOOST_TEST(after_start(link.enter(later, 976, packet(3)).due) == 11'000 + 5000);
}

// 100 Gbit/s is 80 ps a byte: what does not make a nanosecond is not lost.
BOOST_AUTO_TEST_CASE(fractions_of_nanoseconds_add_up) {
  LinkDirection link({.rate_gbps = 100, .queue_packets = 2000}, 0, Direction::transmit);
  Time last{};
  for (std::uint64_t i = 1; i <= 1000; ++i) last = link.enter(kStart, 77, packet(i)).due;  // 101 bytes
  BOOST_TEST(after_start(last) == 8080);
}

BOOST_AUTO_TEST_CASE(a_full_queue_drops_and_a_packet_that_leaves_makes_room) {
  LinkDirection link({.rate_gbps = 8, .queue_packets = 2}, 0, Direction::receive);
  for (std::uint64_t i = 1; i <= 3; ++i)  // one leaves, two wait
    BOOST_TEST((link.enter(kStart, 976, packet(i)).drop == DropCause::none));
  BOOST_TEST((link.enter(kStart, 976, packet(4)).drop == DropCause::queue_full));
  BOOST_TEST((link.enter(kStart + Nanoseconds(999), 976, packet(5)).drop == DropCause::queue_full));
  const Passage passage = link.enter(kStart + Nanoseconds(1000), 976, packet(6));
  BOOST_TEST((passage.drop == DropCause::none));
  BOOST_TEST(after_start(passage.due) == 4000);
}

BOOST_AUTO_TEST_CASE(marks_from_the_threshold_on) {
  LinkDirection link({.rate_gbps = 8, .ecn_threshold_packets = 2}, 0, Direction::receive);
  std::vector<bool> marked;
  for (std::uint64_t i = 1; i <= 5; ++i) marked.push_back(link.enter(kStart, 976, packet(i)).congestion);
  BOOST_TEST(marked == (std::vector<bool>{false, false, false, true, true}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(loss_is_as_frequent_as_asked) {
  LinkDirection link({.loss = 0.01}, 0, Direction::transmit);
  const int lost = dropped(link, 100'000, DropCause::loss);
  BOOST_TEST(lost > 850);  // 1000 +- 5 sigma
  BOOST_TEST(lost < 1150);
  LinkDirection none({.loss = 0}, 0, Direction::transmit);
  BOOST_TEST(dropped(none, 1000, DropCause::loss) == 0);
  LinkDirection all({.loss = 1}, 0, Direction::transmit);
  BOOST_TEST(dropped(all, 1000, DropCause::loss) == 1000);
}

BOOST_AUTO_TEST_CASE(a_fate_depends_on_the_packet_and_not_on_what_is_beside_it) {
  const LinkSettings settings{.loss = 0.3, .duplicate = 0.3, .reorder = 0.3, .corrupt = 0.3};
  LinkDirection alone(settings, 0, Direction::transmit);
  LinkDirection shared(settings, 0, Direction::transmit);
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    for (std::uint64_t other = 0; other < i % 4; ++other) shared.enter(kStart, 50, packet(i * 4 + other, 2));
    const Passage a = alone.enter(kStart, 100, packet(i));
    const Passage b = shared.enter(kStart, 100, packet(i));
    BOOST_REQUIRE((a.drop == b.drop));
    BOOST_REQUIRE_EQUAL(a.copies, b.copies);
    BOOST_REQUIRE_EQUAL(a.behind, b.behind);
    BOOST_REQUIRE_EQUAL(a.corruption, b.corruption);
  }
}

// LinkChannel asks a link that only loses nothing else.
BOOST_AUTO_TEST_CASE(a_link_that_only_loses_loses_the_same_packets_as_one_that_does_more) {
  LinkDirection loses({.loss = 0.3}, 0, Direction::transmit);
  LinkDirection does_more({.loss = 0.3, .duplicate = 0.3}, 0, Direction::transmit);
  BOOST_TEST(loses.only_loses());
  BOOST_TEST(!does_more.only_loses());
  LinkDirection perfect({}, 0, Direction::transmit);
  BOOST_TEST(perfect.only_loses());
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const bool lost = does_more.enter(kStart, 100, packet(i)).drop == DropCause::loss;
    BOOST_REQUIRE_EQUAL(loses.loses(packet(i)), lost);
    BOOST_REQUIRE_EQUAL(loses.enter(kStart, 100, packet(i)).drop == DropCause::loss, lost);
    BOOST_REQUIRE(!perfect.loses(packet(i)));
  }
}

// Seed, link, direction, device, QP and count: each is part of the key.
BOOST_AUTO_TEST_CASE(everything_that_names_a_packet_changes_its_fate) {
  const auto pattern = [](std::uint64_t seed, std::uint32_t device, Direction direction,
                          PacketIdentity first) {
    RandomImpairments fates({.loss = 0.5, .seed = seed}, device, direction);
    std::uint64_t bits = 0;
    for (int i = 0; i < 64; ++i, ++first.count)
      bits = bits << 1 | static_cast<std::uint64_t>(fates.of(first).lost);
    return bits;
  };
  std::set<std::uint64_t> patterns;
  patterns.insert(pattern(1, 0, Direction::transmit, {0, 1, 1}));
  patterns.insert(pattern(2, 0, Direction::transmit, {0, 1, 1}));
  patterns.insert(pattern(1, 1, Direction::transmit, {0, 1, 1}));
  patterns.insert(pattern(1, 0, Direction::receive, {0, 1, 1}));
  patterns.insert(pattern(1, 0, Direction::transmit, {1, 1, 1}));
  patterns.insert(pattern(1, 0, Direction::transmit, {0, 2, 1}));
  patterns.insert(pattern(1, 0, Direction::transmit, {0, 1, 100}));
  BOOST_TEST(patterns.size() == 7);
}

BOOST_AUTO_TEST_CASE(bursts_have_the_asked_length_and_share) {
  LinkDirection link({.burst_start = 0.001, .burst_end = 0.125}, 0, Direction::transmit);
  int lost = 0;
  int bursts = 0;
  bool before = false;
  for (std::uint64_t i = 1; i <= 1'000'000; ++i) {
    const bool now = link.enter(kStart, 100, packet(i)).drop == DropCause::burst;
    lost += now;
    bursts += now && !before;
    before = now;
  }
  BOOST_TEST(static_cast<double>(lost) / bursts == 8.0, boost::test_tools::tolerance(0.15));
  BOOST_TEST(lost / 1e6 == 0.001 / 0.126, boost::test_tools::tolerance(0.15));
}

BOOST_AUTO_TEST_CASE(jitter_spreads_and_keeps_the_order) {
  LinkDirection link({.delay = Nanoseconds(1000), .jitter = Nanoseconds(400)}, 0, Direction::transmit);
  Time last{};
  std::int64_t lowest = 1'000'000;
  std::int64_t highest = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const Time now = kStart + Nanoseconds(static_cast<std::int64_t>(i) * 10'000);
    const std::int64_t taken = (link.enter(now, 100, packet(i)).due - now).count();
    lowest = std::min(lowest, taken);
    highest = std::max(highest, taken);
  }
  BOOST_TEST(lowest >= 1000);
  BOOST_TEST(lowest < 1010);
  BOOST_TEST(highest <= 1400);
  BOOST_TEST(highest > 1390);
  const Time now = kStart + Nanoseconds(20'000'000);
  for (std::uint64_t i = 2000; i <= 2100; ++i) {
    const Time due = link.enter(now, 100, packet(i)).due;
    BOOST_REQUIRE((due >= last));
    last = due;
  }
}

BOOST_AUTO_TEST_CASE(room_is_what_the_line_carries_soon) {
  LinkDirection link({.rate_gbps = 8}, 0, Direction::transmit);
  const Nanoseconds ahead(10'000);
  BOOST_TEST(link.room(kStart, ahead, 4096) == 10'000);
  BOOST_TEST(link.room(kStart, Nanoseconds(100), 4096) == 4096);
  link.enter(kStart, 3976, packet(1));
  BOOST_TEST(link.room(kStart, ahead, 4096) == 6000);
  link.enter(kStart, 9976, packet(2));
  BOOST_TEST(link.room(kStart, ahead, 4096) == 0);
  BOOST_TEST(link.room(kStart + Nanoseconds(14'000), ahead, 4096) == 10'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
