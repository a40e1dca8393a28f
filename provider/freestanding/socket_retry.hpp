// Calls on sockets of the device process, which wait even if the program has made the descriptor
// non-blocking: O_NONBLOCK is meant for events, and the device process always takes requests.
#pragma once

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace urnic::provider {

// After a call on `socket` that has failed with errno. True: it is to be made again; on EAGAIN `events` have
// come meanwhile.
inline bool should_retry(int socket, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd entry = {socket, events, 0};
  poll(&entry, 1, -1);
  return true;
}

// The same where a thread must not be cancelled while it waits.
inline bool should_retry_to_the_end(int socket, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd entry = {socket, events, 0};
  syscall(SYS_ppoll, &entry, 1, nullptr, nullptr, 0);
  return true;
}

}  // namespace urnic::provider
