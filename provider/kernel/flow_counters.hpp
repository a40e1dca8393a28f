// CREATE_FLOW with counters: the driver's part names a list in the program's memory, as no other command
// does.
#pragma once

#include <stddef.h>

#include "provider/kernel/program_memory.hpp"
#include "provider/kernel/uverbs_command.hpp"

namespace urnic::kernel {

// The driver's part with the list behind it, as it goes to the device process.
struct FlowCounters {
  static constexpr size_t kMost = 32;  // entries; a program counts packets and bytes
  static constexpr size_t kEntryBytes = 8;
  static constexpr size_t kHeadBytes = 24;  // mlx5_ib_create_flow with one mlx5_ib_flow_counters_data

  unsigned char bytes[kHeadBytes + kMost * kEntryBytes];
};

// 0; EFAULT: the list is not there; EINVAL: it is too long. Lets `command` have `counters` as its driver's
// part if it names a list.
int collect_flow_counters(const ProgramMemory& memory, UverbsCommand& command, FlowCounters& counters);

}  // namespace urnic::kernel
