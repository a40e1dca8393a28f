// Limits how fast packets enter links that take time, so that the engine can deliver them when they are due:
// delivering a packet costs about as much as sending it. An engine that sends all it can before the first
// packet is due delivers all of them late.
#pragma once

#include <algorithm>

#include "device_model/link/uplink.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class DeliveryPace {
 public:
  // What a round from `begin` to `end` has sent over such links, and delivered.
  void round(transport::Time begin, transport::Time end, const link::Load& sent,
             const link::Load& delivered) {
    const double work = work_of(sent) + work_of(delivered);
    if (work == 0) return;
    learn(static_cast<double>((end - begin).count()) / work);
    const double to_send_and_deliver = 2 * nanoseconds_per_byte_ * work_of(sent);
    next_send_ = std::max(next_send_, begin) +
                 transport::Nanoseconds(static_cast<transport::Nanoseconds::rep>(to_send_and_deliver));
  }

  bool may_send(transport::Time now) const { return next_send_ <= now; }

 private:
  // A packet's cost beside its payload, in bytes: headers, checks, its part of an acknowledgement.
  static constexpr double kFrameAsBytes = 2048;
  // A round in which the engine's thread was not scheduled does not show the packets' cost.
  static constexpr double kMostGrowth = 2;
  static constexpr double kWeight = 1.0 / 16;

  static double work_of(const link::Load& load) {
    return static_cast<double>(load.bytes) + kFrameAsBytes * load.frames;
  }
  void learn(double sample) {
    if (nanoseconds_per_byte_ == 0) nanoseconds_per_byte_ = sample;
    sample = std::min(sample, kMostGrowth * nanoseconds_per_byte_);
    nanoseconds_per_byte_ += kWeight * (sample - nanoseconds_per_byte_);
  }

  double nanoseconds_per_byte_ = 0;
  transport::Time next_send_{};
};

}  // namespace urnic::engine
