// When packets that others have overtaken count as lost (suspects.hpp; RFC 8985, section 6.2).
#define BOOST_TEST_DYN_LINK
#include "device_model/transport/recovery/suspects.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>

namespace urnic::transport {
namespace suspects {

using std::chrono::microseconds;

constexpr Nanoseconds kRoundTrip = microseconds(10);
constexpr std::uint32_t kReordering = 8;

PacketNumber n(std::uint64_t value) { return PacketNumber(value); }

// A sender whose round trip is known. Times are microseconds.
struct Sender {
  Sender() {
    board.clear(n(0));
    suspects.clear(n(0));
    // So often that there is no variation left: packets are waited for two round trips at most.
    for (int i = 0; i < 100; ++i) round_trip.measured(kRoundTrip);
  }

  void send(std::uint64_t packets, int at) {
    for (std::uint64_t i = 0; i < packets; ++i) board.sent({board.end(), 1});
    suspects.sent_new(time(at));
  }
  void send_again(std::uint64_t packet, int at) { board.sent_again({n(packet), 1}, time(at)); }
  // The peer says that `packet` has arrived.
  void report(std::uint64_t packet, int at, bool too_soon = false) {
    arrive(packet, at, board.end(), Evidence::Kind::report, too_soon);
  }
  // The response to `packet` has arrived.
  void respond(std::uint64_t packet, int at) {
    arrive(packet, at, n(packet), Evidence::Kind::response, false);
  }
  // Everything before `until` has arrived.
  void acknowledge(std::uint64_t until, int at) {
    const PacketNumber from = board.unacknowledged();
    if (const auto arrival = board.acknowledge(n(until))) {
      suspects.learn(*arrival, from, n(until), false, time(at));
    }
    suspects.settle(time(at));
  }
  // Microseconds, or -1.
  double verdict(bool nothing_new = true) const {
    const auto verdict = suspects.verdict(nothing_new, round_trip);
    return verdict ? std::chrono::duration<double, std::micro>(verdict->time_since_epoch()).count() : -1;
  }
  bool is_lost(std::uint64_t packet) const {
    return !board.has_arrived(n(packet)) && !board.is_under_way(n(packet));
  }
  // Of two packets the first is late by `lateness`.
  void reorder(int at, int lateness) {
    const std::uint64_t first = board.end().value();
    send(2, at);
    report(first + 1, at + 10);
    report(first, at + 10 + lateness);
    acknowledge(first + 2, at + 10 + lateness);
  }
  // Of two packets the first is lost and sent again.
  void lose_one(int at) {
    const std::uint64_t first = board.end().value();
    send(2, at);
    report(first + 1, at + 10);
    suspects.judge();
    send_again(first, at + 15);
    acknowledge(first + 2, at + 25);
  }

  Scoreboard board{64};
  Suspects suspects{board, kReordering};
  RoundTripTime round_trip;

 private:
  static Time time(int at) { return Time(microseconds(at)); }

