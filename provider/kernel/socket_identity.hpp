// Tells open sockets apart. A descriptor's number may come to mean another file at any time, because `close`
// is not watched.
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "provider/kept_errno.hpp"

namespace urnic::kernel {

// A number that no other socket of this machine has, before or after; 0 if `descriptor` is not a socket.
// Keeps errno.
inline uint64_t socket_cookie(int descriptor) {
  const KeptErrno kept;
  uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  if (getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &cookie, &length) != 0) return 0;
  return cookie;
}

}  // namespace urnic::kernel
