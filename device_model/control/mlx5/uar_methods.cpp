// Doorbell pages that a program gets one by one: those of imported contexts, which have no others.
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <cerrno>

#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/method_attributes.hpp"
#include "device_model/control/mlx5/page_offset.hpp"

namespace urnic::control::mlx5 {

int allocate_uar(Command& command) {
  MethodAttributes attributes(command);
  const auto type = attributes.number<std::uint64_t>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
  if (attributes.wrong() || !type) return EINVAL;
  if (*type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && *type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC) return EOPNOTSUPP;
  const auto page = part_of(*command.session.context)->allocate_uar();
  if (!page) return ENOMEM;
  attributes.answer_handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, *page);
  attributes.answer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, page_offset(PageKind::doorbells, *page));
  attributes.answer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, std::uint64_t{kPageBytes});
  attributes.answer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, *page);
  return 0;
}

int free_uar(Command& command) {
  MethodAttributes attributes(command);
  const auto page = attributes.number<std::uint32_t>(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);
  if (attributes.wrong() || !page) return EINVAL;
  return part_of(*command.session.context)->free_uar(*page) ? 0 : EINVAL;
}

}  // namespace urnic::control::mlx5
