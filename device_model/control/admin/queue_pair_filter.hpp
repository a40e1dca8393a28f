// Which frames belong to one queue pair: those that it sends, and those that are for it.
#pragma once

#include "device_model/engine/device/device_config.hpp"
#include "device_model/link/observation.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

struct QueuePairFilter {
  wire::MacAddress device;
  wire::Qpn queue_pair;
  const engine::LocalLids* lids = nullptr;  // of an InfiniBand port, which outlives the filter

  // A few comparisons: every frame of every queue pair is asked about.
  bool takes(const link::Observation& observation) const {
    const link::PacketOrigin& origin = observation.origin;
    if (origin.queue_pair == queue_pair && origin.device == device) return true;
    return is_for_it(observation.frame);
  }

 private:
  bool is_for_it(const wire::Frame& frame) const;
  bool is_at(const wire::Frame& frame, std::size_t bth) const;
};

}  // namespace urnic::control
