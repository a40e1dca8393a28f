// write on an open rdma_cm node: the commands of <rdma/rdma_user_cm.h>.
#pragma once

#include <sys/types.h>

#include "provider/kernel/rdma_cm_channel.hpp"

namespace urnic::kernel {

// As the kernel's ucma_write: the whole `size`, or -1 and errno; EACCES if the process is not the opener's
// user any more. GET_EVENT blocks while there is no event, unless the descriptor has O_NONBLOCK.
ssize_t write_to_rdma_cm(int descriptor, const RdmaCmChannel& channel, const void* data, size_t size);

}  // namespace urnic::kernel
