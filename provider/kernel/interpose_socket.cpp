// socket: RDMA netlink fails as in a kernel without RDMA, so that libibverbs looks for devices in sysfs.
#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

extern "C" {

int entry_socket(int domain, int type, int protocol) URNIC_ENTRY_POINT("socket");
int entry_socket(int domain, int type, int protocol) {
  if (domain == AF_NETLINK && protocol == NETLINK_RDMA && stand_in_active()) {
    errno = EPROTONOSUPPORT;
    return -1;
  }
  return real::socket(domain, type, protocol);
}

}  // extern "C"

}  // namespace urnic::kernel
