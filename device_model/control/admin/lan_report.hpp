// What the admin socket tells of the LAN that the switch is joined to.
#pragma once

#include "device_model/control/fabric/fabric.hpp"
#include "json/json.hpp"

namespace urnic::control {

// Its socket, its counters, and the neighbours that are known there. The fabric has a LAN.
nlohmann::json describe_lan(Fabric& fabric);

}  // namespace urnic::control
