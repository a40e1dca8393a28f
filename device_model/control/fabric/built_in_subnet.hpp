// The InfiniBand fabric of the devices with link_layer = "infiniband".
#pragma once

#include <memory>
#include <vector>

#include "device_model/control/fabric/served_device.hpp"
#include "device_model/subnet/fabric_plan.hpp"

namespace urnic::control {

// Builds the plan, and gives each of these devices its place there: ServedDevice::adapter.
std::unique_ptr<subnet::Network> make_subnet(const subnet::FabricPlan& plan,
                                             const std::vector<std::unique_ptr<ServedDevice>>& devices);

}  // namespace urnic::control
