#include "device_model/link/frames/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace urnic::link {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::system_error(errno, std::generic_category(), path + ": " + what);
}

mode_t mode_of(const ListenerAccess& access) {
  if (access.everybody || !access.users.empty()) return 0666;
  return access.group ? 0660 : 0600;
}

bool try_bind(int socket, const sockaddr_un& address) {
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail(path, "socket of frames");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

memory::Descriptor make_unix_socket(const std::string& path, int type) {
  memory::Descriptor made(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) fail(path, "socket");
  return made;
}

bool connect_unix_socket(int socket, const sockaddr_un& address) {
  return connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void bind_unix_socket(int socket, const std::string& path, int type, const ListenerAccess& access) {
  const sockaddr_un address = unix_address(path);
  fchmod(socket, 0600);  // the file is made with this mode
  if (!try_bind(socket, address)) {
    if (errno != EADDRINUSE) fail(path, "bind");
    const bool is_served =
        connect_unix_socket(make_unix_socket(path, type).get(), address) || errno != ECONNREFUSED;
    if (!is_served) unlink(path.c_str());
    if (is_served || !try_bind(socket, address)) {
      errno = EADDRINUSE;
      fail(path, "bind");
    }
  }
  if (access.group && chown(path.c_str(), static_cast<uid_t>(-1), *access.group) != 0)
    fail(path, "cannot be given to the group (is this user a member of it?)");
  if (chmod(path.c_str(), mode_of(access)) != 0) fail(path, "chmod");
}

// With a group, the file's mode has decided.
bool is_admitted(int socket, const ListenerAccess& access) {
  if (access.everybody || access.users.empty()) return true;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == 0 || peer.uid == geteuid()) return true;
  if (access.group && peer.gid == *access.group) return true;
  return std::find(access.users.begin(), access.users.end(), peer.uid) != access.users.end();
}

}  // namespace urnic::link
