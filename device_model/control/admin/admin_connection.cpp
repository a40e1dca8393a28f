#include "device_model/control/admin/admin_connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>

#include "device_model/control/admin/active_capture.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/loop/unread_descriptors.hpp"
#include "json/json.hpp"

namespace urnic::control {

using nlohmann::json;

AdminConnection::AdminConnection(EventLoop& loop, DescriptorDisposal& disposal, memory::Descriptor socket,
                                 AdminConnectionState state, Handler handler, std::function<void()> closed)
    : disposal_(disposal),
      sender_(peer_number(socket.get())),
      socket_(std::move(socket)),
      handler_(std::move(handler)),
      closed_(std::move(closed)),
      state_(std::move(state)),
      watch_(loop, socket_.get(), EPOLLIN, [this](std::uint32_t events) { ready(events); }) {
  state_.socket = socket_.get();
}

AdminConnection::~AdminConnection() {
  watch_.reset();
  disposal_.close(std::move(socket_), sender_);
}

void AdminConnection::ready(std::uint32_t events) {
  if (handle(events)) return wait_for_room(!unsent_.empty());
  watch_.reset();
  const auto closed = std::move(closed_);
  closed();
}

// Reads no more requests while the peer does not read its answers. False: the conversation is over.
bool AdminConnection::handle(std::uint32_t events) {
  if (!waits_) return (events & ~static_cast<std::uint32_t>(EPOLLOUT)) == 0 || (receive() && handle_lines());
  const bool is_over = (events & (EPOLLHUP | EPOLLERR)) != 0 || finds_descriptors(socket_.get());
  return !is_over && flush();
}

void AdminConnection::wait_for_room(bool wait) {
  if (wait == waits_) return;
  waits_ = wait;
  if (wait) look_from_the_first(socket_.get());
  watch_.change(wait ? EPOLLIN | EPOLLOUT | EPOLLET : EPOLLIN);
}

bool AdminConnection::receive() {
  std::array<char, 4096> bytes;
  std::vector<memory::Descriptor> descriptors;
  int flags = 0;
  const ssize_t size =
      receive_bytes(socket_.get(), std::as_writable_bytes(std::span(bytes)), descriptors, flags);
  if (size < 0) return errno == EAGAIN;
  disposal_.close(descriptors, sender_);
  received_.append(bytes.data(), static_cast<std::size_t>(size));
  return size > 0 && !disposal_.refuses(sender_);
}

bool AdminConnection::handle_lines() {
  for (std::size_t end = received_.find('\n'); end != std::string::npos; end = received_.find('\n')) {
    const std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    if (!answer(line)) return false;
  }
  if (received_.size() < kMaxAdminLine) return true;
  unsent_ += json_text({{"error", "the line is longer than 65536 bytes"}}) + "\n";
  flush();
  return false;
}

// False: not JSON, or the peer is gone.
bool AdminConnection::answer(const std::string& line) {
  const json request = parse_json(line);
  if (!request.is_object()) {
    unsent_ +=
        json_text({{"error", "not a JSON object: one object per line, such as {\"cmd\":\"status\"}"}}) + "\n";
    flush();
    return false;
  }
  json reply;
  try {
    reply = handler_(request, state_);
  } catch (const std::exception& error) {
    reply = {{"error", error.what()}};
    state_.descriptors.clear();
  }
  if (!state_.descriptors.empty()) return send_with_descriptors(json_text(reply) + "\n");
  unsent_ += json_text(reply) + "\n";
  return flush();
}

bool AdminConnection::send_with_descriptors(const std::string& text) {
  // In a message of its own, so that the descriptors arrive with this answer.
  if (!unsent_.empty() && (!flush() || !unsent_.empty())) return false;
  const auto bytes = std::as_bytes(std::span(text));
  const bool sent = send_message(socket_.get(), bytes, state_.descriptors);
  state_.descriptors.clear();
  return sent;
}

bool AdminConnection::flush() {
  while (!unsent_.empty()) {
    const ssize_t sent = send(socket_.get(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    unsent_.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace urnic::control
