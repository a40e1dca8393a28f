#include "device_model/control/umad/rest_stream.hpp"

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "device_model/memory/checked_call.hpp"

namespace urnic::control {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{256} << 10;
constexpr std::uint32_t kRoomOrEnd = EPOLLOUT | EPOLLET;
// The kernel counts what a message takes in memory, and one byte more while it tells that the message is
// gone (sock_wfree).
constexpr int kLessThanAMessage = 64;

std::array<int, 2> stream_pair() {
  std::array<int, 2> ends{};
  memory::checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
  return ends;
}

}  // namespace

RestStream::RestStream(EventLoop& loop, std::vector<std::byte> message, std::size_t begin,
                       std::function<void()> ready)
    : message_(std::move(message)), sent_(begin) {
  const auto ends = stream_pair();
  own_ = memory::Descriptor(ends[0]);
  theirs_ = memory::Descriptor(ends[1]);
  // What a program could send here, such as a socket that lingers, would end with this one, on this thread.
  memory::checked(shutdown(own_.get(), SHUT_RD), "shutdown");
  watch_ = ScopedWatch(loop, own_.get(), kRoomOrEnd, [ready = std::move(ready)](std::uint32_t) { ready(); });
}

// The kernel tells of each message that is read, and of the end. A program that shuts its end down and keeps
// it unread gains nothing: it is not over before it is empty.
bool RestStream::leave() {
  const std::size_t size = std::min(message_.size() - sent_, kMostAtOnce);
  if (size != 0) {
    const ssize_t sent = send(own_.get(), message_.data() + sent_, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) sent_ += static_cast<std::size_t>(sent);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) sent_ = message_.size();
    if (sent_ != message_.size()) watch_.change(kRoomOrEnd);
  }
  return sent_ == message_.size() && is_empty();
}

bool RestStream::is_empty() const {
  int bytes = 0;
  return ioctl(own_.get(), TIOCOUTQ, &bytes) == 0 && bytes < kLessThanAMessage;
}

}  // namespace urnic::control
