// The two work queues of a QP, for a face of the device that is not urnic's own.
#pragma once

#include <atomic>
#include <cstdint>

#include "device_model/engine/rings/posted_receives.hpp"
#include "device_model/engine/rings/posted_sends.hpp"

namespace urnic::engine {

// Made on the control thread; the memory outlives it. Engine thread only, after construction.
class ProgramQueues {
 public:
  virtual ~ProgramQueues() = default;

  virtual PostedSends& sends() = 0;
  virtual PostedReceives& receives() = 0;
  // Where the program publishes its send producer index; only to prefetch it.
  virtual const void* send_producer() const = 0;
};

}  // namespace urnic::engine
