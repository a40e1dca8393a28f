// How fast packets may enter links that take time.
#include "device_model/engine/round/delivery_pace.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::engine::test {

namespace {

using link::Load;
using transport::Nanoseconds;
using transport::Time;

constexpr Load kRound{.frames = 8, .bytes = 32768};
constexpr Nanoseconds kTime{10'000};  // what it takes to send kRound, or to deliver it

struct Bench {
  DeliveryPace pace;
  Time now{Nanoseconds(1'000'000)};

  void round(const Load& sent, const Load& delivered, Nanoseconds takes) {
    pace.round(now, now + takes, sent, delivered);
    now += takes;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_pace, Bench)

BOOST_AUTO_TEST_CASE(nothing_holds_back_the_first_round) { BOOST_TEST(pace.may_send(now)); }

// Half of the engine's time is for what will have to be delivered.
BOOST_AUTO_TEST_CASE(what_is_sent_ahead_leaves_time_to_deliver_it) {
  round(kRound, {}, kTime);
  BOOST_TEST(!pace.may_send(now));
  BOOST_TEST(!pace.may_send(now + kTime - Nanoseconds(2)));
  BOOST_TEST(pace.may_send(now + kTime));
}

BOOST_AUTO_TEST_CASE(an_engine_that_delivers_as_much_as_it_sends_is_not_held_back) {
  for (int i = 0; i < 100; ++i) {
    BOOST_TEST(pace.may_send(now + Nanoseconds(100)));
    round(kRound, kRound, 2 * kTime);
  }
}

BOOST_AUTO_TEST_CASE(rounds_without_packets_say_nothing) {
  round({}, {}, 1000 * kTime);
  round(kRound, {}, kTime);
  BOOST_TEST(pace.may_send(now + kTime));
}

BOOST_AUTO_TEST_CASE(a_round_in_which_the_thread_was_kept_waiting_counts_little) {
  for (int i = 0; i < 10; ++i) round(kRound, kRound, 2 * kTime);
  round(kRound, kRound, 500 * kTime);
  round(kRound, {}, kTime);
  BOOST_TEST(pace.may_send(now + 2 * kTime));
}

BOOST_AUTO_TEST_CASE(it_follows_what_packets_cost) {
  for (int i = 0; i < 200; ++i) round(kRound, kRound, 6 * kTime);
  now += 100 * kTime;
  round(kRound, {}, kTime);
  BOOST_TEST(!pace.may_send(now + 4 * kTime));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
