// What an importing context asks of objects (ibv_import_pd(3), ibv_import_mr(3)).
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <cerrno>

#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/method_attributes.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {

int query_mr(Command& command) {
  MethodAttributes attributes(command);
  const auto handle = attributes.number<std::uint32_t>(UVERBS_ATTR_QUERY_MR_HANDLE);
  if (attributes.wrong() || !handle) return EINVAL;
  const MemoryRegion* const region = command.session.context->regions.find(*handle);
  if (region == nullptr) return EINVAL;
  attributes.answer(UVERBS_ATTR_QUERY_MR_RESP_LKEY, region->key.value);
  attributes.answer(UVERBS_ATTR_QUERY_MR_RESP_RKEY, region->key.value);
  attributes.answer(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, region->spec.length);
  attributes.answer(UVERBS_ATTR_QUERY_MR_RESP_IOVA, region->spec.iova);
  return 0;
}

int query_pd(Command& command) {
  MethodAttributes attributes(command);
  const auto handle = attributes.number<std::uint32_t>(MLX5_IB_ATTR_QUERY_PD_HANDLE);
  if (attributes.wrong() || !handle) return EINVAL;
  const ProtectionDomain* const pd = command.session.context->pds.find(*handle);
  if (pd == nullptr) return EINVAL;
  attributes.answer(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->id.value);
  return 0;
}

}  // namespace urnic::control::mlx5
