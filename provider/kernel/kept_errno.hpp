// Calls that look around on the program's behalf must not leave traces in its errno.
#pragma once

#include <errno.h>

namespace urnic::kernel {

// Puts errno back to what it was when this was made.
class KeptErrno {
 public:
  KeptErrno() : value_(errno) {}
  ~KeptErrno() { errno = value_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int value_;
};

}  // namespace urnic::kernel
