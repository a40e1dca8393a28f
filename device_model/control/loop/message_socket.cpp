#include "device_model/control/loop/message_socket.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace urnic::control {
namespace {

constexpr std::size_t kSentAncillaryBytes = CMSG_SPACE(kMaxMessageDescriptors * sizeof(int));
constexpr std::size_t kReceivedAncillaryBytes = CMSG_SPACE(kMaxSentDescriptors * sizeof(int));

void take_descriptors(msghdr& header, std::vector<memory::Descriptor>& descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      descriptors.emplace_back(descriptor);
    }
  }
}

}  // namespace

ssize_t receive_bytes(int socket, std::span<std::byte> bytes, std::vector<memory::Descriptor>& descriptors,
                      int& flags) {
  alignas(cmsghdr) std::array<std::byte, kReceivedAncillaryBytes> ancillary;
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = ancillary.data();
  header.msg_controllen = ancillary.size();

  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got >= 0) take_descriptors(header, descriptors);
  flags = header.msg_flags;
  return got;
}

ReceiveResult receive_message(int socket, Message& message) {
  message.descriptors.clear();
  int flags = 0;
  const ssize_t got = receive_bytes(socket, message.storage, message.descriptors, flags);
  if (got < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? ReceiveResult::nothing : ReceiveResult::closed;
  }
  if (got == 0) return ReceiveResult::closed;
  const bool too_much =
      (flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || message.descriptors.size() > kMaxMessageDescriptors;
  if (too_much) return ReceiveResult::unusable;
  message.length = static_cast<std::size_t>(got);
  return ReceiveResult::message;
}

bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
  alignas(cmsghdr) std::array<std::byte, kSentAncillaryBytes> ancillary{};
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = ancillary.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }

  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

bool is_socket(int descriptor) {
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

}  // namespace urnic::control