  void arrive(std::uint64_t packet, int at, PacketNumber limit, Evidence::Kind kind, bool too_soon) {
    const auto arrival = board.arrive({n(packet), 1});
    BOOST_REQUIRE(arrival);
    suspects.learn(*arrival, n(packet), n(packet + 1), too_soon, time(at));
    if (!too_soon) suspects.take(*arrival, limit, kind);
    suspects.settle(time(at));
  }
};

BOOST_AUTO_TEST_SUITE(suspects)

// All was sent at 0, so without loss the end would be at 10. The suspect has been one since 6: sent again
// then it would arrive at 16, which is 6 later. Half of that is waited.
BOOST_AUTO_TEST_CASE(half_of_the_price_of_the_repair_is_waited) {
  Sender s;
  s.send(4, 0);
  s.report(1, 6);
  BOOST_TEST(s.suspects.any());
  BOOST_TEST(s.verdict() == 9.0);
  s.suspects.judge();
  BOOST_TEST(s.is_lost(0));
  BOOST_TEST(!s.is_lost(2));
  BOOST_TEST(!s.suspects.any());
}

BOOST_AUTO_TEST_CASE(no_more_than_half_of_a_round_trip_is_waited) {
  Sender s;
  s.send(2, 0);
  s.report(1, 50);  // an engine that was kept from running
  BOOST_TEST(s.verdict() == 55.0);
}

BOOST_AUTO_TEST_CASE(nothing_is_waited_if_the_end_would_be_later_for_it) {
  Sender s;
  s.send(2, 0);
  s.report(1, 10);
  s.send(1, 10);
  BOOST_TEST(s.verdict() == 10.0);
}

BOOST_AUTO_TEST_CASE(while_new_packets_are_sent_only_their_arrivals_tell) {
  Sender s;
  s.send(12, 0);
  for (std::uint64_t packet = 1; packet <= kReordering; ++packet) {
    s.report(packet, 10);
    BOOST_TEST(s.verdict(false) == -1.0);
    BOOST_TEST(!s.is_lost(0));
  }
  s.report(kReordering + 1, 10);
  BOOST_TEST(s.is_lost(0));
  BOOST_TEST(!s.suspects.any());
}

// Packet 0 was sent again behind all others. If its first transmission has arrived, which was late, or if the
// reports of the others are still to come, nothing is lost. Beyond the highest arrival that is likelier than
// a long run of losses.
BOOST_AUTO_TEST_CASE(the_arrival_of_a_repeat_proves_no_long_run_of_losses) {
  for (const std::uint32_t run : {kReordering, kReordering + 1}) {
    Sender s;
    s.send(4, 0);
    s.report(2, 10);
    s.suspects.judge();
    s.send(run - 1, 12);
    s.send_again(0, 13);
    s.report(0, 23);
    BOOST_TEST(s.suspects.any() == (run == kReordering));
    BOOST_TEST(!s.is_lost(3));
    BOOST_TEST(s.is_lost(1));
    if (run == kReordering) continue;
    s.report(3 + run - 1, 24);  // the last of the run, sent once
    BOOST_TEST(s.suspects.any());
  }
}

BOOST_AUTO_TEST_CASE(it_proves_losses_before_the_highest_arrival_all_the_same) {
  Sender s;
  s.send(2, 0);
  s.report(1, 10);
  s.suspects.judge();
  s.send(20, 11);
  s.send_again(0, 12);
  s.report(4, 22);  // 2 and 3 are suspects, sent more than kReordering before the repeat
  BOOST_TEST(!s.is_lost(2));
  s.report(0, 23);
  BOOST_TEST(s.is_lost(2));
  BOOST_TEST(s.is_lost(3));
  BOOST_TEST(!s.is_lost(5));
}

BOOST_AUTO_TEST_CASE(an_arrival_ends_the_suspicion) {
  Sender s;
  s.send(3, 0);
  s.report(2, 10);
  s.report(0, 11);
  BOOST_TEST(s.suspects.any());
  s.report(1, 11);
  BOOST_TEST(!s.suspects.any());
  BOOST_TEST(s.verdict() == -1.0);
}

// RFC 8985, section 6.2, step 4.
BOOST_AUTO_TEST_CASE(in_a_recovery_nothing_is_waited) {
  Sender s;
  s.send(6, 0);
  s.report(1, 6);
  s.suspects.judge();
  s.send_again(0, 9);
  s.report(3, 12);
  BOOST_TEST(s.verdict() == 12.0);
  s.suspects.judge();
  s.send_again(2, 12);
  s.acknowledge(6, 22);
  // All that was under way has been acknowledged: the recovery is over.
  s.send(2, 30);
  s.report(7, 36);
  BOOST_TEST(s.verdict() == 39.0);
}

// RFC 8985, section 6.2, step 3.
BOOST_AUTO_TEST_CASE(reordering_that_was_seen_widens_the_wait) {
  Sender s;
  s.reorder(0, 6);
  s.send(2, 100);
  s.report(3, 110);
  BOOST_TEST(s.verdict() == 122.0);  // twice as late
}

BOOST_AUTO_TEST_CASE(a_packet_that_was_sent_again_needlessly_widens_it_too) {
  Sender s;
  s.send(2, 0);
  s.report(1, 10);
  s.suspects.judge();
  s.send_again(0, 15);
  s.report(0, 17, true);
  s.acknowledge(2, 17);
  s.send(2, 100);
  s.report(3, 110);
  BOOST_TEST(s.verdict() == 124.0);
}

// It is the time after which a probe would be sent.
BOOST_AUTO_TEST_CASE(two_round_trips_are_the_most_that_is_waited) {
  Sender s;
  s.reorder(0, 1000);
  s.send(2, 2000);
  s.report(3, 2010);
  BOOST_TEST(s.verdict() == 2030.0);
}

// RFC 8985, section 6.2, step 4.
BOOST_AUTO_TEST_CASE(sixteen_recoveries_without_reordering_close_the_window) {
  for (const int recoveries : {16, 17}) {
    Sender s;
    s.reorder(0, 9);
    for (int i = 0; i < recoveries; ++i) s.lose_one(100 * (i + 1));
    const std::uint64_t first = s.board.end().value();
    s.send(2, 10'000);
    s.report(first + 1, 10'010);
    BOOST_TEST(s.verdict() == (recoveries == 16 ? 10'028.0 : 10'015.0));
  }
}

BOOST_AUTO_TEST_CASE(reordering_in_between_keeps_it_open) {
  Sender s;
  s.reorder(0, 9);
  for (int i = 0; i < 40; ++i) {
    s.lose_one(1000 * i + 100);
    if (i % 10 == 0) s.reorder(1000 * i + 500, 1);
  }
  const std::uint64_t first = s.board.end().value();
  s.send(2, 100'000);
  s.report(first + 1, 100'010);
  BOOST_TEST(s.verdict() == 100'028.0);
}

// Four responses are due behind the one that has come, in 4 us by the pace so far: a response that is asked
// for again at once is here 6 us after them.
BOOST_AUTO_TEST_CASE(responses_are_waited_for_by_their_pace) {
  Sender s;
  s.board.sent({n(0), 6});
  s.suspects.sent_new(Time{});
  s.respond(1, 20);
  BOOST_TEST(s.verdict() == 25.0);  // no pace known
  s.respond(2, 21);
  BOOST_TEST(s.verdict() == 23.0);
}

// The rest of the responses takes 5 us longer than a round trip.
BOOST_AUTO_TEST_CASE(a_response_may_be_waited_for_until_asking_again_delays_the_end) {
  Sender s;
  s.board.sent({n(0), 17});
  s.suspects.sent_new(Time{});
  s.respond(1, 20);
  s.respond(2, 21);
  BOOST_TEST(s.verdict() == 25.0);
  BOOST_TEST(s.verdict(false) == 25.0);  // what this side sends plays no part
}

// That the peer has later requests says nothing about the response to one that it keeps until its turn; later
// responses do.
BOOST_AUTO_TEST_CASE(a_request_that_the_peer_keeps_is_judged_by_responses_only) {
  Sender s;
  s.send(3, 0);
  s.board.postpone(n(1));
  s.send(20, 5);
  s.report(0, 10);
  s.report(22, 15);
  BOOST_TEST(s.is_lost(2));
  BOOST_TEST(!s.is_lost(1));
  s.suspects.judge();
  BOOST_TEST(!s.is_lost(1));
  s.board.postpone(n(5));
  s.respond(5, 30);
  BOOST_TEST(s.is_lost(1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace suspects
}  // namespace urnic::transport
