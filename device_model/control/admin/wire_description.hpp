// What a device's port leads to, as the admin socket tells it.
#pragma once

#include "device_model/control/fabric/fabric.hpp"
#include "json/json.hpp"

namespace urnic::control {

// On the engine's thread.
nlohmann::json describe_wire(const ServedDevice& device);

}  // namespace urnic::control
