// Passes a method of ioctl on to the device process as it is, attribute by attribute, and takes its answer.
#pragma once

#include "provider/kernel/ioctl_method.hpp"
#include "provider/kernel/method_attributes.hpp"
#include "provider/kernel/program_memory.hpp"

namespace urnic::kernel {

// 0 or an errno: the device's; EFAULT: a part is not there; EINVAL: more data than a message holds;
// EPROTONOSUPPORT: an attribute that is not known must be heeded.
int pass_method(int device, const ProgramMemory& memory, IoctlMethod& method, const MethodRow& row);

}  // namespace urnic::kernel
