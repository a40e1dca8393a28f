// CREATE_WQ, MODIFY_WQ, DESTROY_WQ, CREATE_RWQ_IND_TBL, DESTROY_RWQ_IND_TBL, and what CREATE_QP makes of such
// a table. A work queue is a raw packet QP without sends, as with the plugin.
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/queue_memory.hpp"
#include "device_model/control/mlx5/queue_places.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/queue_making.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::control::mlx5 {
namespace {

constexpr std::uint32_t kLeastShift = 4;
constexpr std::uint32_t kMostShift = 9;    // kMaxReceiveWqeBytes
constexpr std::size_t kMostTables = 4096;  // of a context

int check(const ib_uverbs_ex_create_wq& core, const mlx5_ib_create_wq& driver) {
  if (core.comp_mask != 0 || core.reserved != 0 || core.wq_type != IBV_WQT_RQ) return EOPNOTSUPP;
  if ((core.create_flags & ~std::uint32_t{IBV_WQ_FLAGS_SCATTER_FCS}) != 0) return EOPNOTSUPP;
  if (driver.comp_mask != 0 || driver.flags != 0) return EOPNOTSUPP;  // strides, signatures
  const bool has_ring = std::has_single_bit(driver.rq_wqe_count) &&
                        driver.rq_wqe_count <= engine::mlx5::kMostReceiveSlots &&
                        driver.rq_wqe_shift >= kLeastShift && driver.rq_wqe_shift <= kMostShift;
  return has_ring ? 0 : EINVAL;
}

abi::CreateQpRequest to_request(const ib_uverbs_ex_create_wq& core) {
  abi::CreateQpRequest request{};
  request.user_handle = core.user_handle;
  request.pd = core.pd_handle;
  request.send_cq = request.receive_cq = core.cq_handle;
  request.type = abi::kWorkQueue;
  request.max_receive_wr = core.max_wr;
  request.max_receive_sge = core.max_sge;
  if ((core.create_flags & IBV_WQ_FLAGS_SCATTER_FCS) != 0) request.flags = abi::qp_scatter_fcs;
  return request;
}

int create(Command& command, const ib_uverbs_ex_create_wq& core, const mlx5_ib_create_wq& driver,
           std::uint32_t& handle) {
  std::array memory{QueueMemory{{driver.buf_addr, std::uint64_t{driver.rq_wqe_count} << driver.rq_wqe_shift}},
                    QueueMemory{{driver.db_addr, sizeof(abi::mlx5::WorkDoorbells)}, true}};
  if (const int error = hold_queue_memory(command, memory)) return error;
  auto* const record = memory[1].held.as<abi::mlx5::WorkDoorbells>();
  const auto place = [&](QueuePair& qp, engine::QueuePairConfig& config) {
    auto its = std::make_unique<QueuePairPlace>();
    its->rings = std::make_shared<engine::mlx5::QueuePairRings>(engine::mlx5::QueuePairRingsConfig{
        .sends = {.ring = nullptr,
                  .blocks = 0,
                  .producer = &record->send,
                  .service = qp.service,
                  .signal_all = false},
        .receives = {.ring = memory[0].held.data(),
                     .slots = driver.rq_wqe_count,
                     .stride = 1u << driver.rq_wqe_shift,
                     .producer = &record->receive},
        .user_index = driver.user_index,
    });
    for (QueueMemory& each : memory) its->pages.push_back(std::move(each.held));
    qp.given.receive_slots = config.receive_slots = driver.rq_wqe_count;
    qp.given.max_receive_sge = core.max_sge;
    config.queues = its->rings;
    config.send_slots = 0;
    qp.place = std::move(its);
    return 0;
  };
  return make_qp(command.session, to_request(core), place, handle);
}

// Null: there is none.
QueuePair* find_work_queue(const Command& command, std::uint32_t handle) {
  QueuePair* const qp = command.session.context->qps.find(handle);
  return qp != nullptr && qp->request.type == abi::kWorkQueue ? qp : nullptr;
}

int bring_queue_pair_to(Command& command, std::uint32_t handle, ibv_qp_state state, std::uint32_t mask = 0) {
  abi::ModifyQpRequest request{handle, IBV_QP_STATE | mask, {}};
  request.attributes.state = state;
  request.attributes.port = 1;
  abi::Empty ignored{};
  return control::modify_qp(command.session, request, ignored, command.descriptors);
}

int bring_to(Command& command, std::uint32_t handle, bool is_reset, std::uint32_t state) {
  switch (state) {
    case IBV_WQS_RESET:
      return bring_queue_pair_to(command, handle, IBV_QPS_RESET);
    case IBV_WQS_RDY:
      if (!is_reset) return 0;
      if (const int error = bring_queue_pair_to(command, handle, IBV_QPS_INIT, IBV_QP_PORT)) return error;
      return bring_queue_pair_to(command, handle, IBV_QPS_RTR);
    case IBV_WQS_ERR:
      return is_reset ? EINVAL : bring_queue_pair_to(command, handle, IBV_QPS_ERR);
    default:
      return EINVAL;
  }
}

transport::QpState state_of(Command& command, const QueuePair& qp) {
  auto state = transport::QpState::reset;
  command.session.fabric.engine(command.session.device).execute([&] { state = qp.shared->hosted->state(); });
  return state;
}

bool is_in_a_table(const ContextPart& part, std::uint32_t work_queue) {
  return std::any_of(part.indirection_tables.begin(), part.indirection_tables.end(), [&](const auto& table) {
    return std::find(table.second->begin(), table.second->end(), work_queue) != table.second->end();
  });
}

}  // namespace

