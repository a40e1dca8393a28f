// Decides when a device process that was started for one command has no users left.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "device_model/control/loop/event_loop.hpp"

namespace urnic::control {

class Linger {
 public:
  // Calls `unused` when the process has had no users for `span`; before its first use, after 10 s at least.
  // Without `span`, never.
  Linger(EventLoop& loop, std::optional<std::chrono::milliseconds> span, std::function<void()> unused);

  // Call when `used` may have changed.
  void set_used(bool used);
  // It has been used, is no longer, and `unused` will be called.
  bool is_running() const { return span_ && was_used_ && !used_; }
  // From now on never calls `unused`.
  void stay();

 private:
  std::optional<std::chrono::milliseconds> span_;
  Timer timer_;
  bool used_ = false;
  bool was_used_ = false;
};

}  // namespace urnic::control
