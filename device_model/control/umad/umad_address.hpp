// Where a packet goes that a program has written to a umad node, by the header in front of it.
#pragma once

#include <rdma/ib_user_mad.h>

#include <cstdint>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/gsi/gsi.hpp"

namespace urnic::control {

// The address in `header`, but for the P_Key, which old headers do not have. 0 or an errno: EINVAL, it is
// nobody's.
int find_address(const Fabric& fabric, const ServedDevice& device, const ib_user_mad_hdr& header,
                 GsiAddress& to);

// The LID of the device with the GID; 0 if no device of this process has it.
std::uint16_t umad_lid_of(const Fabric& fabric, const wire::Gid& gid);

}  // namespace urnic::control
