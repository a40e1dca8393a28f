// write on an open rdma_cm node: the commands of <rdma/rdma_user_cm.h>.
#pragma once

#include <sys/types.h>

namespace urnic::kernel {

// True if `descriptor` is an open rdma_cm node, also if it was inherited or duplicated. Keeps errno. The
// first call remembers the process's user as the opener: open calls it.
bool is_rdma_cm(int descriptor);

// As the kernel's ucma_write: the whole `size`, or -1 and errno; EACCES if the process is not the opener's
// user any more. GET_EVENT blocks while there is no event, unless the descriptor has O_NONBLOCK.
ssize_t write_to_rdma_cm(int descriptor, const void* data, size_t size);

}  // namespace urnic::kernel
