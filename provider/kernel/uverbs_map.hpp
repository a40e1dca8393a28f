// mmap on an open device node: libmlx5's doorbell pages, and other memory of the device.
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace urnic::kernel {

// As mmap(2): the address, or MAP_FAILED and errno; EINVAL: nothing is at that offset; ENODEV: the node has
// no memory, as the kernel says of such files.
void* map_uverbs(int device, void* address, size_t length, int protection, int flags, off_t offset);

}  // namespace urnic::kernel
