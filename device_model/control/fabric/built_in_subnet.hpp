// The InfiniBand fabric of the devices with link_layer = "infiniband": by default all are on one switch.
#pragma once

#include <memory>
#include <vector>

#include "device_model/control/fabric/served_device.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {

// Gives each of these devices a place in the fabric: ServedDevice::adapter.
std::unique_ptr<subnet::Network> make_subnet(const std::vector<std::unique_ptr<ServedDevice>>& devices);

}  // namespace urnic::control
