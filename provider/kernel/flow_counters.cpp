#include "provider/kernel/flow_counters.hpp"

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cstring>

namespace urnic::kernel {

static_assert(sizeof(mlx5_ib_create_flow) + sizeof(mlx5_ib_flow_counters_data) == FlowCounters::kHeadBytes);
static_assert(sizeof(mlx5_ib_flow_counters_desc) == FlowCounters::kEntryBytes);

int collect_flow_counters(const ProgramMemory& memory, UverbsCommand& command, FlowCounters& counters) {
  constexpr uint32_t kCreateFlow = IB_USER_VERBS_EX_CMD_CREATE_FLOW | IB_USER_VERBS_CMD_FLAG_EXTENDED;
  if (command.number != kCreateFlow || command.driver.length < FlowCounters::kHeadBytes) return 0;
  if (command.driver.length > FlowCounters::kHeadBytes) return EINVAL;
  if (memory.read(counters.bytes, command.driver.place, FlowCounters::kHeadBytes) < FlowCounters::kHeadBytes)
    return EFAULT;
  mlx5_ib_flow_counters_data data;
  std::memcpy(&data, counters.bytes + sizeof(mlx5_ib_create_flow), sizeof data);
  if (data.ncounters > FlowCounters::kMost) return EINVAL;
  const size_t length = data.ncounters * FlowCounters::kEntryBytes;
  if (memory.read(counters.bytes + FlowCounters::kHeadBytes,
                  reinterpret_cast<const void*>(data.counters_data), length) < length)
    return EFAULT;
  command.driver = {counters.bytes, FlowCounters::kHeadBytes + length};
  return 0;
}

}  // namespace urnic::kernel
