// Which queue pairs can have a rate limit, and which limits.
#pragma once

#include <cstdint>

#include "device_model/control/objects/program_context.hpp"

namespace urnic::control {

// Whether the QP can have the rate (limits.hpp); 0, no limit, is valid for all QPs that take one.
bool is_valid_rate(const QueuePair& qp, std::uint32_t rate_kbps);

}  // namespace urnic::control
