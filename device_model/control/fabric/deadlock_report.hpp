// A deadlock inside the InfiniBand fabric, in words: which ports wait for each other.
#pragma once

#include <string>

#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {

// "switch one port 3 VL 0 waits for switch other port 2; …", one for each port of the circle. Empty: there is
// no deadlock now, or packets take no time in the fabric. Waits for the end of the engine's round, as the
// other one does.
std::string deadlock_text(Fabric& fabric);
// Of the last one, which may have ended.
std::string last_deadlock_text(Fabric& fabric);

}  // namespace urnic::control
