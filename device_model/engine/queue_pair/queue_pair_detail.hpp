// A queue pair in its engine with all that its queues hold, for a person who looks at this one.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/queue_pair/queue_pair_status.hpp"
#include "device_model/engine/rings/queued_work.hpp"
#include "device_model/transport/queue_pair_detail.hpp"

namespace urnic::engine {

struct QueuePairInDetail {
  QueuePairStatus status;
  std::optional<transport::QueuePairDetail> transport;  // of a reliable connection
  QueuedSends sends;
  std::optional<QueuedReceives> receives;              // empty: they come from elsewhere, such as an SRQ
  std::optional<CompletionQueue::Indices> send_cq;     // empty: it has none
  std::optional<CompletionQueue::Indices> receive_cq;  //
};

}  // namespace urnic::engine
