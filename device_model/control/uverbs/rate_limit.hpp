// Which queue pairs may be told how fast to send, and how fast.
#pragma once

#include <cstdint>

#include "device_model/control/objects/context.hpp"

namespace urnic::control {

// Whether the QP can have the rate, as limits.hpp has it; 0 is none, which every QP can have that takes one.
bool is_valid_rate(const QueuePair& qp, std::uint32_t rate_kbps);

}  // namespace urnic::control
