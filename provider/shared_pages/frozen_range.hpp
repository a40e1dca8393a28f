// Pages of this process that other threads wait for, with userfaultfd(2).
#pragma once

#include "device_model/abi/control.hpp"
#include "provider/freestanding/descriptor.hpp"

namespace urnic::provider {

// The pages are moved elsewhere. Whoever touches the range waits, in user code and in system calls, until
// this object ends: then the pages are back, unless something else has replaced them.
//
// Needs the right to make the kernel wait (CAP_SYS_PTRACE, or vm.unprivileged_userfaultfd). Without it a
// system call of another thread would fail with EFAULT, so nothing is frozen then. Nor in a process with a
// filter of system calls, which might end the process for this one.
class FrozenRange {
 public:
  explicit FrozenRange(const abi::PageRange& range);
  ~FrozenRange();
  FrozenRange(const FrozenRange&) = delete;
  FrozenRange& operator=(const FrozenRange&) = delete;

  bool is_frozen() const { return pages_ != nullptr; }
  // Where the pages are now.
  const char* pages() const { return pages_; }
  // There is another mapping in the range: the pages are not needed any more.
  void replaced() { replaced_ = true; }

 private:
  bool watch();

  const abi::PageRange range_;
  Descriptor watcher_;
  char* pages_ = nullptr;
  bool replaced_ = false;
};

}  // namespace urnic::provider
