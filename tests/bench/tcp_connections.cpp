#include "tests/bench/tcp_connections.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "tests/apps/programs/require.hpp"

namespace urnic::bench {
namespace {

using apps::require;
using Clock = std::chrono::steady_clock;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {
    require(descriptor >= 0, "a TCP socket: {}", std::strerror(errno));
  }
  ~Socket() { close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

void connect_once(const sockaddr_in& server) {
  const Socket socket(::socket(AF_INET, SOCK_STREAM, 0));
  const bool connected =
      connect(socket.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0;
  require(connected, "TCP connect: {}", std::strerror(errno));
  char byte = 0;
  require(recv(socket.get(), &byte, 1, 0) == 1, "no byte from the TCP server");
}

}  // namespace

void serve_tcp(const TellPort& tell) {
  const Socket listener(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const bool listens = bind(listener.get(), name, length) == 0 && listen(listener.get(), 128) == 0 &&
                       getsockname(listener.get(), name, &length) == 0;
  require(listens, "a TCP listener: {}", std::strerror(errno));
  tell(ntohs(address.sin_port));
  for (;;) {
    const Socket accepted(accept(listener.get(), nullptr, nullptr));
    const char byte = 0;
    send(accepted.get(), &byte, 1, MSG_NOSIGNAL);
  }
}

TcpTimes measure_tcp(std::uint16_t port, std::size_t count) {
  const sockaddr_in server = loopback(port);
  std::vector<double> times;
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    const auto started = Clock::now();
    connect_once(server);
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - started).count());
  }
  const std::chrono::duration<double> passed = Clock::now() - begin;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(times.begin(), middle, times.end());
  return {static_cast<double>(count) / passed.count(), *middle};
}

}  // namespace urnic::bench
