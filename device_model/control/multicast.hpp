// What a QP's end means for the multicast groups that it is attached to.
#pragma once

#include "device_model/control/context.hpp"
#include "device_model/control/fabric.hpp"

namespace urnic::control {

// Takes the QP's attachments off the device's counts. The engine forgets them with the QP.
void leave_all_groups(ServedDevice& device, QueuePair& qp);

}  // namespace urnic::control
