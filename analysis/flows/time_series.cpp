#include "analysis/flows/time_series.hpp"

#include <algorithm>

namespace urnic::analysis {
namespace {

void merge(Interval& into, const Interval& from) {
  if (from.round_trips != 0) {
    into.round_trip_least = into.round_trips == 0 ? from.round_trip_least
                                                  : std::min(into.round_trip_least, from.round_trip_least);
    into.round_trip_most = std::max(into.round_trip_most, from.round_trip_most);
  }
  into.packets += from.packets;
  into.bytes += from.bytes;
  into.goodput += from.goodput;
  into.retransmissions += from.retransmissions;
  into.lost += from.lost;
  into.round_trips += from.round_trips;
  into.round_trip_sum += from.round_trip_sum;
}

}  // namespace

Interval& TimeSeries::at(std::int64_t time) {
  if (intervals_.empty()) {
    start_ = time;
    intervals_.emplace_back();
  }
  // Unsigned, since the file may have any times.
  const std::uint64_t since =
      time <= start_ ? 0 : static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(start_);
  while (since / static_cast<std::uint64_t>(length_) >= kMostIntervals) double_length();
  const std::size_t index = since / static_cast<std::uint64_t>(length_);
  if (index >= intervals_.size()) intervals_.resize(index + 1);
  return intervals_[index];
}

void TimeSeries::add_round_trip(std::int64_t time, std::int64_t nanoseconds) {
  const Interval one{.round_trips = 1,
                     .round_trip_sum = static_cast<double>(nanoseconds),
                     .round_trip_least = nanoseconds,
                     .round_trip_most = nanoseconds};
  merge(at(time), one);
}

void TimeSeries::double_length() {
  length_ *= 2;
  for (std::size_t i = 0; i < intervals_.size(); ++i) {
    if (i % 2 == 0) {
      intervals_[i / 2] = intervals_[i];
    } else {
      merge(intervals_[i / 2], intervals_[i]);
    }
  }
  intervals_.resize((intervals_.size() + 1) / 2);
}

}  // namespace urnic::analysis
