// Tells in the log of deadlocks inside the InfiniBand fabric: which ports wait for each other, once for each.
#pragma once

#include <cstdint>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/event_loop.hpp"

namespace urnic::control {

class DeadlockLines {
 public:
  // Does nothing where packets take no time in the fabric, or there is none. `fabric` outlives it.
  DeadlockLines(EventLoop& loop, Fabric& fabric);

 private:
  void look();

  Fabric& fabric_;
  std::uint64_t told_ = 0;
  Timer timer_;
};

}  // namespace urnic::control
