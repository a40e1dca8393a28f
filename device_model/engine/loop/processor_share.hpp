// How long a thread ran on its processor, and waited for it.
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

}  // namespace urnic::engine
