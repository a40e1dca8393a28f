// The process at the other end of a socket.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

namespace urnic::trust {

// True if the process that listens, or has connected, at the other end of `socket` (AF_UNIX) has this
// process's effective user ID. The kernel has noted that ID at listen(2) or connect(2); nobody can change it
// afterwards. Root is no exception: root's memory is not for other users, nor theirs for root.
inline bool peer_is_own_user(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

}  // namespace urnic::trust
