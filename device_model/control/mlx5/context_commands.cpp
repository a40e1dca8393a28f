// GET_CONTEXT
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

// Programs that open the device without libmlx5's newer members send one of these lengths (mlx5_ib in Linux,
// mlx5_ib_alloc_ucontext; libmlx5, mlx5_cmd_get_context).
bool is_known_length(std::size_t length) {
  return length == sizeof(mlx5_ib_alloc_ucontext_req) ||
         length >= offsetof(mlx5_ib_alloc_ucontext_req_v2, reserved0);
}

// 0, or what Linux answers. A program that wants DevX hears what it hears from a device without it.
int check(const Command& command, const mlx5_ib_alloc_ucontext_req_v2& request) {
  if (!is_known_length(command.driver_input.size())) return EINVAL;
  if ((request.flags & ~std::uint32_t{MLX5_IB_ALLOC_UCTX_DEVX}) != 0 || request.comp_mask != 0 ||
      request.reserved0 != 0 || request.reserved1 != 0 || request.reserved2 != 0)
    return EOPNOTSUPP;
  if ((request.flags & MLX5_IB_ALLOC_UCTX_DEVX) != 0) return EINVAL;
  if (request.total_num_bfregs == 0) return EINVAL;
  if (request.total_num_bfregs > kMaxBfregs) return ENOMEM;
  return request.num_low_latency_bfregs > request.total_num_bfregs - 1 ? EINVAL : 0;
}

mlx5_ib_alloc_ucontext_resp describe(const ServedDevice& device, const mlx5_ib_alloc_ucontext_req_v2& request,
                                     std::uint32_t bfregs) {
  mlx5_ib_alloc_ucontext_resp response{};
  response.qp_tab_size = device.settings.max_qp;
  response.bf_reg_size = engine::UarPages::kRegisterBytes;
  response.tot_bfregs = bfregs;
  response.cache_line_size = 64;
  response.max_sq_desc_sz = kMaxSendWqeBytes;
  response.max_rq_desc_sz = kMaxReceiveWqeBytes;
  response.max_send_wqebb = kMaxSendWqebbs;
  response.max_recv_wr = limits::kMaxQpWr;
  response.max_srq_recv_wr = limits::kMaxSrqWr - 1;
  response.num_ports = limits::kPorts;
  response.response_length = sizeof response;
  response.cqe_version = request.max_cqe_version >= 1 ? 1 : 0;
  response.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
  response.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
  response.log_uar_size = 12;
  response.num_uars_per_page = 1;
  response.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
  response.hca_core_clock_offset = 0;  // in its page
  response.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1;
  return response;
}

}  // namespace

int get_context(Command& command) {
  const auto request = begin_of<mlx5_ib_alloc_ucontext_req_v2>(command.driver_input);
  if (command.session.context != nullptr) return EINVAL;
  if (const int error = check(command, request)) return error;
  const std::uint32_t bfregs = (request.total_num_bfregs + kBfregsPerUar - 1) / kBfregsPerUar * kBfregsPerUar;
  DevicePages uars("urnic-uar", bfregs / kBfregsPerUar, *command.session.account);
  DevicePages clock("urnic-clock", engine::ClockPages::kPages, *command.session.account);
  abi::OpenContextReply opened{};
  if (const int error = open_context(command.session, *command.opening, opened, command.descriptors))
    return error;
  command.descriptors.sent.clear();  // what the plugin has instead of the pages
  Context& context = *command.session.context;
  context.face = std::make_unique<ContextPart>(context, std::move(uars), std::move(clock),
                                               command.session.disposal, command.session.process->pid());
  *command.token = opened.token;
  ib_uverbs_get_context_resp response{};
  response.num_comp_vectors = opened.completion_vectors;
  command.core.set(response);
  mlx5_ib_alloc_ucontext_resp drivers = describe(command.session.device, request, bfregs);
  if (const auto null_key = part_of(context)->null_key()) {
    drivers.comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;
    drivers.dump_fill_mkey = null_key->value;
  }
  command.driver.set(drivers);
  return 0;
}

}  // namespace urnic::control::mlx5
