#include "script/agent/token_gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "script/failed_call.hpp"
#include "trust/access_token.hpp"

namespace urnic::script {
namespace {

sockaddr_in parsed_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool right = error == std::errc{} && end == port.data() + port.size() && number != 0;
  if (!right || inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error("--listen " + text +
                             ": give a port, or IPV4:PORT for another address than 127.0.0.1");
  address.sin_port = htons(number);
  return address;
}

}  // namespace

TokenGate::TokenGate(const std::string& address, std::string token)
    : line_("token " + std::move(token)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  const sockaddr_in place = parsed_address(address);
  const int yes = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) fail("bind");
  if (listen(listener_.get(), static_cast<int>(kMostWaiting)) != 0) fail("listen");
}

memory::Descriptor TokenGate::next() {
  for (;;) {
    wait();
    accept_one();
    const auto shown =
        std::find_if(waiting_.begin(), waiting_.end(), [&](Waiting& each) { return look_at(each); });
    memory::Descriptor let_in;
    if (shown != waiting_.end()) {
      let_in = std::move(shown->connection);
      waiting_.erase(shown);
    }
    waiting_.erase(
        std::remove_if(waiting_.begin(), waiting_.end(), [](const Waiting& each) { return each.ended; }),
        waiting_.end());
    if (let_in) return let_in;
  }
}

void TokenGate::wait() const {
  std::vector<pollfd> all{{listener_.get(), POLLIN, 0}};
  for (const Waiting& each : waiting_) all.push_back({each.connection.get(), POLLIN, 0});
  poll(all.data(), all.size(), waiting_.empty() ? -1 : 100);
}

void TokenGate::accept_one() {
  memory::Descriptor connection(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) return;
  const int yes = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (waiting_.size() >= kMostWaiting) waiting_.erase(waiting_.begin());
  waiting_.push_back({.connection = std::move(connection), .until = Clock::now() + kPatience});
}

bool TokenGate::look_at(Waiting& waiting) const {
  std::array<char, kLongestLine> bytes;
  const ssize_t size = recv(waiting.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size > 0) waiting.received.append(bytes.data(), static_cast<std::size_t>(size));
  const std::size_t end = waiting.received.find('\n');
  if (end != std::string::npos && trust::same_token(waiting.received.substr(0, end), line_)) return true;
  waiting.ended = size == 0 || end != std::string::npos || waiting.received.size() > kLongestLine ||
                  Clock::now() >= waiting.until;
  return false;
}

}  // namespace urnic::script
