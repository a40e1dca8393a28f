// What the admin socket tells of the built-in InfiniBand fabric and its manager.
#pragma once

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/subnet_manager/subnet_manager.hpp"
#include "json/json.hpp"

namespace urnic::control {

// Who manages, how far that is, and the InfiniBand devices' ports.
nlohmann::json describe_subnet(Fabric& fabric, const SubnetManager& manager);

}  // namespace urnic::control
