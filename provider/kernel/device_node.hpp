// Device nodes: sockets in the run directory that programs see as character devices.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "provider/kernel/bounded_text.hpp"

namespace urnic::kernel {

// What programs see of a node's mode: what udev's rules for rdma give every uverbs and rdma_cm node.
inline constexpr mode_t kNodeMode = S_IFCHR | 0666;

// True if the socket that `path` leads to, at (device, inode), is a device node; `number` becomes the
// character device's number. Keeps errno.
bool identify_socket(const char* path, dev_t device, ino_t inode, dev_t& number);

// True if `descriptor` is an open device node, however the program came by it; `number` becomes the character
// device's number. Enters it into the descriptor table. Keeps errno.
bool identify_descriptor(int descriptor, dev_t& number);

// Finishes an open() that failed with ENXIO, which is how the kernel answers for a socket: if `path`
// (relative to `directory` as in openat) is a device node, connects to the device process. Returns the
// descriptor, or -1 and errno: ENXIO if nobody listens, as for a node without a device, or if the path is no
// node.
int open_device_node(int directory, const char* path, int flags);

// Connects to the device process behind the socket `node`, with the open() flags O_CLOEXEC and O_NONBLOCK.
// Returns the descriptor, or -1 and errno: EACCES if that process is another user's.
int connect_to_node(const PathText& node, int flags);

}  // namespace urnic::kernel
