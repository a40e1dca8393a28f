#include "device_model/control/deadlock_lines.hpp"

#include <chrono>
#include <utility>

#include "device_model/control/fabric/deadlock_report.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/log/log.hpp"

namespace urnic::control {
namespace {

constexpr std::chrono::milliseconds kLookInterval{250};

}  // namespace

DeadlockLines::DeadlockLines(EventLoop& loop, Fabric& fabric)
    : fabric_(fabric), timer_(loop, [this] { look(); }) {
  if (fabric.infiniband_unit().timed_subnet != nullptr) timer_.set(kLookInterval);
}

void DeadlockLines::look() {
  const std::uint64_t deadlocks = fabric_.infiniband_unit().timed_subnet->deadlocks();
  if (std::exchange(told_, deadlocks) != deadlocks)
    log::warn(
        "a deadlock in the InfiniBand fabric: {}. Nothing of this circle moves until HOQLife or "
        "LifeTimeValue "
        "drops a packet; routes without circles, or more virtual lanes, avoid it (opensm -R lash, -R ftree)",
        last_deadlock_text(fabric_));
  timer_.set(kLookInterval);
}

}  // namespace urnic::control
