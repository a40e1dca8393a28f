// Keeps the program's errno unchanged by the calls that urnic's libraries make themselves.
#pragma once

#include <errno.h>

namespace urnic {

// The destructor restores the errno that the constructor found.
class KeptErrno {
 public:
  KeptErrno() : value_(errno) {}
  ~KeptErrno() { errno = value_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int value_;
};

}  // namespace urnic
