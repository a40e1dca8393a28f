#include "device_model/control/rdma_cm/connection.hpp"

#include <fmt/core.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/message_socket.hpp"

namespace urnic::control::rdma_cm {
namespace {

static_assert(abi::kMaxRdmaCmRequest <= abi::kMaxControlMessage);

// The socket and the peer's pidfd.
constexpr std::uint64_t kDescriptorsOfConnection = 2;

}  // namespace

Name random_name() {
  Name name;
  if (getrandom(name.data(), name.size(), 0) != static_cast<ssize_t>(name.size()))
    throw std::system_error(errno, std::generic_category(), "getrandom");
  return name;
}

Connection::Connection(EventLoop& loop, DescriptorDisposal& disposal, Quotas& quotas,
                       memory::Descriptor socket, std::function<bool(std::span<const std::byte>)> received,
                       std::function<void()> closed)
    : disposal_(disposal),
      peer_(std::make_shared<Peer>(socket.get())),
      socket_(std::move(socket)),
      account_(quotas.account(peer_->pid())),
      charge_(account_->charge(Resource::descriptors, kDescriptorsOfConnection)),
      received_(std::move(received)),
      closed_(std::move(closed)),
      watch_(loop, socket_.get(), EPOLLIN, [this](std::uint32_t) { ready(); }) {}

Connection::~Connection() {
  watch_.reset();
  // The program is to see the end at once; messages that nobody has read may hold descriptors.
  shutdown(socket_.get(), SHUT_RDWR);
  disposal_.close(std::move(socket_), peer_->pid());
}

Opener Connection::opener() const {
  return {account_, [peer = peer_](std::uint16_t port) { return peer->may_bind(port); },
          fmt::format("pid {}", peer_->pid()), [this] { return has_hung_up(); }, peer_->pid()};
}

bool Connection::has_hung_up() const {
  pollfd entry{socket_.get(), POLLRDHUP, 0};
  return poll(&entry, 1, 0) == 1;
}

void Connection::ready() {
  if (handle_one()) return;
  watch_.reset();
  const auto closed = std::move(closed_);
  closed();
}

bool Connection::handle_one() {
  Message message;
  const ReceiveResult result = receive_message(socket_.get(), message);
  const bool sent_descriptors = !message.descriptors.empty();
  disposal_.close(message.descriptors, peer_->pid());
  if (result == ReceiveResult::nothing) return true;
  if (result == ReceiveResult::closed) return false;
  if (result == ReceiveResult::message && !sent_descriptors && received_(message.bytes())) return true;
  log::warn("pid {} sent a message that is none of rdma_cm's: connection closed", peer_->pid());
  return false;
}

bool Connection::answer(const abi::RdmaCmReply& reply, std::span<const std::byte> bytes,
                        std::span<const std::byte> further, std::span<const int> descriptors) {
  std::array<std::byte, sizeof reply + abi::kMaxRdmaCmAnswer + abi::kMaxFurtherAnswers> message;
  std::size_t length = 0;
  for (const auto part : {std::as_bytes(std::span(&reply, 1)), bytes, further}) {
    std::copy(part.begin(), part.end(), message.begin() + static_cast<std::ptrdiff_t>(length));
    length += part.size();
  }
  return send_message(socket_.get(), std::span(message).first(length), descriptors);
}

bool Connection::send_token() {
  static constexpr std::array<std::byte, sizeof(abi::EventToken)> kToken{};
  return send_message(socket_.get(), std::span(kToken).first(takes_events ? kToken.size() : 1), {});
}

bool Connection::send_event(const Answer& answer, std::uint32_t number, std::uint32_t withdrawals) {
  abi::EventToken token;
  static_assert(sizeof token.event == sizeof(rdma_ucm_event_resp));
  if (answer.length > sizeof token.event || answer.further_length > sizeof token.further) return false;
  std::memset(&token, 0, sizeof token);
  token.magic = abi::kRdmaCmMagic;
  token.number = number;
  token.withdrawals = withdrawals;
  token.further_length = static_cast<std::uint32_t>(answer.further_length);
  std::memcpy(token.event, answer.storage.data(), answer.length);
  std::memcpy(token.further, answer.further.data(), answer.further_length);
  return send_message(socket_.get(), std::as_bytes(std::span(&token, 1)), {});
}

// Not by SIOCOUTQ: the process may not call ioctl.
std::optional<std::size_t> Connection::unread() const {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t length = sizeof memory;
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &length) != 0) return {};
  return memory[SK_MEMINFO_WMEM_ALLOC];
}

}  // namespace urnic::control::rdma_cm
