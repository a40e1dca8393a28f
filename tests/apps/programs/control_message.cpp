#include "tests/apps/programs/control_message.hpp"

#include <sys/socket.h>

#include <array>

namespace urnic::apps {
namespace {

constexpr std::size_t kMaxDescriptors = 253;  // SCM_MAX_FD

void collect(msghdr& message, std::vector<memory::Descriptor>& descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      descriptors.emplace_back(number);
    }
  }
}

}  // namespace

std::vector<std::byte> control_message(std::uint32_t opcode, std::span<const std::byte> body,
                                       std::uint32_t sequence) {
  const abi::RequestHeader header{abi::kControlMagic, opcode,
                                  static_cast<std::uint32_t>(sizeof header + body.size()), sequence};
  std::vector<std::byte> message(sizeof header + body.size());
  std::memcpy(message.data(), &header, sizeof header);
  std::copy(body.begin(), body.end(), message.begin() + sizeof header);
  return message;
}

bool send_message(int socket, std::span<const std::byte> message, std::span<const int> descriptors,
                  int flags) {
  iovec data{const_cast<std::byte*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  const std::size_t bytes = std::min(descriptors.size(), kMaxDescriptors) * sizeof(int);
  if (bytes != 0) {
    packet.msg_control = control.data();
    packet.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const rights = CMSG_FIRSTHDR(&packet);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  return sendmsg(socket, &packet, MSG_NOSIGNAL | flags) >= 0;
}

std::optional<ControlReply> receive_reply(int socket) {
  std::array<std::byte, 4096> bytes;
  iovec data{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control;
  msghdr packet{};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control.data();
  packet.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket, &packet, MSG_CMSG_CLOEXEC);
  if (size < static_cast<ssize_t>(sizeof(abi::ReplyHeader))) return std::nullopt;
  ControlReply reply;
  collect(packet, reply.descriptors);
  std::memcpy(&reply.header, bytes.data(), sizeof reply.header);
  reply.body.assign(bytes.begin() + sizeof reply.header, bytes.begin() + size);
  return reply;
}

}  // namespace urnic::apps
