// Priority flow control (IEEE 802.1Qbb) as the queue sees it: with more than `pfc_xoff_bytes` in it, it
// pauses the devices whose packets come, until it has shrunk to `pfc_xon_bytes`. Nothing is lost then, if
// there is room for what is under way; but a paused device sends nothing to others either.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/link/direction.hpp"
#include "device_model/link/egress_queue.hpp"
#include "device_model/link/link_settings.hpp"
#include "device_model/link/pause.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::link {

class BackPressure {
 public:
  // Only queues towards devices pause others.
  BackPressure(const LinkSettings& settings, Direction direction)
      : possible_(settings.pfc && settings.rate_gbps > 0 && direction == Direction::receive),
        xoff_(settings.pfc_xoff_bytes),
        xon_(settings.pfc_xon_bytes) {
    if (possible_) paused_.reserve(kDevices);
  }

  bool possible() const { return possible_; }

  // A packet of the device with `feeder` has entered `queue` at `now`; null: nobody who can be paused.
  // The queue's length from now on is known, so the time at which it has shrunk is, until another packet
  // enters.
  void entered(EgressQueue& queue, transport::Time now, Pause* feeder) {
    if (until_ <= now) paused_.clear();
    const bool pauses = feeder != nullptr && queue.bytes(now) > xoff_;
    if (pauses && std::find(paused_.begin(), paused_.end(), feeder) == paused_.end()) {
      paused_.push_back(feeder);
      ++caused_;
    }
    if (paused_.empty()) return;
    until_ = queue.shrunk_at(xon_);
    for (Pause* const each : paused_) each->prolong(now, until_);
  }

  // How often it has begun to pause a device.
  std::uint64_t caused() const { return caused_; }

 private:
  static constexpr std::size_t kDevices = 256;

  bool possible_;
  std::uint32_t xoff_;
  std::uint32_t xon_;
  std::uint64_t caused_ = 0;
  transport::Time until_{};
  std::vector<Pause*> paused_;
};

}  // namespace urnic::link
