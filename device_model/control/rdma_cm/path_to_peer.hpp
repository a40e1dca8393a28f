// The path of an identifier whose addresses are resolved.
#pragma once

#include <optional>

#include "device_model/cm/path.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/rdma_cm/id.hpp"

namespace urnic::control::rdma_cm {

// With the values that Linux gives a RoCE path; on InfiniBand the way within the subnet, as the manager has
// written it. Empty: one of the two ports has no LID yet. The identifier has a device and a peer.
std::optional<cm::Path> make_path(const Fabric& fabric, const Id& id);

}  // namespace urnic::control::rdma_cm
