// write on an open uverbs node: serves the one uverbs command that no provider can take over, the creation of
// a completion channel. Control messages, which the provider sends on the same descriptor, pass.
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace urnic::kernel {

// As the kernel's ib_uverbs_write: the whole `size`, or -1 and errno.
ssize_t write_to_uverbs(int device, const void* data, size_t size);

}  // namespace urnic::kernel
