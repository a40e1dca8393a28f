// The LIDs by which tools of the management interface (umad) name devices.
//
// A RoCE port has no LID: verbs show 0, as on every RoCE device, and no packet carries one. Programs of
// infiniband-diags can name a port by its LID only, so the devices of this process are numbered from 1, in
// configuration order.
#pragma once

#include <cstdint>

#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {

inline std::uint16_t local_identifier(const ServedDevice& device) {
  return static_cast<std::uint16_t>(device.index + 1);
}

// Null: no device of this process has it.
inline const ServedDevice* find_by_local_identifier(const Fabric& fabric, std::uint16_t lid) {
  const auto& devices = fabric.devices();
  return lid >= 1 && lid <= devices.size() ? devices[lid - 1].get() : nullptr;
}

}  // namespace urnic::control
