// How long a packet and its acknowledgement take, as measured; smoothed as TCP does it (RFC 6298, section 2).
#pragma once

#include <algorithm>

#include "device_model/transport/time.hpp"

namespace urnic::transport {

class RoundTripTime {
 public:
  void clear() { *this = {}; }

  void measured(Nanoseconds sample) {
    if (smoothed_ == Nanoseconds{0}) {
      smoothed_ = shortest_ = sample;
      variation_ = sample / 2;
      return;
    }
    shortest_ = std::min(shortest_, sample);
    const Nanoseconds error = sample > smoothed_ ? sample - smoothed_ : smoothed_ - sample;
    variation_ += (error - variation_) / 4;
    smoothed_ += (sample - smoothed_) / 8;
  }

  // The path has become slower: the shortest round trip before counts no more.
  void lengthened(Nanoseconds sample) {
    measured(sample);
    shortest_ = sample;
  }

  // Zero before the first sample.
  Nanoseconds smoothed() const { return smoothed_; }
  Nanoseconds shortest() const { return shortest_; }
  // An acknowledgement that takes longer is most likely lost: two round trips, or more if they vary (RFC
  // 8985, section 7.2; RFC 6298, section 2).
  Nanoseconds patience() const {
    if (smoothed_ == Nanoseconds{0}) return kUnmeasured;
    return std::max({2 * smoothed_, smoothed_ + 4 * variation_, kShortest});
  }

 private:
  static constexpr Nanoseconds kUnmeasured{500'000};
  static constexpr Nanoseconds kShortest{10'000};

  Nanoseconds smoothed_{0};
  Nanoseconds variation_{0};
  Nanoseconds shortest_{0};
};

}  // namespace urnic::transport
