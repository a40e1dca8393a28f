#include "provider/plugin/connection/control_connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "device_model/abi/short_wait.hpp"
#include "provider/freestanding/socket_retry.hpp"
#include "trust/peer.hpp"

namespace urnic::provider {
namespace {

using abi::kMaxControlMessage;

void collect_descriptors(msghdr& message, ReceivedDescriptors& received) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
      received.add(number);
    }
  }
}

// The threads of this process share it.
constinit abi::Crowd crowd;

ssize_t receive_message(int socket, msghdr& message) {
  for (abi::ShortWait short_wait(crowd); short_wait.yield();) {
    const ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (length >= 0 || (errno != EAGAIN && errno != EINTR)) return length;
  }
  ssize_t length;
  while ((length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC)) < 0) {
    if (!should_retry(socket, POLLIN)) return length;
  }
  return length;
}

}  // namespace

void ReceivedDescriptors::add(int number) {
  Descriptor descriptor(number);
  if (count_ < kCapacity) descriptors_[count_++] = static_cast<Descriptor&&>(descriptor);
}

void ControlConnection::use(int socket) {
  socket_ = socket;
  trusted_ = trust::peer_is_own_user(socket);
}

int ControlConnection::send(const ControlRequest& request) {
  if (!trusted_) return EACCES;
  abi::RequestHeader header{abi::kControlMagic, static_cast<std::uint32_t>(request.opcode),
                            static_cast<std::uint32_t>(sizeof header + request.body_size), ++sequence_};
  iovec parts[2] = {{&header, sizeof header}, {const_cast<void*>(request.body), request.body_size}};
  alignas(cmsghdr) char control[CMSG_SPACE(ReceivedDescriptors::kCapacity * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  if (request.descriptor_count != 0) {
    const std::size_t bytes = request.descriptor_count * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(part), request.descriptors, bytes);
  }
  while (sendmsg(socket_, &message, MSG_NOSIGNAL) < 0) {
    if (!should_retry(socket_, POLLOUT)) return EPIPE;
  }
  return 0;
}

int ControlConnection::receive(const ControlRequest& request, ReceivedDescriptors& received) {
  char body[kMaxControlMessage];
  abi::ReplyHeader header{};
  iovec parts[2] = {{&header, sizeof header}, {body, sizeof body}};
  alignas(cmsghdr) char control[CMSG_SPACE(ReceivedDescriptors::kCapacity * sizeof(int))];
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = receive_message(socket_, message);
  if (length < 0) return EPIPE;
  collect_descriptors(message, received);
  if (length < static_cast<ssize_t>(sizeof header) || header.magic != abi::kControlMagic ||
      header.sequence != sequence_ || header.opcode != static_cast<std::uint32_t>(request.opcode)) {
    return EPIPE;
  }
  if (header.error != 0) return header.error > 0 ? header.error : EPIPE;
  if (length != static_cast<ssize_t>(sizeof header + request.reply_size)) return EPIPE;
  std::memcpy(request.reply, body, request.reply_size);
  return 0;
}

int ControlConnection::exchange(const ControlRequest& request, ReceivedDescriptors& received) {
  if (const int error = send(request)) return error;
  return receive(request, received);
}

int connect_to_same_device(int existing, Descriptor& socket_out) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  if (getpeername(existing, reinterpret_cast<sockaddr*>(&address), &length) != 0) return errno;
  Descriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!connection.valid()) return errno;
  if (connect(connection.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return errno;
  socket_out = static_cast<Descriptor&&>(connection);
  return 0;
}

bool peer_has_closed(int socket) {
  char byte;
  const ssize_t length = recv(socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
  return length == 0 || (length < 0 && (errno == ECONNRESET || errno == EPIPE));
}

}  // namespace urnic::provider
