// socket, and calls on sockets of NETLINK_RDMA: bind, getsockname, setsockopt, recvfrom, recvmsg.
// connect: ibacm, which knows the machine's own devices, does not answer, so that librdmacm asks rdma_cm for
// routes.
#include <errno.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/netlink_socket.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

namespace {

constexpr char kIbacm[] = "/run/ibacm.sock";

bool is_ibacm(const sockaddr* address, socklen_t length) {
  constexpr socklen_t kPath = offsetof(sockaddr_un, sun_path);
  return address->sa_family == AF_UNIX && length >= kPath + sizeof kIbacm - 1 &&
         std::memcmp(reinterpret_cast<const sockaddr_un*>(address)->sun_path, kIbacm, sizeof kIbacm - 1) == 0;
}

bool has_family(const sockaddr* address, socklen_t length, sa_family_t family) {
  return address != nullptr && length >= sizeof family && address->sa_family == family;
}

// Whether a call that has told `address` was one on a netlink socket, whose addresses are a Unix socket's
// until then. Calls on sockets of other families cost one comparison more.
bool told_address_of_netlink(int descriptor, const sockaddr* address, socklen_t length) {
  return __builtin_expect(has_family(address, length, AF_UNIX), 0) && is_netlink_socket(descriptor);
}

// Does not ask for the sender's address: a sanitizer's recvmsg takes the length of a longer one, a Unix
// socket's, for the bytes written.
ssize_t receive_netlink(int descriptor, msghdr& message, int flags) {
  msghdr without_name = message;
  without_name.msg_name = nullptr;
  without_name.msg_namelen = 0;
  const ssize_t received = real::recvmsg(descriptor, &without_name, flags);
  if (received < 0) return received;
  message.msg_namelen = received == 0 ? 0 : show_kernel_address(message.msg_name, message.msg_namelen);
  message.msg_controllen = without_name.msg_controllen;
  message.msg_flags = without_name.msg_flags;
  return received;
}

}  // namespace

extern "C" {

int entry_socket(int domain, int type, int protocol) URNIC_ENTRY_POINT("socket");
int entry_socket(int domain, int type, int protocol) {
  if (domain == AF_NETLINK && protocol == NETLINK_RDMA && stand_in_active()) return open_netlink_socket(type);
  return real::socket(domain, type, protocol);
}

int entry_connect(int descriptor, const sockaddr* address, socklen_t length) URNIC_ENTRY_POINT("connect");
int entry_connect(int descriptor, const sockaddr* address, socklen_t length) {
  const int result = real::connect(descriptor, address, length);
  // Looked at afterwards: the kernel has read the address then, so it can be read.
  if (__builtin_expect(result != 0, 0) || !is_ibacm(address, length) || !stand_in_active()) return result;
  shutdown(descriptor, SHUT_RDWR);
  errno = ECONNREFUSED;
  return -1;
}

int entry_bind(int descriptor, const sockaddr* address, socklen_t length) URNIC_ENTRY_POINT("bind");
int entry_bind(int descriptor, const sockaddr* address, socklen_t length) {
  const int result = real::bind(descriptor, address, length);
  // Looked at afterwards, as in connect. A Unix socket refuses a netlink address.
  if (__builtin_expect(result != 0, 0) && errno == EINVAL && has_family(address, length, AF_NETLINK) &&
      is_netlink_socket(descriptor))
    return bind_netlink(address, length);
  return result;
}

int entry_getsockname(int descriptor, sockaddr* address, socklen_t* length) URNIC_ENTRY_POINT("getsockname");
int entry_getsockname(int descriptor, sockaddr* address, socklen_t* length) {
  const socklen_t room = length == nullptr ? 0 : *length;
  const int result = real::getsockname(descriptor, address, length);
  if (result == 0 && told_address_of_netlink(descriptor, address, room))
    *length = show_own_address(descriptor, address, room);
  return result;
}

int entry_setsockopt(int descriptor, int level, int option, const void* value, socklen_t length)
    URNIC_ENTRY_POINT("setsockopt");
int entry_setsockopt(int descriptor, int level, int option, const void* value, socklen_t length) {
  if (level == SOL_NETLINK && is_netlink_socket(descriptor)) return set_netlink_option(option);
  return real::setsockopt(descriptor, level, option, value, length);
}

ssize_t entry_recvfrom(int descriptor, void* data, size_t size, int flags, sockaddr* sender,
                       socklen_t* length) URNIC_ENTRY_POINT("recvfrom");
ssize_t entry_recvfrom(int descriptor, void* data, size_t size, int flags, sockaddr* sender,
                       socklen_t* length) {
  const socklen_t room = sender == nullptr || length == nullptr ? 0 : *length;
  const ssize_t received = real::recvfrom(descriptor, data, size, flags, sender, length);
  if (received >= 0 && room != 0 &&
      told_address_of_netlink(descriptor, sender, *length < room ? *length : room))
    *length = show_kernel_address(sender, room);
  return received;
}

ssize_t entry_recvmsg(int descriptor, msghdr* message, int flags) URNIC_ENTRY_POINT("recvmsg");
ssize_t entry_recvmsg(int descriptor, msghdr* message, int flags) {
  const socklen_t room = message == nullptr || message->msg_name == nullptr ? 0 : message->msg_namelen;
  // Programs that expect a netlink address have room for one.
  if (__builtin_expect(room == sizeof(sockaddr_nl), 0) && is_netlink_socket(descriptor))
    return receive_netlink(descriptor, *message, flags);
  const ssize_t received = real::recvmsg(descriptor, message, flags);
  if (received < 0 || room == 0) return received;
  const auto* const sender = static_cast<const sockaddr*>(message->msg_name);
  if (told_address_of_netlink(descriptor, sender, message->msg_namelen < room ? message->msg_namelen : room))
    message->msg_namelen = show_kernel_address(message->msg_name, room);
  return received;
}

}  // extern "C"

}  // namespace urnic::kernel
