#include "device_model/control/loop/unread_descriptors.hpp"

#include <sys/socket.h>

#include <array>
#include <cstddef>

namespace urnic::control {
namespace {

// Each look passes a message, or so many bytes of it.
constexpr std::size_t kAtOnce = std::size_t{64} << 10;
constexpr int kMostLooks = 4096;

}  // namespace

// socket(7), SO_PEEK_OFF: each look goes on behind the last one.
void look_from_the_first(int socket) {
  const int beginning = 0;
  setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &beginning, sizeof beginning);
}

// A message without room for its descriptors says that it has some (recvmsg(2), MSG_CTRUNC). An empty
// message, which others may be behind, looks as the end of the connection does: there the looks run out.
bool finds_descriptors(int socket) {
  std::array<std::byte, kAtOnce> bytes;
  for (int looks = 0; looks < kMostLooks; ++looks) {
    iovec part{bytes.data(), bytes.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (recvmsg(socket, &header, MSG_PEEK | MSG_DONTWAIT) < 0) return false;
    if ((header.msg_flags & MSG_CTRUNC) != 0) return true;
  }
  return false;
}

}  // namespace urnic::control
