// A snapshot of a queue pair in its engine.
#pragma once

#include <cstdint>

#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/queue_pair_snapshot.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

struct QueuePairStatus {
  wire::Qpn qpn;
  transport::QpService service = transport::QpService::rc;
  std::uint64_t packets_sent = 0;  // since creation
  bool wants_to_send = false;
  bool waits_for_memory = false;  // that does not answer
  transport::QueuePairSnapshot transport;
};

}  // namespace urnic::engine
