// What a queue pair is doing, as the admin socket tells it (docs/admin-socket.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "device_model/engine/queue_pair/queue_pair_detail.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::control {

class Context;
class Fabric;
struct QueuePair;

// A queue pair of a context, as its engine has seen it at `now`.
struct SeenQueuePair {
  const Fabric& fabric;
  const Context& context;
  const QueuePair& queue_pair;
  transport::Time now;
};

// In sums: an entry of the answer to "queue_pairs".
nlohmann::json describe(const SeenQueuePair& seen, const engine::QueuePairStatus& status);
// The same with each packet under way, each timer and the WQEs: the answer to "queue_pair".
nlohmann::json describe(const SeenQueuePair& seen, const engine::QueuePairInDetail& detail);

}  // namespace urnic::control
