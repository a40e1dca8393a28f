// Sockets of NETLINK_RDMA: connections to the device process, which programs see as netlink sockets.
//
// The device process writes and reads netlink messages, some in a datagram, so sending, receiving and waiting
// are the kernel's own. Only addresses and netlink options need the functions below. Such a socket is known
// by its peer's path, whatever number or process it has come to (dup, fork, exec, SCM_RIGHTS).
#pragma once

#include <sys/socket.h>

namespace urnic::kernel {

// What socket(AF_NETLINK, type, NETLINK_RDMA) does. Returns the descriptor, which the caller owns, or -1 and
// errno: EPROTONOSUPPORT if no device process serves netlink, as in a kernel without RDMA; ESOCKTNOSUPPORT.
int open_netlink_socket(int type);

// True if `descriptor` is such a socket. Costs system calls: ask only for a Unix socket. Keeps errno.
bool is_netlink_socket(int descriptor);

// The calls of these names on a netlink socket. `room`: the bytes of the program's buffer.
int bind_netlink(const sockaddr* address, socklen_t length);
int connect_netlink(const sockaddr* address, socklen_t length);
int set_netlink_option(int option);
// The socket's own address, and the kernel's, which sends all messages. Both return the address's length.
socklen_t show_own_address(int descriptor, sockaddr* address, socklen_t room);
socklen_t show_kernel_address(void* address, socklen_t room);

}  // namespace urnic::kernel
