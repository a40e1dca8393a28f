#include "tests/security/device_fuzz/connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace urnic::device_fuzz {
namespace {

constexpr int kPatienceMs = 30'000;

}  // namespace

Connection::Connection(const std::string& node, Counts& counts)
    : counts_(counts), socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  node.copy(address.sun_path, sizeof address.sun_path - 1);
  open_ = connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (!open_) ++counts_.turned_away;
}

bool Connection::send(std::span<const std::byte> message, std::span<const int> descriptors) {
  if (!apps::send_message(socket_.get(), message, descriptors, MSG_DONTWAIT)) return false;
  ++counts_.messages;
  counts_.descriptors += descriptors.size();
  return true;
}

std::optional<ControlReply> Connection::receive() {
  pollfd look{socket_.get(), POLLIN, 0};
  if (poll(&look, 1, kPatienceMs) != 1) {
    ++counts_.unanswered;
    open_ = false;
    return std::nullopt;
  }
  std::optional<ControlReply> reply = apps::receive_reply(socket_.get());
  if (!reply) {
    ++counts_.closed;
    open_ = false;
    return std::nullopt;
  }
  const std::size_t opcode = reply->header.opcode % kOpcodes;
  if (reply->header.error == 0) {
    ++counts_.served;
    ++counts_.served_by_opcode[opcode];
  } else {
    ++counts_.refused;
    ++counts_.refused_by_opcode[opcode];
  }
  return reply;
}

}  // namespace urnic::device_fuzz
