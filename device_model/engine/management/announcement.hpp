// Tells the control thread that there is something for it to take. One system call for as much as comes
// before it looks.
#pragma once

#include <sys/eventfd.h>

#include <atomic>

#include "device_model/memory/checked_call.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::engine {

class Announcement {
 public:
  // Throws std::system_error with `what` in its text.
  explicit Announcement(const char* what)
      : arrival_(memory::checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), what)) {}

  // Any thread, after what is there was published. Makes the descriptor readable, unless it is already or
  // `hold` keeps it from that.
  void announce() {
    if (hold()) eventfd_write(arrival_.get(), 1);
  }

  // The rest is for the control thread. An eventfd.
  int descriptor() const { return arrival_.get(); }
  // Makes it unreadable, and keeps it so until `release`.
  void take() {
    eventfd_t ignored = 0;
    eventfd_read(arrival_.get(), &ignored);
  }
  // It does not become readable until `release`. False: it is readable already, or is held.
  bool hold() { return !announced_.exchange(true, std::memory_order_acq_rel); }
  // From now on what comes is announced. It reads what `announce` wrote, so whoever looks now sees what was
  // published before.
  void release() { announced_.exchange(false, std::memory_order_acq_rel); }

 private:
  memory::Descriptor arrival_;
  std::atomic<bool> announced_{false};  // it is readable, about to be, or held
};

}  // namespace urnic::engine
