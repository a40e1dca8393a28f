// How long a thread waits without sleep, and when it does not.
#include "device_model/abi/short_wait.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::abi::test {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// When the crowd that a long yield at `now` shows is over.
std::int64_t end_of_crowd(Crowd& crowd, std::int64_t now) {
  crowd.yielded(now, kLongYield);
  std::int64_t end = now;
  while (crowd.is_there(end)) end += kMillisecond;
  return end;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(short_wait)

BOOST_AUTO_TEST_CASE(a_long_yield_shows_a_crowd_for_a_while) {
  Crowd crowd;
  const std::int64_t now = 100 * kMillisecond;
  crowd.yielded(now, kLongYield - 1);
  BOOST_TEST(!crowd.is_there(now));
  crowd.yielded(now, kLongYield);
  BOOST_TEST(crowd.is_there(now));
  BOOST_TEST(crowd.is_there(now + kShortestCrowd - 1));
  BOOST_TEST(!crowd.is_there(now + kShortestCrowd));
}

// So few waits pay for the look whether it has gone.
BOOST_AUTO_TEST_CASE(a_crowd_that_stays_is_looked_for_later_and_later) {
  Crowd crowd;
  std::int64_t now = kMillisecond;
  std::int64_t span = 0;
  for (int i = 0; i < 12; ++i) {
    const std::int64_t end = end_of_crowd(crowd, now);
    BOOST_TEST(end - now >= span);
    BOOST_TEST(end - now <= kLongestCrowd);
    span = end - now;
    now = end;
  }
  BOOST_TEST(span == kLongestCrowd);
  // It has gone for as long as it was believed to stay.
  crowd.yielded(now + kLongestCrowd + kMillisecond, 0);
  BOOST_TEST(end_of_crowd(crowd, now + 2 * kLongestCrowd) == now + 2 * kLongestCrowd + kShortestCrowd);
}

// A thread that waits began before another one saw the crowd.
BOOST_AUTO_TEST_CASE(several_threads_see_one_crowd) {
  Crowd crowd;
  const std::int64_t now = kMillisecond;
  crowd.yielded(now, kLongYield);
  crowd.yielded(now + 1, kLongYield);
  BOOST_TEST(!crowd.is_there(now + kShortestCrowd));
}

BOOST_AUTO_TEST_CASE(a_wait_has_an_end) {
  Crowd crowd;
  ShortWait wait(crowd);
  unsigned yields = 0;
  while (wait.yield()) ++yields;
  BOOST_TEST(yields > 0u);
  BOOST_TEST(!wait.yield());
}

BOOST_AUTO_TEST_CASE(no_wait_in_a_crowd) {
  Crowd crowd;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  crowd.yielded(std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec, kLongYield);
  ShortWait wait(crowd);
  BOOST_TEST(!wait.yield());
}

// One that waits for an event leaves the processor to a thread that waits for an answer.
BOOST_AUTO_TEST_CASE(who_may_sleep_beside_another_thread_does) {
  Crowd first, second, third;
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  ShortWait alone(first, kMillisecond, Beside::sleep);
  alone.yielded(now, now + kYieldAlone);
  BOOST_TEST(alone.yield());
  ShortWait for_answer(second, kMillisecond, Beside::look);
  for_answer.yielded(now, now + kYieldAlone + 1);
  BOOST_TEST(for_answer.yield());
  ShortWait for_event(third, kMillisecond, Beside::sleep);
  for_event.yielded(now, now + kYieldAlone + 1);
  BOOST_TEST(!for_event.yield());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::abi::test
