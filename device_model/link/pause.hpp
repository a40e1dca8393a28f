// Until when the switch has told a device to send nothing: priority flow control (IEEE 802.1Qbb), of one
// priority, which everything has. Frames that say so are not sent; the queue that fills, perhaps one of
// another engine, writes the time here, and the device's own link looks at it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "device_model/transport/time.hpp"

namespace urnic::link {

// Any thread. Times only grow, so queues that pause the same device need not know of each other.
class Pause {
 public:
  // The device sends nothing until `end`, at least.
  void prolong(transport::Time now, transport::Time end) {
    std::int64_t before = end_.load(std::memory_order_relaxed);
    const std::int64_t wanted = end.time_since_epoch().count();
    while (before < wanted) {
      if (!end_.compare_exchange_weak(before, wanted, std::memory_order_relaxed)) continue;
      const std::int64_t begun = now.time_since_epoch().count();
      if (before <= begun) count_.fetch_add(1, std::memory_order_relaxed);
      duration_.fetch_add(wanted - std::max(before, begun), std::memory_order_relaxed);
      return;
    }
  }

  // In the past: the device may send.
  transport::Time end() const {
    return transport::Time(transport::Nanoseconds(end_.load(std::memory_order_relaxed)));
  }
  // How often the device was told to stop while it might send.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  // How long it had to, with what is left of a pause.
  transport::Nanoseconds duration() const {
    return transport::Nanoseconds(duration_.load(std::memory_order_relaxed));
  }

 private:
  std::atomic<std::int64_t> end_{0};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::int64_t> duration_{0};
};

}  // namespace urnic::link
