#include "analysis/flows/time_series.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::analysis::test {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

BOOST_AUTO_TEST_SUITE(time_series)

BOOST_AUTO_TEST_CASE(sums_stay_when_intervals_become_longer) {
  TimeSeries series;
  constexpr int kSamples = 3000;
  for (int i = 0; i < kSamples; ++i) {
    const std::int64_t time = 5 * kMillisecond + i * kMillisecond / 2;
    series.at(time).goodput += 10;
    series.add_round_trip(time, 100 + i);
  }
  BOOST_TEST(series.intervals().size() <= TimeSeries::kMostIntervals);
  BOOST_TEST(series.start() == 5 * kMillisecond);
  std::uint64_t goodput = 0;
  std::uint64_t round_trips = 0;
  std::int64_t least = INT64_MAX;
  std::int64_t most = 0;
  for (const Interval& interval : series.intervals()) {
    goodput += interval.goodput;
    round_trips += interval.round_trips;
    if (interval.round_trips != 0) least = std::min(least, interval.round_trip_least);
    most = std::max(most, interval.round_trip_most);
  }
  BOOST_TEST(goodput == 10u * kSamples);
  BOOST_TEST(round_trips == static_cast<std::uint64_t>(kSamples));
  BOOST_TEST(least == 100);
  BOOST_TEST(most == 100 + kSamples - 1);
}

BOOST_AUTO_TEST_CASE(any_times_are_taken) {
  TimeSeries series;
  series.at(INT64_MIN).packets = 1;
  series.at(INT64_MAX).packets = 1;
  series.at(0).packets += 1;
  series.at(-5).packets += 1;
  std::uint64_t packets = 0;
  for (const Interval& interval : series.intervals()) packets += interval.packets;
  BOOST_TEST(packets >= 3u);
  BOOST_TEST(series.intervals().size() <= TimeSeries::kMostIntervals);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
