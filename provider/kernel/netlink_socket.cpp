#include "provider/kernel/netlink_socket.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>

#include <cstdint>
#include <cstring>

#include "device_model/abi/run_directory_layout.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/run_directory_lookup.hpp"
#include "provider/kernel/shown_devices.hpp"
#include "provider/kernel/socket_identity.hpp"

namespace urnic::kernel {

namespace {

void append_socket_path(PathText& path) {
  path.append(run_directory()).append("/").append(abi::kNetlinkSocket);
}

int open_flags(int type) {
  return ((type & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0) | ((type & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0);
}

// A netlink address names a port. Each socket needs one of its own; no other socket of this machine has the
// same cookie. Ports of the kernel's choice that are not a process's number are negative, so this one is.
std::uint32_t port_of(int descriptor) {
  return static_cast<std::uint32_t>(socket_cookie(descriptor)) | 0x80000000U;
}

socklen_t show_address(std::uint32_t port, void* address, socklen_t room) {
  sockaddr_nl shown = {};
  shown.nl_family = AF_NETLINK;
  shown.nl_pid = port;
  std::memcpy(address, &shown, room < sizeof shown ? room : sizeof shown);
  return sizeof shown;
}

// Returns false, with EINVAL, if `address` is no netlink address.
bool take_address(const sockaddr* address, socklen_t length, sockaddr_nl& taken) {
  if (address == nullptr || length < sizeof taken || address->sa_family != AF_NETLINK) {
    errno = EINVAL;
    return false;
  }
  std::memcpy(&taken, address, sizeof taken);
  return true;
}

}  // namespace

int open_netlink_socket(int type) {
  const int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (kind != SOCK_RAW && kind != SOCK_DGRAM) {
    errno = ESOCKTNOSUPPORT;
    return -1;
  }
  if (some_devices_are_hidden()) {  // libibverbs looks into sysfs then; the device process would list all
                                    // devices
    errno = EPROTONOSUPPORT;
    return -1;
  }
  PathText path;
  append_socket_path(path);
  const int descriptor = connect_to_node(path, open_flags(type));
  if (descriptor < 0) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM) errno = EPROTONOSUPPORT;
    return -1;
  }
  return descriptor;
}

bool is_netlink_socket(int descriptor) {
  if (!stand_in_active()) return false;
  PathText path;
  append_socket_path(path);
  return is_connected_to(descriptor, path);
}

// The port is not kept: show_own_address tells the program another one, and libnl and libmnl go by that.
int bind_netlink(const sockaddr* address, socklen_t length) {
  sockaddr_nl wanted = {};
  if (!take_address(address, length, wanted)) return -1;
  if (wanted.nl_groups == 0) return 0;
  errno = EPERM;  // what a program without CAP_NET_ADMIN is told that wants a group's messages
  return -1;
}

// Every such socket is connected to the kernel, port 0. Ports of programs and groups need CAP_NET_ADMIN.
int connect_netlink(const sockaddr* address, socklen_t length) {
  sockaddr_nl wanted = {};
  if (!take_address(address, length, wanted)) return -1;
  if (wanted.nl_groups == 0 && wanted.nl_pid == 0) return 0;
  errno = EPERM;
  return -1;
}

// Errors are always answered without the request's bytes (NETLINK_CAP_ACK) and without further attributes
// (NETLINK_EXT_ACK), requests always checked strictly.
int set_netlink_option(int option) {
  switch (option) {
    case NETLINK_CAP_ACK:
    case NETLINK_EXT_ACK:
    case NETLINK_GET_STRICT_CHK:
    case NETLINK_NO_ENOBUFS:
    case NETLINK_BROADCAST_ERROR:
      return 0;
    case NETLINK_ADD_MEMBERSHIP:
      errno = EINVAL;  // there are no groups
      return -1;
    default:
      errno = ENOPROTOOPT;
      return -1;
  }
}

socklen_t show_own_address(int descriptor, sockaddr* address, socklen_t room) {
  return show_address(port_of(descriptor), address, room);
}

socklen_t show_kernel_address(void* address, socklen_t room) { return show_address(0, address, room); }

}  // namespace urnic::kernel
