#include "tests/unit/congestion/incast_figures.hpp"

#include <algorithm>
#include <numeric>

namespace urnic::transport::lab {

namespace {

constexpr Nanoseconds kSamplingStep{100'000};

std::vector<std::uint64_t> delivered(const Incast& incast) {
  std::vector<std::uint64_t> all;
  for (std::uint32_t flow = 0; flow < incast.flows(); ++flow) all.push_back(incast.delivered(flow));
  return all;
}

double share_of_line(const Incast& incast, std::uint64_t bytes, Nanoseconds span) {
  return static_cast<double>(bytes) / (incast.capacity() * std::chrono::duration<double>(span).count());
}

struct Range {
  double least;
  double most;
};

// Steps until the last average of what `bytes` counts, as a share of the line, is within `range`.
template <class Count>
std::optional<Nanoseconds> time_until(Incast& incast, Range range, Nanoseconds limit, const Count& bytes) {
  constexpr auto kSteps = static_cast<std::size_t>(kAverage / kSamplingStep);
  std::vector<std::uint64_t> counts{bytes()};
  for (Nanoseconds begin{0}; begin <= limit;) {
    incast.run_for(kSamplingStep);
    counts.push_back(bytes());
    if (counts.size() <= kSteps) continue;
    const std::uint64_t average = counts.back() - counts[counts.size() - 1 - kSteps];
    const double share = share_of_line(incast, average, kAverage);
    if (share >= range.least && share <= range.most) return begin;
    begin += kSamplingStep;
  }
  return std::nullopt;
}

}  // namespace

double jain(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  return squares == 0 ? 0 : sum * sum / (static_cast<double>(values.size()) * squares);
}

IncastFigures measure(Incast& incast, Nanoseconds window) {
  incast.take_queue_samples();
  const std::vector<std::uint64_t> before = delivered(incast);
  const std::uint64_t drops = incast.queue_drops();
  const std::uint64_t marks = incast.marks();
  incast.run_for(window);
  IncastFigures figures;
  for (std::uint32_t flow = 0; flow < incast.flows(); ++flow)
    figures.goodput.push_back(share_of_line(incast, incast.delivered(flow) - before[flow], window));
  figures.utilisation = std::accumulate(figures.goodput.begin(), figures.goodput.end(), 0.0);
  figures.fairness = jain(figures.goodput);
  figures.drops = incast.queue_drops() - drops;
  figures.marks = incast.marks() - marks;
  std::vector<std::uint64_t> queue = incast.take_queue_samples();
  std::sort(queue.begin(), queue.end());
  figures.mean_queue = static_cast<double>(std::accumulate(queue.begin(), queue.end(), std::uint64_t{0})) /
                       static_cast<double>(queue.size());
  figures.p99_queue = queue[queue.size() * 99 / 100];
  return figures;
}

IncastFigures measure(const IncastSettings& settings, Nanoseconds before, Nanoseconds window) {
  Incast incast(settings);
  for (std::uint32_t flow = 0; flow < incast.flows(); ++flow) incast.start(flow);
  incast.run_for(before);
  return measure(incast, window);
}

std::optional<Nanoseconds> time_to_join(const IncastSettings& settings, Nanoseconds before,
                                        Nanoseconds limit) {
  Incast incast(settings);
  const std::uint32_t last = incast.flows() - 1;
  for (std::uint32_t flow = 0; flow < last; ++flow) incast.start(flow);
  incast.run_for(before);
  incast.start(last);
  const double fair = 1.0 / incast.flows();
  return time_until(incast, {0.8 * fair, 1.2 * fair}, limit, [&] { return incast.delivered(last); });
}

std::optional<Nanoseconds> time_to_take_over(const IncastSettings& settings, Nanoseconds before,
                                             Nanoseconds limit) {
  Incast incast(settings);
  for (std::uint32_t flow = 0; flow < incast.flows(); ++flow) incast.start(flow);
  incast.run_for(before);
  for (std::uint32_t flow = 1; flow < incast.flows(); flow += 2) incast.leave(flow);
  return time_until(incast, {0.95, 2}, limit, [&] {
    std::uint64_t bytes = 0;
    for (std::uint32_t flow = 0; flow < incast.flows(); flow += 2) bytes += incast.delivered(flow);
    return bytes;
  });
}

}  // namespace urnic::transport::lab
