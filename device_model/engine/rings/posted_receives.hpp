// The device's end of a receive queue in memory that the program writes, as one face of the device lays it
// out. It has no doorbell: the transport looks when it needs a WQE.
#pragma once

#include "device_model/engine/rings/queued_work.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// Engine thread only, after construction.
class PostedReceives : public transport::ReceiveQueue {
 public:
  virtual ~PostedReceives() = default;

  // Back to index 0 (QP to reset).
  virtual void reset() = 0;
  // The producer index claims more WQEs than the queue holds. No WQE is taken until `reset`.
  virtual bool lied() const = 0;
  // What it holds now, for a person. Allocates.
  virtual QueuedReceives queued() const = 0;
};

}  // namespace urnic::engine
