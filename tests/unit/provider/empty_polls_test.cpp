// What a thread does that polls in vain, against a clock of the test's.
#define BOOST_TEST_DYN_LINK
#include "provider/plugin/empty_polls.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::test {
namespace {

using provider::EmptyPolls;

constexpr std::int64_t kShort = 2'000, kLong = 1'000'000;

struct Thread {
  EmptyPolls polls;
  std::int64_t now = 1'000'000'000;

  // An empty poll whose yield takes `time`, or whose nap takes as long as it should. The nap, or 0.
  std::int64_t rest(std::int64_t time, std::int64_t elsewhere = 100) {
    now += elsewhere;
    const std::int64_t nap = polls.nap_at(now);
    now += nap != 0 ? nap : time;
    polls.rested(now);
    return nap;
  }

  // Waits for a window's time, each yield taking `time`; the nap that follows, or 0.
  std::int64_t nap_after_window(std::int64_t time, std::int64_t window = EmptyPolls::kWindow) {
    for (std::int64_t waited = 0; waited < window; waited += time) {
      if (const std::int64_t nap = rest(time); nap != 0) return nap;
    }
    return rest(time);
  }
  std::uint32_t naps_in_a_row() {
    std::uint32_t naps = 0;
    while (rest(kShort) != 0) ++naps;
    return naps;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(empty_polls, Thread)

BOOST_AUTO_TEST_CASE(counts_polls_since_something_was_found) {
  BOOST_TEST(polls.count() == 1u);
  BOOST_TEST(polls.count() == 2u);
  polls.found();
  BOOST_TEST(polls.count() == 1u);
}

BOOST_AUTO_TEST_CASE(a_free_processor_is_only_given_away) {
  for (int i = 0; i < 10000; ++i) BOOST_REQUIRE(rest(kShort) == 0);
}

BOOST_AUTO_TEST_CASE(a_long_yield_now_and_then_is_the_machines_own) {
  for (int round = 0; round < 10; ++round) {
    BOOST_REQUIRE(rest(EmptyPolls::kWindow / EmptyPolls::kLostShare / 2) == 0);
    for (std::int64_t waited = 0; waited < EmptyPolls::kWindow; waited += kShort)
      BOOST_REQUIRE(rest(kShort) == 0);
  }
}

// As where every session has its share: a slice of looking, then one of the others.
BOOST_AUTO_TEST_CASE(a_quarter_of_the_time_lost_is_a_crowd) {
  std::int64_t nap = 0;
  for (int round = 0; round < 10 && nap == 0; ++round) {
    for (std::int64_t looked = 0; looked < 3 * kLong && nap == 0; looked += kShort) nap = rest(kShort);
    if (nap == 0) nap = rest(3 * kLong);
  }
  BOOST_TEST(nap == EmptyPolls::kShortestNap);
}

BOOST_AUTO_TEST_CASE(in_a_crowd_a_thread_naps_twice_as_long_each_time) {
  std::int64_t expected = EmptyPolls::kShortestNap;
  BOOST_TEST(nap_after_window(kLong) == expected);
  for (int i = 0; i < 3; ++i) BOOST_TEST(rest(kLong) == (expected *= 2));
  for (int i = 0; i < 10; ++i) BOOST_TEST(rest(kLong) == EmptyPolls::kLongestNap);
}

BOOST_AUTO_TEST_CASE(what_is_found_ends_the_wait_and_not_the_crowd) {
  nap_after_window(kLong);
  rest(kLong);
  polls.found();
  BOOST_TEST(rest(kLong, 1'000'000) == EmptyPolls::kShortestNap);  // what it found took it a while
}

BOOST_AUTO_TEST_CASE(it_naps_more_often_each_time_that_the_crowd_is_still_there) {
  for (std::uint32_t naps = EmptyPolls::kFewestNaps; naps <= EmptyPolls::kMostNaps; naps *= 2) {
    BOOST_REQUIRE(nap_after_window(kLong) != 0);
    BOOST_TEST(naps_in_a_row() == naps - 1);
  }
  BOOST_REQUIRE(nap_after_window(kLong) != 0);
  BOOST_TEST(naps_in_a_row() == EmptyPolls::kMostNaps - 1);
}

BOOST_AUTO_TEST_CASE(when_the_crowd_has_gone_it_begins_anew) {
  nap_after_window(kLong);
  naps_in_a_row();
  nap_after_window(kLong);
  naps_in_a_row();
  BOOST_TEST(nap_after_window(kShort, EmptyPolls::kNextWindow) == 0);
  nap_after_window(kLong);
  BOOST_TEST(naps_in_a_row() == EmptyPolls::kFewestNaps - 1);
}

BOOST_AUTO_TEST_CASE(a_thread_that_does_something_else_too_never_naps) {
  nap_after_window(kLong);
  for (int i = 0; i < 1000; ++i) BOOST_REQUIRE(rest(kLong, EmptyPolls::kElsewhere) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
