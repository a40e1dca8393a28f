// From the specifications of ibv_create_flow, as a program sends them, to what the engine compares.
#pragma once

#include <span>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/engine/steering/steering_table.hpp"

namespace urnic::control {

// 0, or EINVAL for what makes no sense (an unknown header, one that is there twice, headers that no frame has
// together), or EOPNOTSUPP for headers and actions that libibverbs knows and this device does not offer.
int read_flow_specs(std::span<const abi::FlowSpec> specs, engine::FrameMatch& match);

}  // namespace urnic::control
