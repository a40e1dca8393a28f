// ioctl on a device node by programs whose libibverbs takes the device for one of mlx5_ib's: commands of
// write(2) that come by ioctl (UVERBS_METHOD_INVOKE_WRITE), advice about memory, and the methods of
// method_attributes.hpp. Others are not there, and libibverbs has commands instead of most of them.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

#include "provider/kernel/program_memory.hpp"

namespace urnic::kernel {

// Whether the caller takes the device for one of mlx5_ib's. Each request says so.
bool is_for_mlx5(const ProgramMemory& memory, const void* argument);

// 0, or -1 and errno; EPROTONOSUPPORT: there is no such method.
int run_uverbs_method(int device, const ProgramMemory& memory, void* argument);

}  // namespace urnic::kernel
