// Finds the device of a request on the admin socket.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace urnic::control {

class Fabric;
struct ServedDevice;

// The device that `request` names; null if it names none, or "all". Throws std::runtime_error if there is no
// such device.
ServedDevice* find_device(const Fabric& fabric, const nlohmann::json& request);

}  // namespace urnic::control
