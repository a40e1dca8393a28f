// What congestion control allows a queue pair at one moment, and why.
#pragma once

#include <cstdint>
#include <limits>

#include "device_model/transport/congestion_settings.hpp"
#include "device_model/transport/send_rate.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

// How fast a queue pair may send, and how many bytes may be under way.
struct SendAllowance {
  SendRate rate = SendRate::unlimited();
  std::uint64_t window = std::numeric_limits<std::uint64_t>::max();
  // A round trip must be measured each time that so many bytes have been sent.
  std::uint64_t measured = std::numeric_limits<std::uint64_t>::max();
};

// For people who watch it. What an algorithm does not have is zero.
struct CongestionSnapshot {
  CongestionAlgorithm algorithm = CongestionAlgorithm::off;
  SendAllowance allowance{};
  SendRate target_rate{};       // dcqcn
  double alpha = 0;             // dcqcn
  Nanoseconds target_delay{0};  // rtt
  Nanoseconds round_trip{0};    // rtt, timely: the newest
  std::uint64_t marks = 0;      // notifications taken since it began
};

}  // namespace urnic::transport
