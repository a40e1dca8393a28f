// Which queue pairs may be told how fast to send, and how fast.
#pragma once

#include <cstdint>

#include "device_model/control/context.hpp"
#include "device_model/control/limits.hpp"

namespace urnic::control {

// Those that owe nobody an acknowledgement: one that is late would be taken for a loss.
constexpr bool takes_rate_limit(transport::QpService service) {
  return service == transport::QpService::uc || service == transport::QpService::ud ||
         service == transport::QpService::raw_packet;
}

// Whether the QP can have the rate; 0, none, can have every QP that takes one.
bool is_valid_rate(const QueuePair& qp, std::uint32_t rate_kbps);

}  // namespace urnic::control
