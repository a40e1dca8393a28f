// What the scoreboard says of packets under way, lost and arrived, in disorder and back in order.
#define BOOST_TEST_DYN_LINK
#include "device_model/transport/recovery/scoreboard.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <random>
#include <set>

namespace urnic::transport {
namespace {

PacketNumber n(std::uint64_t value) { return PacketNumber(value); }
constexpr Time kNow{Nanoseconds{1000}};

// A board on which the packets [first, first + count) have been sent, one by one.
struct Sent {
  explicit Sent(std::uint64_t count, std::uint32_t window = 16, std::uint64_t first = 0) : board(window) {
    board.clear(n(first));
    for (std::uint64_t i = 0; i < count; ++i) board.sent({n(first + i), 1});
  }
  Scoreboard board;
};

// The numbers of the first range that is lost; -1 if none is.
std::pair<std::int64_t, std::int64_t> first_lost(const Scoreboard& board) {
  const auto range = board.first_lost(1000);
  if (!range) return {-1, -1};
  return {static_cast<std::int64_t>(range->first.value()), static_cast<std::int64_t>(range->end().value())};
}

std::uint64_t under_way(const Scoreboard& board) {
  std::uint64_t count = 0;
  for (PacketNumber packet = board.unacknowledged(); packet < board.end(); packet = packet + 1) {
    count += board.is_under_way(packet) ? 1 : 0;
  }
  return count;
}

using Range = std::pair<std::int64_t, std::int64_t>;
constexpr Range kNone{-1, -1};

BOOST_AUTO_TEST_SUITE(scoreboard)

BOOST_AUTO_TEST_CASE(in_order_everything_is_under_way_until_acknowledged) {
  Sent s(5);
  BOOST_TEST(under_way(s.board) == 5u);
  BOOST_TEST(!s.board.acknowledge(n(3)), "an arrival in order says nothing about others");
  BOOST_TEST(under_way(s.board) == 2u);
  BOOST_TEST(s.board.has_arrived(n(2)));
  BOOST_TEST(!s.board.has_arrived(n(3)));
  BOOST_TEST((first_lost(s.board) == kNone));
}

BOOST_AUTO_TEST_CASE(what_was_sent_before_an_arrival_is_lost) {
  Sent s(6);
  const auto arrival = s.board.arrive({n(4), 1});
  BOOST_REQUIRE(arrival);
  BOOST_TEST(!s.board.arrive({n(4), 1}), "it is known");
  s.board.lose({.order = arrival->order - 1, .limit = s.board.end()});
  BOOST_TEST((first_lost(s.board) == Range{0, 3}));
  BOOST_TEST(under_way(s.board) == 2u);  // 3 and 5
  BOOST_TEST(s.board.first_missing(n(4), n(6)).value() == 5u);
}

BOOST_AUTO_TEST_CASE(a_packet_sent_again_is_lost_again_when_a_later_one_arrives) {
  Sent s(3);
  s.board.lose({.order = s.board.arrive({n(1), 1})->order, .limit = s.board.end()});
  BOOST_TEST((first_lost(s.board) == Range{0, 1}));
  s.board.sent_again({n(0), 1}, kNow);
  BOOST_TEST((first_lost(s.board) == kNone));
  // Packet 2 was sent before 0 was sent again.
  s.board.lose({.order = s.board.arrive({n(2), 1})->order, .limit = s.board.end()});
  BOOST_TEST((first_lost(s.board) == kNone));
  s.board.sent({n(3), 1});
  s.board.lose({.order = s.board.arrive({n(3), 1})->order, .limit = s.board.end()});
  BOOST_TEST((first_lost(s.board) == Range{0, 1}));
}

// As with the responses to a long READ: most of them are still to come when an early one is lost twice.
BOOST_AUTO_TEST_CASE(what_was_sent_again_is_judged_although_higher_numbers_were_sent_before) {
  Sent s(10);
  s.board.lose(n(1));
  s.board.sent_again({n(1), 1}, kNow);
  s.board.lose(n(3));
  s.board.sent_again({n(3), 1}, kNow);
  s.board.acknowledge(n(1));
  s.board.arrive({n(2), 1});
  const auto arrival = s.board.arrive({n(3), 1});
  s.board.lose({.order = arrival->order, .limit = n(3)});
  BOOST_TEST((first_lost(s.board) == Range{1, 2}));
  BOOST_TEST(under_way(s.board) == 6u);  // 4 to 9
}

BOOST_AUTO_TEST_CASE(numbers_from_the_limit_on_are_not_judged) {
  Sent s(6);
  s.board.lose(n(1));
  s.board.sent_again({n(1), 1}, kNow);
  // A response to what was asked for again says nothing about later numbers, though they were sent before.
  const auto arrival = s.board.arrive({n(1), 1});
  s.board.lose({.order = arrival->order, .limit = n(1)});
  BOOST_TEST((first_lost(s.board) == Range{0, 1}));
}

BOOST_AUTO_TEST_CASE(the_latest_of_acknowledged_packets_is_what_was_sent_last) {
  Sent s(4);
  s.board.lose(n(0));
  s.board.sent_again({n(0), 1}, kNow);
  const auto latest = s.board.acknowledge(n(2));
  BOOST_REQUIRE(latest);
  BOOST_TEST(latest->packet.value() == 0u);
  BOOST_TEST(latest->again);
  BOOST_TEST((latest->sent_at == kNow));
}

BOOST_AUTO_TEST_CASE(a_postponed_packet_counts_as_sent_now) {
  Sent s(4);
  s.board.postpone(n(0));
  s.board.lose({.order = s.board.arrive({n(3), 1})->order, .limit = s.board.end()});
  BOOST_TEST((first_lost(s.board) == Range{1, 3}));
}

BOOST_AUTO_TEST_CASE(arrivals_can_be_forgotten_behind_the_acknowledgement_too) {
  Sent s(6);
  s.board.acknowledge(n(3));
  s.board.arrive({n(5), 1});
  s.board.forget_arrivals(n(2));
  BOOST_TEST(s.board.unacknowledged().value() == 2u);
  BOOST_TEST((first_lost(s.board) == Range{2, 6}));
}

BOOST_AUTO_TEST_CASE(truncated_packets_are_gone) {
  Sent s(6);
  s.board.lose(n(1));
  s.board.lose(n(4));
  s.board.truncate(n(3));
  BOOST_TEST(s.board.end().value() == 3u);
  BOOST_TEST(under_way(s.board) == 2u);
  BOOST_TEST((first_lost(s.board) == Range{1, 2}));
  s.board.sent({n(3), 1});
  BOOST_TEST(s.board.is_under_way(n(3)));
}

// A READ reaches far beyond the ring: its end gets entries when the acknowledgements come near.
BOOST_AUTO_TEST_CASE(packets_beyond_the_ring_are_under_way_until_it_covers_them) {
  Sent s(0, 8);
  s.board.sent({n(0), 100});
  BOOST_TEST(s.board.covers(n(7)));
  BOOST_TEST(!s.board.covers(n(8)));
  s.board.lose(n(2));
  BOOST_TEST(under_way(s.board) == 99u);
  s.board.lose(n(50));
  BOOST_TEST(under_way(s.board) == 99u, "not covered: stays under way");
  s.board.acknowledge(n(2));
  BOOST_TEST(s.board.covers(n(9)));
  s.board.arrive({n(9), 1});
  s.board.lose_from(n(3));
  BOOST_TEST((first_lost(s.board) == Range{2, 9}));
}

BOOST_AUTO_TEST_CASE(what_has_arrived_ahead_is_counted_until_it_is_acknowledged_or_doubted) {
  Sent s(8);
  for (const std::uint64_t packet : {2, 3, 5, 6, 7}) s.board.arrive({n(packet), 1});
  BOOST_TEST(s.board.arrived_ahead() == 5u);
  s.board.doubt(n(5));
  BOOST_TEST(s.board.arrived_ahead() == 4u);
  s.board.acknowledge(n(3));
  BOOST_TEST(s.board.arrived_ahead() == 3u);
  s.board.truncate(n(7));
  BOOST_TEST(s.board.arrived_ahead() == 2u);
  s.board.forget_arrivals(n(6));
  BOOST_TEST(s.board.arrived_ahead() == 1u);
  s.board.clear(n(0));
  BOOST_TEST(s.board.arrived_ahead() == 0u);
}

// Against a plain model: sets of numbers, and the order of sending written down.
BOOST_AUTO_TEST_CASE(random_histories_agree_with_a_model) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 chance(seed);
    Sent s(0, 32);
    std::vector<std::uint64_t> order;  // by number: when it was sent last
    std::set<std::uint64_t> arrived, lost;
    std::uint64_t base = 0, clock = 0;
    const auto judge = [&](std::uint64_t before) {
      for (std::uint64_t i = base; i < order.size(); ++i) {
        if (!arrived.contains(i) && order[i] < before) lost.insert(i);
      }
      s.board.lose({.order = before, .limit = s.board.end()});
    };
    for (int step = 0; step < 400; ++step) {
      const std::uint64_t pick = order.size() > base ? base + chance() % (order.size() - base) : base;
      switch (chance() % 4) {
        case 0:
        case 1:
          if (order.size() - base < 32) {
            s.board.sent({n(order.size()), 1});
            order.push_back(clock++);
          }
          break;
        case 2:
          if (pick < order.size()) {
            const std::uint64_t end = std::min<std::uint64_t>(pick + 1 + chance() % 4, order.size());
            std::optional<SendOrder> latest;
            for (std::uint64_t i = pick; i < end; ++i) {
              if (!arrived.insert(i).second) continue;
              lost.erase(i);
              latest = std::max(latest, std::optional(order[i]));
            }
            const auto arrival = s.board.arrive({n(pick), static_cast<std::uint32_t>(end - pick)});
            BOOST_REQUIRE_EQUAL(arrival.has_value(), latest.has_value());
            if (!latest) break;
            BOOST_REQUIRE_EQUAL(arrival->order, *latest);
            judge(*latest);
            while (arrived.contains(base)) ++base;
            s.board.acknowledge(n(base));
          }
          break;
        case 3:
          if (const auto again = s.board.first_lost(1000)) {
            const std::uint64_t first = again->first.value();
            BOOST_REQUIRE(lost.contains(first));
            s.board.sent_again({again->first, 1}, kNow);
            order[first] = clock++;
            lost.erase(first);
          }
          break;
      }
      BOOST_REQUIRE_EQUAL(s.board.first_lost(1000).has_value(), !lost.empty());
      BOOST_REQUIRE_EQUAL(s.board.arrived_ahead(), std::distance(arrived.lower_bound(base), arrived.end()));
      for (std::uint64_t i = base; i < order.size(); ++i) {
        BOOST_REQUIRE_EQUAL(s.board.has_arrived(n(i)), arrived.contains(i));
        BOOST_REQUIRE_EQUAL(s.board.is_under_way(n(i)), !arrived.contains(i) && !lost.contains(i));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport
