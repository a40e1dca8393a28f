#include "device_model/control/loop/listening_socket.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/peer.hpp"
#include "trust/peer.hpp"

namespace urnic::control {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* what) {
  throw std::system_error(errno, std::generic_category(), path.string() + ": " + what);
}

memory::Descriptor make_socket(const std::filesystem::path& path, int type) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail(path, "bind");
  }
  std::memcpy(address.sun_path, path.c_str(), path.native().size());

  memory::Descriptor socket(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) fail(path, "socket");
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(path, "bind");
  if (chmod(path.c_str(), 0600) != 0) fail(path, "chmod");
  if (listen(socket.get(), 1024) != 0) fail(path, "listen");
  return socket;
}

memory::Descriptor open_reserve() { return memory::Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

ListeningSocket::ListeningSocket(EventLoop& loop, DescriptorDisposal& disposal,
                                 const std::filesystem::path& path, int type,
                                 std::function<void(memory::Descriptor)> accepted)
    : disposal_(disposal),
      socket_(make_socket(path, type)),
      reserve_(open_reserve()),
      accepted_(std::move(accepted)),
      watch_(loop, socket_.get(), EPOLLIN, [this](std::uint32_t) { accept_one(); }) {}

// Closes connections that were not accepted yet, with the messages in them.
ListeningSocket::~ListeningSocket() {
  watch_.reset();
  shutdown(socket_.get(), SHUT_RDWR);
  disposal_.close(std::move(socket_), 0);
}

void ListeningSocket::turn_away(memory::Descriptor connection) {
  const pid_t sender = peer_number(connection.get());
  shutdown(connection.get(), SHUT_RDWR);
  disposal_.close(std::move(connection), sender);
}

void ListeningSocket::accept_one() {
  memory::Descriptor connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection && (errno == EMFILE || errno == ENFILE)) {
    log::error("no descriptors left: a program is rejected; raise the limit (ulimit -n)");
    reserve_.reset();
    connection = memory::Descriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    turn_away(std::move(connection));
    reserve_ = open_reserve();
    return;
  }
  if (!connection) return;
  if (!trust::peer_is_own_user(connection.get())) {
    log::warn("a program of another user is rejected");
    return turn_away(std::move(connection));
  }
  if (disposal_.refuses(peer_number(connection.get()))) {
    log::warn("pid {} is rejected: it has sent descriptors that block when they are closed",
              peer_number(connection.get()));
    return turn_away(std::move(connection));
  }
  try {
    accepted_(std::move(connection));
  } catch (const std::exception& error) {
    log::error("a program is rejected: {}", error.what());
  }
}

}  // namespace urnic::control
