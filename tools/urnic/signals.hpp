// Signals as a readable descriptor, for commands that must end cleanly on a signal.
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
  // The signalfd. Stays this object's.
  int get() const { return descriptor_.get(); }
  // The signal mask as it was, for children.
  const sigset_t& mask_before() const { return before_; }
  // Takes one pending signal, without waiting; 0 if there is none.
  int take() const;

 private:
  sigset_t before_{};
  memory::Descriptor descriptor_;
};

}  // namespace urnic::cli
