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

constexpr int kPatienceMs = 10'000;

}  // namespace

ControlClient::ControlClient(const std::string& node) {
  const int descriptor = open(("/dev/infiniband/" + node).c_str(), O_RDWR | O_CLOEXEC);
  require(descriptor >= 0, "{} cannot be opened: {}", node, std::strerror(errno));
  socket_ = memory::Descriptor(descriptor);
}

bool ControlClient::send(std::span<const std::byte> message, std::span<const int> descriptors, bool wait) {
  return send_message(number(), message, descriptors, wait ? 0 : MSG_DONTWAIT);
}

std::optional<ControlReply> ControlClient::receive() {
  pollfd look{number(), POLLIN, 0};
  if (::poll(&look, 1, kPatienceMs) != 1) return std::nullopt;
  return receive_reply(number());
}

std::optional<ControlReply> ControlClient::ask(abi::ControlOpcode opcode, std::span<const std::byte> body,
                                               std::span<const int> descriptors) {
  const auto message = control_message(opcode, body, ++sequence_);
  if (!send(message, descriptors)) return std::nullopt;
  return receive();
}

abi::OpenContextReply ControlClient::open_context() {
  // Where Yama restricts tracing, the device process reads the memory by leave of its owner.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  std::array<int, 2> ends{};
  require(pipe2(ends.data(), O_CLOEXEC) == 0, "no pipe: {}", std::strerror(errno));
  for (const int end : ends) events_.emplace_back(end);
  const std::vector<memory::Descriptor> identity = own_identity();
  const std::array descriptors{identity[0].get(), identity[1].get(), ends[0], ends[1]};
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

std::vector<memory::Descriptor> own_identity() {
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  require(process >= 0 && memory >= 0, "no identity: {}", std::strerror(errno));
  std::vector<memory::Descriptor> identity;
  identity.emplace_back(process);
  identity.emplace_back(memory);
  return identity;
}

}  // namespace urnic::apps
