#include "provider/kernel/device_node.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "provider/kept_errno.hpp"
#include "provider/kernel/descriptor_table.hpp"
#include "provider/kernel/device_number.hpp"
#include "provider/kernel/exec_notice.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"
#include "provider/kernel/umad_node.hpp"
#include "trust/peer.hpp"

namespace urnic::kernel {

namespace {

const char* last_component(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool same_file(const char* path, dev_t device, ino_t inode) {
  struct stat status;
  return real::stat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

bool ends_with(const char* text, const char* end) {
  const std::size_t length = std::strlen(text);
  const std::size_t end_length = std::strlen(end);
  return length >= end_length && std::strcmp(text + length - end_length, end) == 0;
}

// True if `bound`, the path that a device process bound a socket to, is the path of `socket` here. The same
// text is enough: the socket's file is gone once the device process has ended. A different text (a symbolic
// link on the way) must lead to the same file. If `bound` does not exist here, the run directory is mounted
// at another place (as in a container); then "/dev/NAME" at the end of the path decides.
bool is_path_of(const char* bound, const PathText& socket) {
  if (std::strcmp(socket.text(), bound) == 0) return true;
  if (std::strcmp(last_component(socket.text()), last_component(bound)) != 0) return false;
  struct stat status;
  if (real::stat(bound, &status) == 0) return same_file(socket.text(), status.st_dev, status.st_ino);
  const char* const below = socket.text() + std::strlen(run_directory());
  return ends_with(bound, below) && real::stat(socket.text(), &status) == 0 && S_ISSOCK(status.st_mode);
}

bool is_node_path(const char* bound) {
  const char* name = last_component(bound);
  if (!is_node_name(name)) return false;
  PathText node;
  append_node_path(name, node);
  return is_path_of(bound, node);
}

struct PeerPath {
  sockaddr_un address = {};
  char terminator = '\0';  // ends a path that fills sun_path
};

// False: the descriptor is no connected Unix socket, or its peer has no path.
bool read_peer_path(int descriptor, PeerPath& peer) {
  socklen_t length = sizeof peer.address;
  if (real::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer.address), &length) != 0) return false;
  return peer.address.sun_family == AF_UNIX && length > offsetof(sockaddr_un, sun_path);
}

void tell_of_other_user(const PathText& node) {
  BoundedText<kPathCapacity + 100> line;
  line.append("urnic: ").append(node.text()).append(" is served by a process of another user: not opened\n");
  [[maybe_unused]] const ssize_t written = real::write(STDERR_FILENO, line.text(), line.length());
}

}  // namespace

int connect_to_node(const PathText& node, int flags) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (!node.fits() || node.length() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  std::memcpy(address.sun_path, node.text(), node.length() + 1);
  const int type = SOCK_SEQPACKET | ((flags & O_CLOEXEC) != 0 ? SOCK_CLOEXEC : 0);
  const int descriptor = real::socket(AF_UNIX, type, 0);
  if (descriptor < 0) return -1;
  int result = 0;
  do {
    result = real::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (result != 0 && errno == EINTR);
  // A program that opens a device sends the device process a descriptor of its memory.
  if (result == 0 && !trust::peer_is_own_user(descriptor)) {
    tell_of_other_user(node);
    errno = EACCES;
    result = -1;
  }
  // After connect: a non-blocking connect would fail while the backlog is full.
  if (result == 0 && (flags & O_NONBLOCK) != 0) result = fcntl(descriptor, F_SETFL, O_NONBLOCK);
  if (result == 0) return descriptor;
  const int error = errno == ECONNREFUSED ? ENXIO : errno;
  close(descriptor);
  errno = error;
  return -1;
}

bool identify_socket(const char* path, dev_t device, ino_t inode, dev_t& number) {
  if (!stand_in_active()) return false;
  const KeptErrno kept;
  const char* name = last_component(path);
  if (!is_node_name(name)) return false;
  PathText node;
  append_node_path(name, node);
  return same_file(node.text(), device, inode) && read_device_number(name, number);
}

bool identify_descriptor(int descriptor, dev_t& number) {
  if (!stand_in_active()) return false;
  const KeptErrno kept;
  PeerPath peer;
  if (!read_peer_path(descriptor, peer) || !is_node_path(peer.address.sun_path)) return false;
  if (!read_device_number(last_component(peer.address.sun_path), number)) return false;
  enter_device(descriptor);
  return true;
}

bool is_open_node(int descriptor, const char* name) {
  if (!stand_in_active()) return false;
  const KeptErrno kept;
  PeerPath peer;
  return read_peer_path(descriptor, peer) && std::strcmp(last_component(peer.address.sun_path), name) == 0 &&
         is_node_path(peer.address.sun_path);
}

bool is_open_umad(int descriptor) {
  if (!stand_in_active()) return false;
  const KeptErrno kept;
  PeerPath peer;
  return read_peer_path(descriptor, peer) &&
         std::strncmp(last_component(peer.address.sun_path), "umad", 4) == 0 &&
         is_node_path(peer.address.sun_path);
}

bool is_connected_to(int descriptor, const PathText& socket) {
  const KeptErrno kept;
  PeerPath peer;
  return read_peer_path(descriptor, peer) && is_path_of(peer.address.sun_path, socket);
}

int open_device_node(int directory, const char* path, int flags) {
  struct stat status;
  dev_t number = 0;
  if (real::fstatat(directory, path, &status, 0) != 0 || !S_ISSOCK(status.st_mode) ||
      !identify_socket(path, status.st_dev, status.st_ino, number)) {
    errno = ENXIO;
    return -1;
  }
  PathText node;
  append_node_path(last_component(path), node);
  const int descriptor = connect_to_node(node, flags);
  if (descriptor < 0) return -1;
  const bool manages = std::strncmp(last_component(path), "issm", 4) == 0;
  if (const int error = manages ? become_subnet_manager(descriptor, flags) : 0; error != 0) {
    close(descriptor);
    errno = error;
    return -1;
  }
  enter_device(descriptor);
  // A program that has opened other nodes only has given the device process no memory.
  if (std::strncmp(last_component(path), "uverbs", 6) == 0) note_opened_device(last_component(path));
  return descriptor;
}

}  // namespace urnic::kernel
