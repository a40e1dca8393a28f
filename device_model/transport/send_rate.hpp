// How fast something is sent.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "device_model/transport/time.hpp"

namespace urnic::transport {

class SendRate {
 public:
  constexpr SendRate() = default;  // nothing at all
  static constexpr SendRate gbps(double gbps) { return SendRate(gbps); }
  static constexpr SendRate mbps(double mbps) { return SendRate(mbps / 1000); }
  static constexpr SendRate unlimited() { return SendRate(std::numeric_limits<double>::infinity()); }
  // `bytes` in each `span`.
  static constexpr SendRate of(std::uint64_t bytes, Nanoseconds span) {
    return SendRate(8.0 * static_cast<double>(bytes) / static_cast<double>(span.count()));
  }

  // 10^9 bits a second, which is one bit a nanosecond.
  constexpr double gbps() const { return gbps_; }
  constexpr bool is_limited() const { return gbps_ < std::numeric_limits<double>::infinity(); }
  // 0 if it is unlimited.
  constexpr double nanoseconds_per_byte() const { return 8 / gbps_; }

  friend constexpr SendRate operator+(SendRate a, SendRate b) { return SendRate(a.gbps_ + b.gbps_); }
  friend constexpr SendRate operator*(SendRate rate, double factor) { return SendRate(rate.gbps_ * factor); }
  friend constexpr auto operator<=>(SendRate, SendRate) = default;

 private:
  constexpr explicit SendRate(double gbps) : gbps_(gbps) {}

  double gbps_ = 0;
};

}  // namespace urnic::transport
