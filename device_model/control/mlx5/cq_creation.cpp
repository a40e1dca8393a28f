// CREATE_CQ, RESIZE_CQ
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <array>
#include <bit>
#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "device_model/control/mlx5/queue_memory.hpp"
#include "device_model/control/mlx5/queue_places.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/queue_making.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/mlx5_rings/completion_ring.hpp"

namespace urnic::control::mlx5 {
namespace {

constexpr std::uint32_t kMostEntries = engine::mlx5::kMostCqes;

bool is_cqe_size(std::uint32_t bytes) { return bytes == 64 || bytes == 128; }

// libmlx5 makes a ring of a power of two of entries, and names one less.
bool is_entry_count(std::uint32_t entries) {
  return std::has_single_bit(entries) && entries <= kMostEntries && entries - 1 <= limits::kMaxCqe;
}

// A CQ may allow that its CQEs are compressed, in one format.
bool may_compress(const mlx5_ib_create_cq& driver) {
  return std::has_single_bit(unsigned{driver.cqe_comp_res_format}) &&
         (driver.cqe_comp_res_format & kCompressedFormats) != 0;
}

// Padding is refused: query_device does not offer it.
int check(const ib_uverbs_ex_create_cq& request, const mlx5_ib_create_cq& driver) {
  if (!is_cqe_size(driver.cqe_size) || !is_entry_count(request.cqe + 1)) return EINVAL;
  if (driver.cqe_comp_en != 0 && !may_compress(driver)) return EINVAL;
  if ((driver.flags & ~MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) != 0) return EOPNOTSUPP;
  const std::uint32_t known = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
  return request.comp_mask != 0 || (request.flags & ~known) != 0 ? EOPNOTSUPP : 0;
}

// 0 or as hold_queue_memory.
int create(Command& command, const ib_uverbs_ex_create_cq& request, std::uint32_t& handle) {
  const auto driver = begin_of<mlx5_ib_create_cq>(command.driver_input);
  if (const int error = check(request, driver)) return error;
  ContextPart& part = *part_of(*command.session.context);
  const bool names_page = (driver.flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) != 0;
  if (names_page && !part.is_allocated_uar(driver.uar_page_index)) return EINVAL;
  const std::uint32_t entries = request.cqe + 1;
  std::array memory{QueueMemory{{driver.buf_addr, std::uint64_t{entries} * driver.cqe_size}},
                    QueueMemory{{driver.db_addr, sizeof(abi::mlx5::CompletionDoorbells)}, true}};
  if (const int error = hold_queue_memory(command, memory)) return error;

  abi::CreateCqRequest wanted{request.user_handle, command.channel_inode, request.cqe, request.comp_vector};
  if ((request.flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) != 0) wanted.flags |= abi::cq_ignore_overrun;
  const auto place = [&](CompletionQueue& cq, engine::CompletionQueueConfig& config) {
    config.entries = std::make_shared<engine::mlx5::CompletionRing>(engine::mlx5::CompletionRingConfig{
        .ring = memory[0].held.data(),
        .slots = entries,
        .cqe_bytes = driver.cqe_size,
        .doorbells = memory[1].held.as<abi::mlx5::CompletionDoorbells>(),
        .queues = &part.completed,
        .clock = &part.clock(),
        .exact_times = (request.flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION) != 0,
    });
    auto held = std::make_unique<ProgramPlace>();
    for (QueueMemory& each : memory) held->pages.push_back(std::move(each.held));
    cq.place = std::move(held);
    return 0;
  };
  if (const int error = make_cq(command.session, wanted, place, handle)) return error;
  part.attach(*command.session.context->cqs.find(handle), names_page ? driver.uar_page_index : 0);
  return 0;
}

ib_uverbs_create_cq_resp answer(Command& command, std::uint32_t handle, std::uint32_t entries) {
  mlx5_ib_create_cq_resp driver{};
  driver.cqn = command.session.context->cqs.find(handle)->number;
  command.driver.set(driver);
  ib_uverbs_create_cq_resp core{};
  core.cq_handle = handle;
  core.cqe = entries;
  return core;
}

}  // namespace

int create_cq(Command& command) {
  const auto plain = begin_of<ib_uverbs_create_cq>(command.core_input);
  ib_uverbs_ex_create_cq request{};
  request.user_handle = plain.user_handle;
  request.cqe = plain.cqe;
  request.comp_vector = plain.comp_vector;
  std::uint32_t handle = 0;
  if (const int error = create(command, request, handle)) return error;
  command.core.set(answer(command, handle, plain.cqe));
  return 0;
}

int create_cq_extended(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_create_cq>(command.core_input);
  if (asks_for_more(command.core_input, sizeof request)) return EOPNOTSUPP;
  std::uint32_t handle = 0;
  if (const int error = create(command, request, handle)) return error;
  ib_uverbs_ex_create_cq_resp response{};
  response.base = answer(command, handle, request.cqe);
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  command.core.set(response);
  return 0;
}

// The program moves the CQEs that it has not read: it is told in the old ring that the new one is next.
int resize_cq(Command& command) {
  const auto request = begin_of<ib_uverbs_resize_cq>(command.core_input);
  const auto driver = begin_of<mlx5_ib_resize_cq>(command.driver_input);
  CompletionQueue* const cq = command.session.context->cqs.find(request.cq_handle);
  if (cq == nullptr || !is_cqe_size(driver.cqe_size) || !is_entry_count(request.cqe + 1)) return EINVAL;
  auto& place = static_cast<ProgramPlace&>(*cq->place);
  const std::uint32_t entries = request.cqe + 1;
  std::array memory{QueueMemory{{driver.buf_addr, std::uint64_t{entries} * driver.cqe_size}}};
  if (const int error = hold_queue_memory(command, memory)) return error;
  engine::Engine& engine = command.session.fabric.engine(command.session.device);
  engine.execute([] {});  // as control/uverbs: requests posted before this one may complete first
  auto moved = engine::CompletionQueue::Moved::does_not_fit;
  engine.execute([&] {
    cq->queue->begin_move(memory[0].held.data(), entries);
    moved = cq->queue->move(1);
  });
  if (moved == engine::CompletionQueue::Moved::does_not_fit) return EINVAL;  // and all stays as it was
  place.pages[0] = std::move(memory[0].held);
  ib_uverbs_resize_cq_resp response{};
  response.cqe = request.cqe;
  command.core.set(response);
  return 0;
}

}  // namespace urnic::control::mlx5
