// How long packets take and may wait.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/time.hpp"

namespace urnic::link {

// Of HOQLife and LifeTimeValue: 4.096 us times 2 to the power of the code; above 19 there is no limit
// (IBTA 14.2.5.4, 14.2.5.6).
constexpr std::optional<transport::Nanoseconds> life_of(std::uint8_t code) {
  constexpr std::uint8_t kLargest = 19;
  constexpr transport::Nanoseconds kUnit{4096};
  if (code > kLargest) return {};
  return kUnit * (std::int64_t{1} << code);
}

// The time on the line, rounded up.
constexpr transport::Nanoseconds time_on_line(std::uint32_t bytes, std::uint32_t megabits_per_second) {
  const std::uint64_t scaled = std::uint64_t{bytes} * 8 * 1000 + megabits_per_second - 1;
  return transport::Nanoseconds(static_cast<std::int64_t>(scaled / megabits_per_second));
}

// How long a port waits for a packet of flow control before it says that something is wrong: 400,000 symbols,
// each of a byte on each of the lines (IBTA 7.9.4).
constexpr transport::Nanoseconds watchdog_time(std::uint32_t megabits_per_second, std::uint8_t line_width) {
  constexpr std::uint32_t kSymbols = 400'000;
  return time_on_line(kSymbols * line_width, megabits_per_second);
}

constexpr std::uint64_t bytes_on_line(transport::Nanoseconds span, std::uint32_t megabits_per_second) {
  return static_cast<std::uint64_t>(span.count()) * megabits_per_second / 8000;
}

}  // namespace urnic::link
