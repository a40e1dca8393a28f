#include "device_model/control/umad/unread_mark.hpp"

#include <sys/socket.h>

#include <cstddef>

#include "device_model/control/loop/unread_descriptors.hpp"

namespace urnic::control {

// A message without room for its descriptors says that it has some (recvmsg(2), MSG_CTRUNC). The second look
// is behind the first one (socket(7), SO_PEEK_OFF), as an empty message is no byte, but has descriptors. A
// longer message has come meanwhile.
bool is_mark_or_nothing(int socket) {
  look_from_the_first(socket);
  for (int looks = 0; looks < 2; ++looks) {
    std::byte first{};
    iovec part{&first, sizeof first};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    const ssize_t length = recvmsg(socket, &header, MSG_PEEK | MSG_DONTWAIT);
    if (length < 0 || (header.msg_flags & MSG_TRUNC) != 0) return true;
    if (length == 0 || (header.msg_flags & MSG_CTRUNC) != 0) return false;
  }
  return true;
}

}  // namespace urnic::control
