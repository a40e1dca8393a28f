// fstat, which the C library has as a function from glibc 2.33 on.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace urnic::provider {

// As fstat.
inline int file_status(int descriptor, struct stat& status) {
  return static_cast<int>(syscall(SYS_newfstatat, descriptor, "", &status, AT_EMPTY_PATH));
}

}  // namespace urnic::provider
