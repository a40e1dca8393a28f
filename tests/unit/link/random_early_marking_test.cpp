// Marks by the length of a queue in bytes.
#include "device_model/link/random_early_marking.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/link/link_direction.hpp"

namespace urnic::link::test {

namespace random_early_marking {

using transport::Nanoseconds;
using transport::Time;

constexpr Time kStart{Nanoseconds(1'000'000)};
constexpr std::uint64_t kLeastBits = 0;
constexpr std::uint64_t kMostBits = ~std::uint64_t{0};

PacketIdentity packet(std::uint64_t count, std::uint32_t queue_pair = 1) { return {0, queue_pair, count}; }

// A line at 1 ns a byte whose queue of `queued` bytes never changes much: one packet of that length is sent
// for each that is asked about.
bool marked_behind(LinkDirection& link, Time now, std::uint32_t queued, const PacketIdentity& asked) {
  link.enter(now, queued, packet(1, 9));
  return link.enter(now, 100, asked).congestion;
}

int marks(const LinkSettings& settings, std::uint32_t queued, int packets) {
  LinkDirection link(settings, 0, Direction::receive);
  int count = 0;
  Time now = kStart;
  for (int i = 1; i <= packets; ++i, now = link.clear_at() + Nanoseconds(1))
    count += marked_behind(link, now, queued, packet(static_cast<std::uint64_t>(i)));
  return count;
}

}  // namespace random_early_marking

BOOST_AUTO_TEST_SUITE(random_early_marking)

BOOST_AUTO_TEST_CASE(without_a_largest_length_there_are_no_marks) {
  BOOST_TEST(!RandomEarlyMarking({}).possible());
  BOOST_TEST(RandomEarlyMarking({.ecn_max_bytes = 1}).possible());
  BOOST_TEST(marks({.rate_gbps = 8}, 1'000'000, 10) == 0);
}

BOOST_AUTO_TEST_CASE(none_up_to_the_least_length_and_all_above_the_largest) {
  const RandomEarlyMarking marking({.ecn_min_bytes = 100, .ecn_max_bytes = 200, .ecn_probability = 0.01});
  BOOST_TEST(!marking.marks(0, kLeastBits));
  BOOST_TEST(!marking.marks(100, kLeastBits));
  BOOST_TEST(marking.marks(101, kLeastBits));
  BOOST_TEST(!marking.marks(200, kMostBits));
  BOOST_TEST(marking.marks(201, kMostBits));
}

BOOST_AUTO_TEST_CASE(equal_lengths_are_a_step) {
  const RandomEarlyMarking marking({.ecn_min_bytes = 100, .ecn_max_bytes = 100, .ecn_probability = 1});
  BOOST_TEST(!marking.marks(100, kLeastBits));
  BOOST_TEST(marking.marks(101, kMostBits));
}

BOOST_AUTO_TEST_CASE(the_probability_rises_evenly_to_its_highest) {
  const RandomEarlyMarking marking({.ecn_min_bytes = 1000, .ecn_max_bytes = 3000, .ecn_probability = 0.5});
  const auto bits = [](double share) { return static_cast<std::uint64_t>(share * 0x1p64); };
  for (const double way : {0.25, 0.5, 0.75, 1.0}) {
    const auto queued = 1000 + static_cast<std::uint64_t>(way * 2000);
    BOOST_TEST(marking.marks(queued, bits(way * 0.5 - 0.001)));
    BOOST_TEST(!marking.marks(queued, bits(way * 0.5 + 0.001)));
  }
}

BOOST_AUTO_TEST_CASE(marks_are_as_frequent_as_asked) {
  const LinkSettings settings{
      .rate_gbps = 8, .ecn_min_bytes = 10'000, .ecn_max_bytes = 30'000, .ecn_probability = 0.2};
  BOOST_TEST(marks(settings, 10'000, 10'000) == 0);
  const int half = marks(settings, 20'000, 10'000);
  BOOST_TEST(half > 850);  // 1000 +- 5 sigma
  BOOST_TEST(half < 1150);
  BOOST_TEST(marks(settings, 30'001, 10'000) == 10'000);
}

// The queue's length decides how likely a mark is; which packets get it, only seed and packet.
BOOST_AUTO_TEST_CASE(a_mark_depends_on_the_packet_and_the_seed_and_not_on_what_is_beside_it) {
  LinkSettings settings{.rate_gbps = 8, .ecn_max_bytes = 40'000, .ecn_probability = 1};
  LinkDirection alone(settings, 0, Direction::receive);
  LinkDirection shared(settings, 0, Direction::receive);
  settings.seed = 2;
  LinkDirection other_seed(settings, 0, Direction::receive);
  int others = 0;
  Time now = kStart;
  for (std::uint64_t i = 1; i <= 1000; ++i, now += Nanoseconds(1'000'000)) {
    for (std::uint64_t other = 0; other < i % 4; ++other) shared.enter(now, 50, packet(i * 4 + other, 2));
    const Time later = now + Nanoseconds(500'000);
    const bool marked = marked_behind(alone, later, 20'000, packet(i));
    BOOST_REQUIRE_EQUAL(marked, marked_behind(shared, later, 20'000, packet(i)));
    others += marked != marked_behind(other_seed, later, 20'000, packet(i));
  }
  BOOST_TEST(others > 300);
}

BOOST_AUTO_TEST_CASE(a_packet_counts_for_marks_until_its_last_bit_has_left) {
  const LinkSettings settings{.rate_gbps = 8, .ecn_min_bytes = 999, .ecn_max_bytes = 999};
  for (const std::int64_t after : {1023, 1024}) {  // 1000 bytes and 24 that Ethernet adds
    LinkDirection link(settings, 0, Direction::receive);
    BOOST_TEST(!link.enter(kStart, 1000, packet(1)).congestion);
    BOOST_TEST(link.enter(kStart + Nanoseconds(after), 100, packet(2)).congestion == (after < 1024));
  }
}

BOOST_AUTO_TEST_CASE(a_threshold_in_packets_marks_beside_it) {
  LinkDirection link({.rate_gbps = 8, .ecn_threshold_packets = 1, .ecn_max_bytes = 1'000'000}, 0,
                     Direction::receive);
  link.enter(kStart, 100, packet(1));
  BOOST_TEST(!link.enter(kStart, 100, packet(2)).congestion);
  BOOST_TEST(link.enter(kStart, 100, packet(3)).congestion);
}

BOOST_AUTO_TEST_CASE(bytes_in_the_queue_are_those_that_have_not_left) {
  EgressQueue queue({.rate_gbps = 8, .queue_packets = 3});
  BOOST_TEST(queue.bytes(kStart) == 0);
  std::uint64_t sum = 0;
  for (const std::uint32_t bytes : {976u, 476u, 76u, 276u}) {  // 1000, 500, 100, 300 ns
    queue.accept(kStart, bytes);
    BOOST_TEST(queue.bytes(kStart) == (sum += bytes));
  }
  const auto after = [&](std::int64_t span) { return queue.bytes(kStart + Nanoseconds(span)); };
  BOOST_TEST(after(999) == 1804);
  BOOST_TEST(after(1000) == 828);
  BOOST_TEST(queue.waiting(kStart + Nanoseconds(1000)) == 2);
  queue.accept(kStart + Nanoseconds(1000), 176);  // the ring begins again; 200 ns
  BOOST_TEST(after(1000) == 1004);
  BOOST_TEST(after(1650) == 452);
  BOOST_TEST(after(2099) == 176);
  BOOST_TEST(after(2100) == 0);
  queue.accept(kStart + Nanoseconds(5000), 76);
  BOOST_TEST(after(5099) == 76);
  BOOST_TEST(after(5100) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
