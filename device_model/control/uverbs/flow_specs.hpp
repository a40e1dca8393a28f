// Translates the specifications of ibv_create_flow, as a program sends them, into the engine's comparison.
#pragma once

#include <span>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/engine/steering/steering_table.hpp"

namespace urnic::control {

// Returns 0; EINVAL for an unknown or repeated header, or headers that no frame has together; EOPNOTSUPP for
// headers and actions of libibverbs that this device lacks.
int read_flow_specs(std::span<const abi::FlowSpec> specs, engine::FrameMatch& match);

}  // namespace urnic::control
