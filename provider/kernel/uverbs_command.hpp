// A command of the kernel's uverbs ABI (rdma/ib_user_verbs.h) on a device node, from wherever it came:
// write(2) or ioctl(2). The device process does it; the stand-in passes it on, with what of the process
// belongs to it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "provider/kernel/program_memory.hpp"

namespace urnic::kernel {

// Memory of the program. It may not be there.
struct ProgramPart {
  const void* place = nullptr;
  size_t length = 0;
};

struct UverbsCommand {
  uint32_t number;   // with IB_USER_VERBS_CMD_FLAG_EXTENDED; or abi::uverbs_method
  bool is_apart;     // abi::uverbs_parts_apart. If not, the driver's parts are empty
  ProgramPart core;  // what the program has sent
  ProgramPart driver;
  ProgramPart core_answer;  // where the answer goes
  ProgramPart driver_answer;
  // Not null: `core_answer` is the stand-in's own memory, and the answer's length goes here.
  size_t* answer_length = nullptr;
};

// 0, or the errno that the kernel would answer; EFAULT: a part is not there; EIO: the device process is gone.
int run_uverbs_command(int device, const ProgramMemory& memory, const UverbsCommand& command);

}  // namespace urnic::kernel
