// socket: RDMA netlink fails as in a kernel without RDMA, so that libibverbs looks for devices in sysfs.
// connect: ibacm, which knows the machine's own devices, does not answer, so that librdmacm asks rdma_cm for
// routes.
#include <errno.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "provider/kernel/entry_point.hpp"
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

}  // namespace

extern "C" {

int entry_socket(int domain, int type, int protocol) URNIC_ENTRY_POINT("socket");
int entry_socket(int domain, int type, int protocol) {
  if (domain == AF_NETLINK && protocol == NETLINK_RDMA && stand_in_active()) {
    errno = EPROTONOSUPPORT;
    return -1;
  }
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

}  // extern "C"

}  // namespace urnic::kernel
