// System calls that fail only where the device process cannot go on.
#pragma once

#include <cerrno>
#include <system_error>

namespace urnic::memory {

// The result of a call. Throws std::system_error with errno and `what` if it is negative.
inline int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

}  // namespace urnic::memory
