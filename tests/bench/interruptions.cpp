// Measures how long a thread that only reads the clock is interrupted: by the kernel's timer and whatever
// else takes its processor. Where messages take microseconds, a latency's 99.9th percentile cannot be
// shorter. Prints one JSON object: the length that interruptions reach or exceed --per-second times a second.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "command_line/command_line.hpp"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  double seconds = 0.5;
  double per_second = 100;
  urnic::command_line::CommandLine app("How long a thread is kept from running, so many times a second",
                                       "interruptions");
  app.add_option("--seconds", seconds, "length of the measurement").positive();
  app.add_option("--per-second", per_second, "how often").positive();
  if (int status = 0; !app.parse(argc, argv, status)) return status;

  // A shorter gap is the loop itself.
  constexpr std::chrono::nanoseconds kShortest{1'000};
  std::vector<std::chrono::nanoseconds> away;
  away.reserve(1 << 20);
  const Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (Clock::time_point before = Clock::now(); before < end && away.size() < away.capacity();) {
    const Clock::time_point now = Clock::now();
    if (now - before >= kShortest) away.push_back(now - before);
    before = now;
  }
  std::sort(away.begin(), away.end(), std::greater<>());
  const auto place = static_cast<std::size_t>(seconds * per_second);
  const auto found = place < away.size() ? away[place] : std::chrono::nanoseconds{0};
  fmt::print("{{\"per_second\": {}, \"nanoseconds\": {}}}\n", per_second, found.count());
}
