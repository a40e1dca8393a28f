// Device memory (ibv_alloc_dm(3)), and regions on it. libmlx5 maps its pages, and copies to and from them
// itself.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <cerrno>

#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/method_attributes.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

// Where the memory begins in the first page that the program maps.
std::uint64_t offset_in_page(const DeviceMemory& memory) { return memory.block.offset() % kPageBytes; }

}  // namespace

int allocate_dm(Command& command) {
  MethodAttributes attributes(command);
  const auto length = attributes.number<std::uint64_t>(UVERBS_ATTR_ALLOC_DM_LENGTH);
  const auto log_alignment = attributes.number<std::uint32_t>(UVERBS_ATTR_ALLOC_DM_ALIGNMENT);
  const auto type = attributes.number<std::uint64_t>(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE);
  if (attributes.wrong() || !length || !log_alignment) return EINVAL;
  if (type.value_or(MLX5_IB_UAPI_DM_TYPE_MEMIC) != MLX5_IB_UAPI_DM_TYPE_MEMIC) return EOPNOTSUPP;
  Context& context = *command.session.context;
  abi::DmReply made{};
  DescriptorExchange none;  // the program gets its pages by mmap
  if (const int error = control::allocate_dm(command.session, {*length, *log_alignment, 0}, made, none))
    return error;
  const std::uint16_t page = part_of(context)->name_pages_of(made.handle);
  attributes.answer_handle(UVERBS_ATTR_ALLOC_DM_HANDLE, made.handle);
  attributes.answer(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET,
                    offset_in_page(*context.device_memories.find(made.handle)));
  attributes.answer(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, page);
  return 0;
}

int free_dm(Command& command) {
  MethodAttributes attributes(command);
  const auto handle = attributes.number<std::uint32_t>(UVERBS_ATTR_FREE_DM_HANDLE);
  if (attributes.wrong() || !handle) return EINVAL;
  abi::Empty ignored{};
  return control::free_dm(command.session, {*handle, 0}, ignored, command.descriptors);
}

int query_dm(Command& command) {
  MethodAttributes attributes(command);
  const auto handle = attributes.number<std::uint32_t>(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
  if (attributes.wrong() || !handle) return EINVAL;
  Context& context = *command.session.context;
  const DeviceMemory* const memory = context.device_memories.find(*handle);
  if (memory == nullptr) return EINVAL;
  attributes.answer(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, offset_in_page(*memory));
  attributes.answer(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, part_of(context)->name_pages_of(*handle));
  attributes.answer(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, memory->length);
  return 0;
}

int register_dm_mr(Command& command) {
  MethodAttributes attributes(command);
  const auto offset = attributes.number<std::uint64_t>(UVERBS_ATTR_REG_DM_MR_OFFSET);
  const auto length = attributes.number<std::uint64_t>(UVERBS_ATTR_REG_DM_MR_LENGTH);
  const auto pd = attributes.number<std::uint32_t>(UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
  const auto access = attributes.number<std::uint32_t>(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS);
  const auto dm = attributes.number<std::uint32_t>(UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
  if (attributes.wrong() || !offset || !length || !pd || !access || !dm) return EINVAL;
  abi::RegisterMrReply made{};
  if (const int error = control::register_dm_mr(command.session, {*offset, *length, *pd, *dm, *access, 0},
                                                made, command.descriptors))
    return error;
  attributes.answer_handle(UVERBS_ATTR_REG_DM_MR_HANDLE, made.handle);
  attributes.answer(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, made.lkey);
  attributes.answer(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, made.rkey);
  return 0;
}

}  // namespace urnic::control::mlx5
