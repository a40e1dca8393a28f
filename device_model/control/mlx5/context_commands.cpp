// GET_CONTEXT, and what an imported context asks for instead
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/method_attributes.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/memory/descriptor_facts.hpp"

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

// `bfregs`: as many as the program has without allocating them.
mlx5_ib_alloc_ucontext_resp describe(const Session& session, std::uint32_t bfregs) {
  const ServedDevice& device = session.device;
  const ContextPart& part = *part_of(*session.context);
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
  response.cqe_version = part.cqe_version;
  response.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
  response.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
  response.log_uar_size = 12;
  response.num_uars_per_page = 1;
  response.num_dyn_bfregs = (kDedicatedUars - 1) * kBfregsPerUar;  // libmlx5 takes one page more
  response.comp_mask = MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET;
  response.hca_core_clock_offset = 0;  // in its page
  response.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1;
  if (const auto null_key = part.null_key()) {
    response.comp_mask |= MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY;
    response.dump_fill_mkey = null_key->value;
  }
  return response;
}

// Of the pipe for asynchronous events, which comes third: with the pidfd first, or not. `open_context` looks
// at it.
memory::Descriptor duplicate_read_end(const DescriptorExchange& descriptors) {
  const std::size_t count = descriptors.received.size();
  if (count < 3 || count > 4) return {};
  const int read_end = descriptors.received[count - 2].get();
  if (!memory::is_unnamed_pipe(read_end)) return {};
  return memory::Descriptor(fcntl(read_end, F_DUPFD_CLOEXEC, 0));
}

}  // namespace

int get_context(Command& command) {
  const auto request = begin_of<mlx5_ib_alloc_ucontext_req_v2>(command.driver_input);
  if (command.session.context != nullptr) return EINVAL;
  if (const int error = check(command, request)) return error;
  const std::uint32_t bfregs = (request.total_num_bfregs + kBfregsPerUar - 1) / kBfregsPerUar * kBfregsPerUar;
  DevicePages uars("urnic-uar", bfregs / kBfregsPerUar + kDedicatedUars + kDynamicUars,
                   *command.session.account);
  DevicePages clock("urnic-clock", engine::ClockPages::kPages, *command.session.account);
  memory::Descriptor async_read_end = duplicate_read_end(command.descriptors);
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
  part_of(context)->async_read_end = std::move(async_read_end);
  part_of(context)->cqe_version = request.max_cqe_version >= 1 ? 1 : 0;
  command.driver.set(describe(command.session, bfregs));
  return 0;
}

// Of an imported context: another library's, in this process or in a child, which shares the connection. It
// has no doorbell pages yet, and allocates them (libmlx5's mlx5_import_context takes no others).
int query_context(Command& command) {
  MethodAttributes attributes(command);
  if (attributes.wrong()) return EINVAL;
  attributes.answer(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, limits::kCompletionVectors);
  attributes.answer(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, std::uint64_t{0});
  attributes.answer(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, describe(command.session, 0));
  return 0;
}

}  // namespace urnic::control::mlx5
