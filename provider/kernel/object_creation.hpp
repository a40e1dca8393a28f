// CQ_CREATE and QP_CREATE of ioctl, by which alone libibverbs makes such objects in an imported context. They
// become the commands of write(2), which the device process knows. In contexts that a program has opened
// itself, libibverbs takes those commands, once it has heard that there is no such method.
#pragma once

#include "provider/kernel/ioctl_method.hpp"
#include "provider/kernel/program_memory.hpp"

namespace urnic::kernel {

bool is_creation(const ib_uverbs_ioctl_hdr& header);

// 0 or an errno; EPROTONOSUPPORT: not in an imported context.
int create_object(int device, const ProgramMemory& memory, IoctlMethod& method);

}  // namespace urnic::kernel
