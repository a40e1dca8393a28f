// write on an open uverbs node: commands of the kernel's uverbs ABI. Of urnic's own provider only one comes
// in this way, the creation of a completion channel; its control messages pass.
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace urnic::kernel {

// As the kernel's ib_uverbs_write: the whole `size`, or -1 and errno.
ssize_t write_to_uverbs(int device, const void* data, size_t size);

}  // namespace urnic::kernel
