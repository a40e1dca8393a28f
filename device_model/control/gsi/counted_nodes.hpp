// Where the counters of a node's ports come from, for its performance agent.
#pragma once

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/gsi/performance_agent.hpp"

namespace urnic::control {

// Those of the device's port, as in sysfs. Both outlive the result, here and below. Each reading waits for
// the end of the engine's round.
PerformanceAgent::ReadPorts counters_of_device(Fabric& fabric, const ServedDevice& device);

// Those of a switch, or of a host without a device, in the built-in InfiniBand fabric: what has passed its
// ports.
PerformanceAgent::ReadPorts counters_of_node(Fabric& fabric, std::uint32_t node);

}  // namespace urnic::control
