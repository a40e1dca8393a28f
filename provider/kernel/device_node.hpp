// Device nodes: sockets in the run directory that programs see as character devices.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "provider/kernel/bounded_text.hpp"

namespace urnic::kernel {

// A node's mode as programs see it. udev's rules for rdma give this mode to every uverbs and rdma_cm node.
inline constexpr mode_t kNodeMode = S_IFCHR | 0666;

// True if the socket file (device, inode), to which `path` leads, is a device node; `number` becomes the
// character device's number. Keeps errno.
bool identify_socket(const char* path, dev_t device, ino_t inode, dev_t& number);

// True if `descriptor` is an open device node, also if it was inherited or duplicated; `number` becomes the
// character device's number. Enters the descriptor into the descriptor table. Keeps errno.
bool identify_descriptor(int descriptor, dev_t& number);

// True if `descriptor` is open on the node `name`, also if it was inherited or duplicated. Keeps errno.
bool is_open_node(int descriptor, const char* name);

// Whether `descriptor` is an open umadN. Keeps errno.
bool is_open_umad(int descriptor);

// True if `descriptor` is a connection to the socket file `socket` in the run directory. Keeps errno.
bool is_connected_to(int descriptor, const PathText& socket);

// Finishes an open() that failed with ENXIO, the kernel's answer for a socket. If `path` (relative to
// `directory` as in openat) is a device node, connects to the device process. Returns the descriptor, which
// the caller owns, or -1 and errno: ENXIO if `path` is no device node, else as connect_to_node.
int open_device_node(int directory, const char* path, int flags);

// Connects to the device process that listens on the socket `node`. Of the open() `flags`, O_CLOEXEC and
// O_NONBLOCK count. Returns the descriptor, which the caller owns, or -1 and errno: ENXIO if no process
// listens, EACCES if the device process is another user's, ENAMETOOLONG.
int connect_to_node(const PathText& node, int flags);

}  // namespace urnic::kernel
