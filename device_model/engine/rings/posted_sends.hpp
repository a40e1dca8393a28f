// The device's end of a send queue in memory that the program writes. Each face of the device lays the queue
// out in its own way.
#pragma once

#include "device_model/engine/rings/queued_work.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// Engine thread only, after construction.
class PostedSends : public transport::SendQueue {
 public:
  virtual ~PostedSends() = default;

  // Reads the producer index, which is trusted until the next read.
  virtual void doorbell() = 0;
  // Back to index 0 (QP to reset).
  virtual void reset() = 0;
  // The producer index claims more WQEs than the queue holds. No WQE is taken until `reset`.
  virtual bool lied() const = 0;
  // Prefetches the next WQE.
  virtual void prefetch_next() const = 0;
  // What it holds now, for a person. Allocates.
  virtual QueuedSends queued() const = 0;
};

}  // namespace urnic::engine