int create_wq(Command& command) {
  const auto core = begin_of<ib_uverbs_ex_create_wq>(command.core_input);
  const auto driver = begin_of<mlx5_ib_create_wq>(command.driver_input);
  if (asks_for_more(command.core_input, sizeof core)) return EOPNOTSUPP;
  if (const int error = check(core, driver)) return error;
  std::uint32_t handle = 0;
  if (const int error = create(command, core, driver, handle)) return error;
  ib_uverbs_ex_create_wq_resp response{};
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  response.wq_handle = handle;
  response.max_wr = core.max_wr;
  response.max_sge = core.max_sge;
  response.wqn = command.session.context->qps.find(handle)->qpn;
  command.core.set(response);
  command.driver.set(mlx5_ib_create_wq_resp{sizeof(mlx5_ib_create_wq_resp), 0});
  return 0;
}

int modify_wq(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_modify_wq>(command.core_input);
  constexpr std::uint32_t kKnown = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
  if ((request.attr_mask & ~kKnown) != 0) return EOPNOTSUPP;
  const QueuePair* const qp = find_work_queue(command, request.wq_handle);
  if (qp == nullptr) return EINVAL;
  const transport::QpState state = state_of(command, *qp);
  const bool is_reset = state == transport::QpState::reset;
  const std::uint32_t now = is_reset                             ? IBV_WQS_RESET
                            : state == transport::QpState::error ? IBV_WQS_ERR
                                                                 : IBV_WQS_RDY;
  if ((request.attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0 && request.curr_wq_state != now) return EINVAL;
  if ((request.attr_mask & IBV_WQ_ATTR_STATE) == 0) return 0;
  if (request.wq_state == IBV_WQS_RDY && now == IBV_WQS_ERR) return EINVAL;
  return bring_to(command, request.wq_handle, is_reset, request.wq_state);
}

int destroy_wq(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_destroy_wq>(command.core_input);
  if (request.comp_mask != 0) return EOPNOTSUPP;
  if (find_work_queue(command, request.wq_handle) == nullptr) return EINVAL;
  if (is_in_a_table(*part_of(*command.session.context), request.wq_handle)) return EBUSY;
  abi::DestroyReply told{};
  if (const int error =
          control::destroy_qp(command.session, {request.wq_handle, 0}, told, command.descriptors))
    return error;
  ib_uverbs_ex_destroy_wq_resp response{};
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  response.events_reported = told.async_events_reported;
  command.core.set(response);
  return 0;
}

int create_indirection_table(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_create_rwq_ind_table>(command.core_input);
  const std::span<const std::byte> handles = command.core_input.subspan(sizeof request);
  if (request.comp_mask != 0) return EOPNOTSUPP;
  if (request.log_ind_tbl_size >= std::bit_width(abi::kMaxRssQueues)) return EINVAL;
  // The kernel's structure may have 4 bytes behind it, to be a multiple of 8 bytes long.
  auto table = std::make_unique<IndirectionTable>(std::size_t{1} << request.log_ind_tbl_size);
  if (handles.size() < table->size() * sizeof(std::uint32_t)) return EINVAL;
  std::memcpy(table->data(), handles.data(), table->size() * sizeof(std::uint32_t));
  for (const std::uint32_t handle : *table)
    if (find_work_queue(command, handle) == nullptr) return EINVAL;
  auto& tables = part_of(*command.session.context)->indirection_tables;
  if (tables.size() >= kMostTables) return ENOMEM;
  ib_uverbs_ex_create_rwq_ind_table_resp response{};
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  response.ind_tbl_handle = response.ind_tbl_num = tables.add(std::move(table));
  command.core.set(response);
  command.driver.set(mlx5_ib_create_rwq_ind_tbl_resp{sizeof(mlx5_ib_create_rwq_ind_tbl_resp), 0});
  return 0;
}

int destroy_indirection_table(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_destroy_rwq_ind_table>(command.core_input);
  if (request.comp_mask != 0) return EOPNOTSUPP;
  return part_of(*command.session.context)->indirection_tables.take(request.ind_tbl_handle) != nullptr
             ? 0
             : EINVAL;
}

// A ConnectX brings a program's own frames back to it only where it has asked for that. DPDK's ports forward
// whatever comes, so a frame to a group that came back would become two each time.
void hide_own_frames(Context& context, std::uint32_t handle, std::uint32_t flags) {
  RssQueuePair& qp = *context.rss_qps.find(handle ^ abi::kRssQpHandle);
  qp.hides_own_unicast = (flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC) == 0;
  qp.hides_own_groups = (flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC) == 0;
}

// An RSS QP keeps the queues of the table, and does not need the table any more.
int create_rss_qp(Command& command) {
  const auto core = begin_of<ib_uverbs_ex_create_qp>(command.core_input);
  const auto driver = begin_of<mlx5_ib_create_qp_rss>(command.driver_input);
  constexpr std::uint32_t kKnown = MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC;
  if (core.comp_mask != IB_UVERBS_CREATE_QP_MASK_IND_TABLE || core.create_flags != 0 ||
      core.qp_type != IBV_QPT_RAW_PACKET || driver.comp_mask != 0 || (driver.flags & ~kKnown) != 0)
    return EOPNOTSUPP;
  if (driver.rx_hash_function != MLX5_RX_HASH_FUNC_TOEPLITZ) return EOPNOTSUPP;
  const IndirectionTable* const table =
      part_of(*command.session.context)->indirection_tables.find(core.rwq_ind_tbl_handle);
  if (table == nullptr || driver.rx_key_len != abi::kHashKeyBytes) return EINVAL;
  abi::CreateRssQpRequest wanted{};
  wanted.hash_fields = driver.rx_hash_fields_mask;
  wanted.pd = core.pd_handle;
  wanted.queue_count = static_cast<std::uint32_t>(table->size());
  std::memcpy(wanted.hash_key, driver.rx_hash_key, sizeof wanted.hash_key);
  std::copy(table->begin(), table->end(), wanted.queues);
  abi::HandleReply made{};
  if (const int error = control::create_rss_qp(command.session, wanted, made, command.descriptors))
    return error;
  hide_own_frames(*command.session.context, made.handle, driver.flags);
  ib_uverbs_ex_create_qp_resp response{};
  response.base.qp_handle = made.handle;
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  command.core.set(response);
  command.driver.set(mlx5_ib_create_qp_resp{});
  return 0;
}

int destroy_rss_qp(Command& command, std::uint32_t handle) {
  abi::Empty ignored{};
  if (const int error = control::destroy_rss_qp(command.session, {handle, 0}, ignored, command.descriptors))
    return error;
  command.core.set(ib_uverbs_destroy_qp_resp{});
  return 0;
}

}  // namespace urnic::control::mlx5
