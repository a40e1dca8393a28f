// The wait after an RNR NAK (IBTA 9.7.5.2.8): nothing is sent until it ends, or until the refused packet is
// acknowledged all the same.
#pragma once

#include <optional>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class RnrWait {
 public:
  void begin(PacketNumber refused, Time until) {
    refused_ = refused;
    until_ = until;
  }
  void end() { until_.reset(); }
  bool is_on() const { return until_.has_value(); }

  // Everything before `until` is acknowledged.
  void acknowledged(PacketNumber until) {
    if (refused_ < until) end();
  }

  std::optional<Time> deadline() const { return until_; }
  void on_timer(Time now) {
    if (until_ && now >= *until_) end();
  }

 private:
  std::optional<Time> until_;
  PacketNumber refused_;
};

}  // namespace urnic::transport
