// The calling thread's processor: how long it ran there and waited, and a move to another one.
#pragma once

#include <optional>

#include "device_model/memory/descriptor.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

// Since the thread began.
struct ProcessorShare {
  transport::Nanoseconds ran{0};
  transport::Nanoseconds waited{0};  // ready to run, while another thread had the processor
};

class ProcessorShareReader {
 public:
  // Of the calling thread, which must be the one that reads. Kernels without CONFIG_SCHED_INFO tell nothing.
  ProcessorShareReader();
  // One system call; nothing where the kernel does not tell.
  std::optional<ProcessorShare> read() const;

 private:
  memory::Descriptor file_;
};

// The processors that the calling thread may use, but for one that it avoids. Does nothing where there is no
// other one, or where the kernel refuses.
class ProcessorChoice {
 public:
  // From the processor on which the thread runs it moves to another one, and stays away. A processor that it
  // avoided before is allowed again.
  void avoid_this();
  void avoid_none();

 private:
  std::optional<int> avoided_;
};

}  // namespace urnic::engine
