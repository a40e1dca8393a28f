// Decides when a device process that was started for one command has nobody left to serve.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "device_model/control/loop/event_loop.hpp"

namespace urnic::control {

class Linger {
 public:
  // Calls `unused` once nobody has used the process for `span`; before its first use, for at least 10 s.
  // Without `span` it never does.
  Linger(EventLoop& loop, std::optional<std::chrono::milliseconds> span, std::function<void()> unused);

  // To be told whenever that may have changed.
  void set_used(bool used);
  // From now on the process stays.
  void stay();

 private:
  std::optional<std::chrono::milliseconds> span_;
  Timer timer_;
  bool used_ = false;
};

}  // namespace urnic::control
