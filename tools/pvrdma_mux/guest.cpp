#include "tools/pvrdma_mux/guest.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>

namespace urnic::pvrdma_mux {

std::optional<MuxMessage> Guest::next() {
  auto* const bytes = reinterpret_cast<std::byte*>(&partial_);
  while (received_ < sizeof partial_) {
    const ssize_t size = recv(socket_.get(), bytes + received_, sizeof partial_ - received_, MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      gone_ = size == 0 || errno != EAGAIN;
      return {};
    }
    received_ += static_cast<std::size_t>(size);
  }
  received_ = 0;
  return partial_;
}

bool Guest::is_waiting() const {
  int unread = 0;
  return received_ != 0 || (ioctl(socket_.get(), FIONREAD, &unread) == 0 && unread != 0);
}

void Guest::send(const MuxMessage& message) {
  const ssize_t sent = ::send(socket_.get(), &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
  // Part of a message would shift all that follow.
  if (sent >= 0 ? sent != sizeof message : errno != EAGAIN) gone_ = true;
}

}  // namespace urnic::pvrdma_mux
