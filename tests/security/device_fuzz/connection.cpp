#include "tests/security/device_fuzz/connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace urnic::device_fuzz {
namespace {

constexpr std::size_t kMaxDescriptors = 253;  // SCM_MAX_FD
constexpr int kPatienceMs = 30'000;

void collect(msghdr& message, std::vector<Owned>& descriptors) {
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

Owned& Owned::operator=(Owned&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Owned::~Owned() {
  if (number_ >= 0) close(number_);
}

int Owned::release() { return std::exchange(number_, -1); }

Connection::Connection(const std::string& node, Counts& counts)
    : counts_(counts), socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  node.copy(address.sun_path, sizeof address.sun_path - 1);
  open_ = connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!open_) ++counts_.turned_away;
}

bool Connection::send(std::span<const std::byte> message, std::span<const int> descriptors) {
  iovec data{const_cast<std::byte*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  const std::size_t count = std::min(descriptors.size(), kMaxDescriptors);
  if (count != 0) {
    packet.msg_control = control.data();
    packet.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const rights = CMSG_FIRSTHDR(&packet);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(rights), descriptors.data(), count * sizeof(int));
  }
  if (sendmsg(socket_.get(), &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return false;
  ++counts_.messages;
  counts_.descriptors += count;
  return true;
}

std::optional<Answer> Connection::receive() {
  pollfd look{socket_.get(), POLLIN, 0};
  if (poll(&look, 1, kPatienceMs) != 1) {
    ++counts_.unanswered;
    open_ = false;
    return std::nullopt;
  }
  std::array<std::byte, 4096> bytes;
  iovec data{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control;
  msghdr packet{};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control.data();
  packet.msg_controllen = control.size();
  const ssize_t size = recvmsg(socket_.get(), &packet, MSG_CMSG_CLOEXEC);
  if (size < static_cast<ssize_t>(sizeof(abi::ReplyHeader))) {
    ++counts_.closed;
    open_ = false;
    return std::nullopt;
  }
  Answer answer;
  collect(packet, answer.descriptors);
  std::memcpy(&answer.header, bytes.data(), sizeof answer.header);
  answer.body.assign(bytes.begin() + sizeof answer.header, bytes.begin() + size);
  const std::size_t opcode = answer.header.opcode % kOpcodes;
  if (answer.header.error == 0) {
    ++counts_.served;
    ++counts_.served_by_opcode[opcode];
  } else {
    ++counts_.refused;
    ++counts_.refused_by_opcode[opcode];
  }
  return answer;
}

std::vector<std::byte> with_header(abi::ControlOpcode opcode, std::span<const std::byte> body,
                                   std::uint32_t sequence) {
  const abi::RequestHeader header{abi::kControlMagic, static_cast<std::uint32_t>(opcode),
                                  static_cast<std::uint32_t>(sizeof header + body.size()), sequence};
  std::vector<std::byte> message(sizeof header + body.size());
  std::memcpy(message.data(), &header, sizeof header);
  std::copy(body.begin(), body.end(), message.begin() + sizeof header);
  return message;
}

}  // namespace urnic::device_fuzz
