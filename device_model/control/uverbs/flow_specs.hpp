// Translates the specifications of ibv_create_flow, as a program sends them, into the engine's comparison.
#pragma once

#include <span>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/engine/steering/steering_table.hpp"

namespace urnic::control {

// What a rule's specifications say.
struct FlowTerms {
  engine::FrameMatch match;
  bool drops = false;  // frames that match go nowhere
};

// Returns 0; EINVAL for an unknown or repeated header or action, or headers that no frame has together;
// EOPNOTSUPP for headers and actions of libibverbs that this device lacks.
int read_flow_specs(std::span<const abi::FlowSpec> specs, FlowTerms& terms);

}  // namespace urnic::control
