// Signals as a readable descriptor, for commands that end cleanly when they are told to.
#pragma once

#include <csignal>
#include <initializer_list>

#include "device_model/memory/descriptor.hpp"

namespace urnic::cli {

// Blocks `signals` for this thread and its later threads and children, and reads them from a signalfd
// instead.
class SignalDescriptor {
 public:
  explicit SignalDescriptor(std::initializer_list<int> signals);
  int get() const { return descriptor_.get(); }
  // The signal mask as it was, for children.
  const sigset_t& mask_before() const { return before_; }
  // Takes one signal that has arrived, without waiting; 0 if none.
  int take() const;

 private:
  sigset_t before_{};
  memory::Descriptor descriptor_;
};

}  // namespace urnic::cli
