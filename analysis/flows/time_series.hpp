// What a flow did over time, for curves: sums over intervals of equal length.
#pragma once

#include <cstdint>
#include <vector>

namespace urnic::analysis {

struct Interval {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;    // of frames
  std::uint64_t goodput = 0;  // bytes of payload that arrived for the first time
  std::uint32_t retransmissions = 0;
  std::uint32_t lost = 0;
  std::uint32_t round_trips = 0;  // how many were measured, and their sum, least and most: nanoseconds
  double round_trip_sum = 0;
  std::int64_t round_trip_least = 0;
  std::int64_t round_trip_most = 0;
};

// At most kMostIntervals: when more would be needed, their length doubles.
class TimeSeries {
 public:
  static constexpr std::size_t kMostIntervals = 256;
  static constexpr std::int64_t kShortestInterval = 1'000'000;  // nanoseconds

  // The interval of `time`, to add to. Times before the first one count to the first interval. The reference
  // is valid until the next call.
  Interval& at(std::int64_t time);
  void add_round_trip(std::int64_t time, std::int64_t nanoseconds);

  std::int64_t start() const { return start_; }    // of the first interval
  std::int64_t length() const { return length_; }  // of each, nanoseconds
  const std::vector<Interval>& intervals() const { return intervals_; }

 private:
  void double_length();

  std::int64_t start_ = 0;
  std::int64_t length_ = kShortestInterval;
  std::vector<Interval> intervals_;
};

}  // namespace urnic::analysis
