// Times of the CM as Linux counts them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "device_model/transport/time.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::cm {

// The time that a code stands for, 4.096 us * 2^x, as Linux counts it: 2^(x - 8) ms, at least 1 ms.
constexpr transport::Nanoseconds waiting_time(wire::mad::TimeoutCode code) {
  const int exponent = std::max(static_cast<int>(code.value & 31) - 8, 0);
  return std::chrono::milliseconds(std::int64_t{1} << exponent);
}

// The ACK timeout of a QP (IBTA 12.7.34): twice the packet lifetime and the ACK delay of the other end. Codes
// cannot be added: the larger one counts, and one more if the other one is at least half of it.
constexpr wire::mad::TimeoutCode ack_timeout(wire::mad::TimeoutCode ack_delay,
                                             wire::mad::TimeoutCode packet_lifetime) {
  const int there_and_back = packet_lifetime.value + 1;
  const int larger = std::max<int>(there_and_back, ack_delay.value);
  const int smaller = std::min<int>(there_and_back, ack_delay.value);
  const int sum = larger + (smaller >= larger - 1 ? 1 : 0);
  return {static_cast<std::uint8_t>(std::min(sum, 31))};
}

}  // namespace urnic::cm
