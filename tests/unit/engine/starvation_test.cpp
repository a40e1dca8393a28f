// When the engine says that it starves, against a clock of the test's.
#define BOOST_TEST_DYN_LINK
#include "device_model/engine/loop/starvation.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::test {
namespace {

using engine::Starvation;
using transport::Nanoseconds;
using transport::Time;

constexpr Nanoseconds kRound{20'000}, kSlice{3'000'000};

struct Looks {
  Starvation starvation;
  Time now{Nanoseconds{1'000'000'000}};

  void look(Nanoseconds later, bool worked = true) {
    now += later;
    starvation.looked(now, worked);
  }
  // Rounds as long as they should be, for `time`.
  void run(Nanoseconds time, bool worked = true) {
    for (const Time end = now + time; now < end;) look(kRound, worked);
  }
  // Others have the processor every other slice; until the engine says that it starves, or `slices` are over.
  void share(int slices = 20) {
    for (int i = 0; i < slices && !starvation.starved(); ++i) {
      run(kSlice);
      look(kSlice);
    }
  }
  Nanoseconds word() const { return starvation.until() - now; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(starvation, Looks)

BOOST_AUTO_TEST_CASE(rounds_without_interruption_are_no_starving) {
  for (int i = 0; i < 100'000; ++i) {
    look(kRound);
    BOOST_REQUIRE(!starvation.starved());
  }
}

BOOST_AUTO_TEST_CASE(half_of_the_time_lost_in_slices_is) {
  share();
  BOOST_TEST(starvation.starved());
  BOOST_TEST(word().count() == Starvation::kShortestPeriod.count());
}

BOOST_AUTO_TEST_CASE(a_slice_now_and_then_is_the_machines_own) {
  for (int i = 0; i < 100; ++i) {
    look(Starvation::kWindow / Starvation::kLostShare - kRound);
    run(Starvation::kWindow);
    BOOST_REQUIRE(!starvation.starved());
  }
}

BOOST_AUTO_TEST_CASE(nothing_to_do_is_no_starving_however_long_it_was_away) {
  for (int i = 0; i < 1000; ++i) {
    look(kSlice, false);
    BOOST_REQUIRE(!starvation.starved());
  }
}

BOOST_AUTO_TEST_CASE(work_that_waited_while_it_was_away_counts) {
  for (int i = 0; i < 10 && !starvation.starved(); ++i) {
    look(kRound, false);
    look(kSlice, true);  // gave way, and was away for a slice while work came
  }
  BOOST_TEST(starvation.starved());
}

BOOST_AUTO_TEST_CASE(sleep_does_not_count) {
  for (int i = 0; i < 100; ++i) {
    look(kRound);
    starvation.slept();
    look(kSlice);
    BOOST_REQUIRE(!starvation.starved());
  }
}

BOOST_AUTO_TEST_CASE(the_word_ends_in_time) {
  share();
  BOOST_REQUIRE(starvation.starved());
  run(Starvation::kShortestPeriod - kRound);
  BOOST_TEST(starvation.starved());
  look(kRound);
  BOOST_TEST(!starvation.starved());
}

BOOST_AUTO_TEST_CASE(it_lasts_longer_each_time_that_it_is_the_same_again) {
  for (Nanoseconds time = Starvation::kShortestPeriod; time <= Starvation::kLongestPeriod; time *= 2) {
    share();
    BOOST_REQUIRE(starvation.starved());
    BOOST_TEST(word().count() == time.count());
    run(time);
    BOOST_REQUIRE(!starvation.starved());
  }
  share();
  BOOST_TEST(word().count() == Starvation::kLongestPeriod.count());
}

BOOST_AUTO_TEST_CASE(when_the_crowd_has_gone_it_begins_anew) {
  share();
  run(Starvation::kShortestPeriod);
  share();
  run(2 * Starvation::kShortestPeriod + Starvation::kWindow + 2 * kRound);
  BOOST_REQUIRE(!starvation.starved());
  share();
  BOOST_TEST(word().count() == Starvation::kShortestPeriod.count());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
