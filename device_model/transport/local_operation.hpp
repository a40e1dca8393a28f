// Bind, local invalidate, or nothing: requests that the requester carries out itself, without a packet
// (IBTA 10.6.7, 11.4.1.1).
#pragma once

#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/segmentation.hpp"

namespace urnic::transport {

// `request` is_local. Anything but `ok`: the request completes with memory_window_bind_error.
inline KeyCheck carry_out_locally(const SendRequest& request, const QpConfig& config) {
  if (request.is_idle) return KeyCheck::ok;
  return request.opcode == WorkOpcode::local_invalidate
             ? config.keys->invalidate(request.invalidate, config.pd, config.qpn)
             : config.keys->bind(request.binding, config.pd, config.qpn);
}

}  // namespace urnic::transport
