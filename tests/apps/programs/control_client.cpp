#include "tests/apps/programs/control_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kMaxDescriptors = 32;
constexpr int kPatienceMs = 10'000;

void collect(const msghdr& message, OwnedDescriptors& descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      descriptors.add(number);
    }
  }
}

}  // namespace

OwnedDescriptors::~OwnedDescriptors() {
  for (const int number : numbers_) close(number);
}

ControlClient::ControlClient(const std::string& node) {
  const int descriptor = open(("/dev/infiniband/" + node).c_str(), O_RDWR | O_CLOEXEC);
  require(descriptor >= 0, "{} cannot be opened: {}", node, std::strerror(errno));
  socket_.add(descriptor);
}

bool ControlClient::send(std::span<const std::byte> message, std::span<const int> descriptors, bool wait) {
  iovec data{const_cast<std::byte*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const std::size_t bytes = std::min(descriptors.size(), kMaxDescriptors) * sizeof(int);
    packet.msg_control = control.data();
    packet.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&packet);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  return sendmsg(number(), &packet, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)) >= 0;
}

std::optional<ControlReply> ControlClient::receive() {
  pollfd look{number(), POLLIN, 0};
  if (::poll(&look, 1, kPatienceMs) != 1) return std::nullopt;
  std::array<std::byte, 4096> bytes;
  iovec data{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control;
  msghdr packet{};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control.data();
  packet.msg_controllen = control.size();
  const ssize_t size = recvmsg(number(), &packet, MSG_CMSG_CLOEXEC);
  if (size < static_cast<ssize_t>(sizeof(abi::ReplyHeader))) return std::nullopt;
  ControlReply reply;
  collect(packet, reply.descriptors);
  std::memcpy(&reply.header, bytes.data(), sizeof reply.header);
  reply.body.assign(bytes.begin() + sizeof reply.header, bytes.begin() + size);
  return reply;
}

std::optional<ControlReply> ControlClient::ask(abi::ControlOpcode opcode, std::span<const std::byte> body,
                                               std::span<const int> descriptors) {
  const auto message = control_message(static_cast<std::uint32_t>(opcode), body, ++sequence_);
  if (!send(message, descriptors)) return std::nullopt;
  return receive();
}

abi::OpenContextReply ControlClient::open_context() {
  // Where Yama restricts tracing, the device process reads the memory by leave of its owner.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  std::array<int, 2> ends{};
  require(pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe: {}", std::strerror(errno));
  events_ = OwnedDescriptors({ends[0], ends[1]});
  const OwnedDescriptors identity = own_identity();
  const std::array descriptors{identity[0], identity[1], ends[0], ends[1]};
  abi::OpenContextRequest request{};
  request.version = abi::kControlVersion;
  std::strncpy(request.program, "verbs_hostile", sizeof request.program - 1);
  ControlReply reply =
      demanded(abi::ControlOpcode::open_context, ask(abi::ControlOpcode::open_context, request, descriptors));
  context_descriptors_ = std::move(reply.descriptors);
  require(context_descriptors_.size() == 3, "{} descriptors came", context_descriptors_.size());
  return reply.as<abi::OpenContextReply>();
}

ControlReply ControlClient::demanded(abi::ControlOpcode opcode, std::optional<ControlReply> reply) {
  const auto number = static_cast<unsigned>(opcode);
  require(reply.has_value(), "request {}: no answer", number);
  require(reply->header.error == 0, "request {}: {}", number, std::strerror(reply->header.error));
  return std::move(*reply);
}

std::vector<std::byte> control_message(std::uint32_t opcode, std::span<const std::byte> body,
                                       std::uint32_t sequence) {
  const abi::RequestHeader header{abi::kControlMagic, opcode,
                                  static_cast<std::uint32_t>(sizeof header + body.size()), sequence};
  std::vector<std::byte> message(sizeof header + body.size());
  std::memcpy(message.data(), &header, sizeof header);
  std::copy(body.begin(), body.end(), message.begin() + sizeof header);
  return message;
}

OwnedDescriptors own_identity() {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  require(process >= 0 && memory >= 0, "no identity: {}", std::strerror(errno));
  return OwnedDescriptors({process, memory});
}

}  // namespace urnic::apps
