// Times in management datagrams: 5 bits x that stand for 4.096 us * 2^x
// (IBTA 12.7).
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace urnic::wire::mad {

// The exponent x, 0 to 31: 4.096 us to 2.4 hours. In a path's local ACK timeout 0 means no timeout
// (IBTA 9.7.6.1.3).
struct TimeoutCode {
  std::uint8_t value = 0;
  friend constexpr auto operator<=>(TimeoutCode, TimeoutCode) = default;
};

inline constexpr TimeoutCode kLongestTimeout{31};

// The time that the code's low five bits stand for.
std::chrono::nanoseconds duration(TimeoutCode code);

// The smallest code whose time is at least `time`; kLongestTimeout for longer times, 0 for negative ones.
TimeoutCode timeout_code_for(std::chrono::nanoseconds time);

}  // namespace urnic::wire::mad
