// socket, and calls on sockets of NETLINK_RDMA: bind, connect, getsockname, getpeername, setsockopt,
// recvfrom, recvmsg, recvmmsg. connect, too: ibacm, which knows the machine's own devices, does not answer,
// so that librdmacm asks rdma_cm for routes.
#include <errno.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include <cstdint>
#include <cstring>
#include <span>

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

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

std::int64_t nanoseconds_now() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return nanoseconds(now);
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

// As the kernel does it: the time is looked at after each message.
int receive_several_netlink(int descriptor, std::span<mmsghdr> messages, int flags, const timespec* timeout) {
  const auto time_is_over = [until = timeout == nullptr ? 0 : nanoseconds_now() + nanoseconds(*timeout)] {
    return until != 0 && nanoseconds_now() >= until;
  };
  int done = 0;
  for (mmsghdr& message : messages) {
    const ssize_t received = receive_netlink(descriptor, message.msg_hdr, flags & ~MSG_WAITFORONE);
    if (received < 0) return done > 0 ? done : -1;
    message.msg_len = static_cast<unsigned>(received);
    ++done;
    if ((flags & MSG_WAITFORONE) != 0) flags |= MSG_DONTWAIT;
    if (received == 0 || time_is_over()) break;
  }
  return done;
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
  if (__builtin_expect(result != 0, 0)) {
    const bool refused = errno == EINVAL && has_family(address, length, AF_NETLINK);
    return refused && is_netlink_socket(descriptor) ? connect_netlink(address, length) : result;
  }
  if (!is_ibacm(address, length) || !stand_in_active()) return result;
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

int entry_getpeername(int descriptor, sockaddr* address, socklen_t* length) URNIC_ENTRY_POINT("getpeername");
int entry_getpeername(int descriptor, sockaddr* address, socklen_t* length) {
  const socklen_t room = length == nullptr ? 0 : *length;
  const int result = real::getpeername(descriptor, address, length);
  if (result == 0 && told_address_of_netlink(descriptor, address, room))
    *length = show_kernel_address(address, room);
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

int entry_recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* timeout)
    URNIC_ENTRY_POINT("recvmmsg");
int entry_recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  const bool asks_for_sender = messages != nullptr && count != 0 && messages->msg_hdr.msg_name != nullptr &&
                               messages->msg_hdr.msg_namelen == sizeof(sockaddr_nl);
  if (__builtin_expect(asks_for_sender, 0) && is_netlink_socket(descriptor))
    return receive_several_netlink(descriptor, std::span(messages, count), flags, timeout);
  return real::recvmmsg(descriptor, messages, count, flags, timeout);
}

}  // extern "C"

}  // namespace urnic::kernel
