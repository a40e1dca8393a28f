// CREATE_SRQ, CREATE_XSRQ
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/queue_memory.hpp"
#include "device_model/control/mlx5/queue_places.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/queue_making.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/mlx5_rings/shared_receive_ring.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"

namespace urnic::control::mlx5 {
namespace {

constexpr std::uint32_t kHead = 16;  // abi/mlx5/receive_wqe.hpp
constexpr std::uint32_t kLeastStride = 32;
constexpr std::uint32_t kMostSegments = 31;

// The command names no size of memory: both sides compute it from the numbers of WQEs and segments (libmlx5's
// mlx5_alloc_srq_buf, Linux' create_srq_user).
std::uint32_t stride_of(std::uint32_t max_sge) {
  return std::max(kLeastStride, std::bit_ceil(kHead + max_sge * 16));
}

int create(Command& command, const ib_uverbs_create_xsrq& request, std::unique_ptr<SharedReceiveQueue> srq,
           std::uint32_t& handle) {
  const auto driver = begin_of<mlx5_ib_create_srq>(command.driver_input);
  if (driver.flags != 0) return EOPNOTSUPP;  // signatures of WQEs
  if (request.max_wr >= engine::mlx5::kMostSharedSlots || request.max_sge > kMostSegments) return EINVAL;
  const std::uint32_t slots = std::bit_ceil(request.max_wr + 1);
  const std::uint32_t stride = stride_of(request.max_sge);
  std::array memory{QueueMemory{{driver.buf_addr, std::uint64_t{slots} * stride}},
                    QueueMemory{{driver.db_addr, sizeof(abi::mlx5::SharedBig32)}, true}};
  if (const int error = hold_queue_memory(command, memory)) return error;

  const bool is_xrc = srq->xrcd != nullptr;
  // A ConnectX has SRQs for nothing, too. libmlx5 names as many segments as fit into the WQEs that it makes:
  // more than any program may ask for.
  const abi::CreateSrqRequest wanted{request.user_handle, request.pd_handle, std::max(request.max_wr, 1u),
                                     std::min(request.max_sge, limits::kMaxSge), 0};
  const auto place = [&](SharedReceiveQueue& of, engine::SharedReceiveQueueConfig& config) {
    config.wqes = std::make_shared<engine::mlx5::SharedReceiveRing>(engine::mlx5::SharedReceiveRingConfig{
        .slots = memory[0].held.data(),
        .slot_count = slots,
        .stride = stride,
        .producer = memory[1].held.as<abi::mlx5::SharedBig32>(),
    });
    of.slot_count = slots;
    auto held = std::make_unique<ProgramPlace>();
    for (QueueMemory& each : memory) held->pages.push_back(std::move(each.held));
    of.place = std::move(held);
    return 0;
  };
  Session& session = command.session;
  if (const int error = make_srq(session, wanted, std::move(srq), place, handle)) return error;
  if (!is_xrc) return 0;
  const std::uint32_t number = session.context->srqs.find(handle)->queue->number();
  session.fabric.engine(session.device).execute([&] {
    part_of(*session.context)->completed.add_xrc(number, driver.uidx);
  });
  return 0;
}

void answer(Command& command, const ib_uverbs_create_xsrq& request, std::uint32_t handle) {
  const std::uint32_t number = command.session.context->srqs.find(handle)->queue->number();
  ib_uverbs_create_srq_resp core{};
  core.srq_handle = handle;
  core.max_wr = request.max_wr;
  core.max_sge = request.max_sge;
  core.srqn = number;
  command.core.set(core);
  command.driver.set(mlx5_ib_create_srq_resp{number, 0});
}

int arm(Command& command, std::uint32_t handle, std::uint32_t limit) {
  if (limit == 0) return 0;
  abi::ModifySrqReply ignored{};
  return control::modify_srq(command.session, {handle, IBV_SRQ_LIMIT, 0, limit}, ignored,
                             command.descriptors);
}

}  // namespace

int create_srq(Command& command) {
  const auto plain = begin_of<ib_uverbs_create_srq>(command.core_input);
  ib_uverbs_create_xsrq request{};
  request.user_handle = plain.user_handle;
  request.pd_handle = plain.pd_handle;
  request.max_wr = plain.max_wr;
  request.max_sge = plain.max_sge;
  std::uint32_t handle = 0;
  if (const int error = create(command, request, std::make_unique<SharedReceiveQueue>(), handle))
    return error;
  answer(command, request, handle);
  return arm(command, handle, plain.srq_limit);
}

int create_xsrq(Command& command) {
  const auto request = begin_of<ib_uverbs_create_xsrq>(command.core_input);
  auto srq = std::make_unique<SharedReceiveQueue>();
  if (request.srq_type == IBV_SRQT_XRC) {
    srq->xrcd = command.session.context->xrc_domains.find(request.xrcd_handle);
    srq->cq = command.session.context->cqs.find(request.cq_handle);
    if (srq->xrcd == nullptr || srq->cq == nullptr) return EINVAL;
  } else if (request.srq_type != IBV_SRQT_BASIC) {
    return EOPNOTSUPP;  // tag matching
  }
  std::uint32_t handle = 0;
  if (const int error = create(command, request, std::move(srq), handle)) return error;
  answer(command, request, handle);
  return arm(command, handle, request.srq_limit);
}

}  // namespace urnic::control::mlx5
