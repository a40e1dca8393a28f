// Devices as nodes of the built-in InfiniBand fabric.
#pragma once

#include <string>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/subnet/fabric_plan.hpp"

namespace urnic::control {

inline bool is_infiniband(const DeviceSettings& device) { return device.link_layer == LinkLayer::infiniband; }

// By default as Linux has it: the host's name and the device's.
std::string description_of(const DeviceSettings& device);

// The node of an InfiniBand device, which has the device's name. Its port has `ability`, and no larger MTU
// than the device.
subnet::PlannedNode planned(const DeviceSettings& device, const subnet::LinkAbility& ability);

}  // namespace urnic::control
