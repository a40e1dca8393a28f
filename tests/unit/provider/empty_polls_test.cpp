// What a thread does after empty polls, against the test's own clock.
#define BOOST_TEST_DYN_LINK
#include "provider/plugin/fast_path/empty_polls.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::test {
namespace {

using provider::EmptyPolls;

constexpr std::int64_t kYield = 2'000;

struct Thread {
  EmptyPolls polls;
  std::int64_t now = 1'000'000'000;

  // An empty poll and the rest after it. Returns the nap, or 0 for a yield.
  std::int64_t rest(bool starved, std::int64_t elsewhere = 100) {
    now += elsewhere;
    const std::int64_t nap = polls.nap_at(now, starved);
    now += nap != 0 ? nap : kYield;
    polls.rested(now);
    return nap;
  }
  // Polls until the first nap while the engine is starved. Returns the nap; `before` becomes the time before
  // it.
  std::int64_t first_nap(std::int64_t& before) {
    const std::int64_t begin = now;
    std::int64_t nap = 0;
    while (nap == 0 && now < begin + 2 * EmptyPolls::kBeforeNap) nap = rest(true);
    before = now - nap - begin;
    return nap;
  }
  std::int64_t first_nap() {
    std::int64_t before = 0;
    return first_nap(before);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(empty_polls, Thread)

BOOST_AUTO_TEST_CASE(counts_polls_since_something_was_found) {
  BOOST_TEST(polls.count() == 1u);
  BOOST_TEST(polls.count() == 2u);
  polls.found(1);
  BOOST_TEST(polls.count() == 1u);
}

BOOST_AUTO_TEST_CASE(while_the_engine_does_not_starve_the_processor_is_only_given_away) {
  for (int i = 0; i < 10000; ++i) BOOST_REQUIRE(rest(false) == 0);
}

BOOST_AUTO_TEST_CASE(while_it_starves_a_thread_that_has_given_way_for_a_while_naps) {
  std::int64_t before = 0;
  BOOST_TEST(first_nap(before) == EmptyPolls::kShortestNap);
  BOOST_TEST(before >= EmptyPolls::kBeforeNap);
}

BOOST_AUTO_TEST_CASE(naps_that_find_nothing_are_followed_by_longer_ones) {
  std::int64_t expected = first_nap();
  while ((expected *= 2) <= EmptyPolls::kLongestNap) BOOST_TEST(rest(true) == expected);
  for (int i = 0; i < 10; ++i) BOOST_TEST(rest(true) == EmptyPolls::kLongestNap);
}

BOOST_AUTO_TEST_CASE(where_waits_are_long_it_naps_at_once_and_a_little_shorter) {
  first_nap();
  const std::int64_t found_by = rest(true);
  polls.found(1);
  BOOST_TEST(rest(true) == found_by - found_by / 4);
}

BOOST_AUTO_TEST_CASE(where_waits_have_become_short_it_gives_way_first) {
  first_nap();
  std::int64_t nap = rest(true);
  int finds = 0;
  for (; nap > EmptyPolls::kShortestNap && finds < 100; ++finds) {
    polls.found(1);
    nap = rest(true);
  }
  BOOST_TEST(finds < 100);
  polls.found(1);
  std::int64_t before = 0;
  first_nap(before);
  BOOST_TEST(before >= EmptyPolls::kBeforeNap);
}

BOOST_AUTO_TEST_CASE(who_finds_several_at_a_time_naps_soon) {
  rest(true);
  polls.found(1);
  polls.found(1);
  std::int64_t before = 0;
  BOOST_TEST(first_nap(before) == EmptyPolls::kShortestNap);
  BOOST_TEST(before >= EmptyPolls::kBeforeNapAmongMany);
  BOOST_TEST(before < EmptyPolls::kBeforeNap / 2);
}

BOOST_AUTO_TEST_CASE(who_finds_one_at_a_time_gives_way_for_longer) {
  rest(true);
  polls.found(2);
  rest(true);
  polls.found(1);
  std::int64_t before = 0;
  BOOST_TEST(first_nap(before) == EmptyPolls::kShortestNap);
  BOOST_TEST(before >= EmptyPolls::kBeforeNap);
}

BOOST_AUTO_TEST_CASE(a_wait_that_no_nap_ended_says_nothing_of_their_length) {
  first_nap();
  const std::int64_t nap = rest(true);
  polls.found(1);
  for (int i = 0; i < 100; ++i) polls.found(1);
  BOOST_TEST(rest(true) == nap - nap / 4);
}

BOOST_AUTO_TEST_CASE(when_the_engine_starves_no_longer_it_begins_anew) {
  first_nap();
  rest(true);
  BOOST_TEST(rest(false) == 0);
  std::int64_t before = 0;
  BOOST_TEST(first_nap(before) == EmptyPolls::kShortestNap);
  BOOST_TEST(before > EmptyPolls::kBeforeNap / 2);
}

BOOST_AUTO_TEST_CASE(a_thread_that_does_something_else_too_never_naps) {
  for (int i = 0; i < 1000; ++i) BOOST_REQUIRE(rest(true, EmptyPolls::kElsewhere) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
