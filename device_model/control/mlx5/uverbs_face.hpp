// The messages by which the kernel stand-in passes on what a program does to the device node by the kernel's
// own ABI (device_model/abi/uverbs_messages.hpp).
#pragma once

#include "device_model/control/uverbs/kernel_commands.hpp"

namespace urnic::control::mlx5 {

// What a session answers these messages with (Session::kernel_commands).
const KernelCommands& kernel_commands();

}  // namespace urnic::control::mlx5
