// CREATE_QP, OPEN_QP
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <bit>
#include <cerrno>
#include <vector>

#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "device_model/control/mlx5/queue_memory.hpp"
#include "device_model/control/mlx5/queue_places.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/queue_making.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::control::mlx5 {
namespace {

// What may be ignored: the device never scatters into CQEs, gives credits for each message, and lets raw
// packets of its own program through or not by itself.
constexpr std::uint32_t kIgnoredFlags =
    MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC |
    MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC | MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE;
// Which doorbell the program has chosen: a page that it has allocated, or a register of one that it has
// mapped.
constexpr std::uint32_t kDoorbellFlags = MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_BFREG_INDEX;
constexpr std::uint32_t kBlockBytes = 64;
constexpr std::uint32_t kLeastStrideShift = 4;
constexpr std::uint32_t kMostStrideShift = 9;  // kMaxReceiveWqeBytes

bool is_count(std::uint32_t count, std::uint32_t most) {
  return count == 0 || (std::has_single_bit(count) && count <= most);
}

int check(const mlx5_ib_create_qp& driver) {
  if ((driver.flags & ~(kIgnoredFlags | kDoorbellFlags)) != 0) return EOPNOTSUPP;
  if ((driver.flags & kDoorbellFlags) == kDoorbellFlags) return EINVAL;
  if (!is_count(driver.sq_wqe_count, engine::mlx5::kMostRingBlocks) ||
      !is_count(driver.rq_wqe_count, engine::mlx5::kMostReceiveSlots))
    return EINVAL;
  const bool has_stride = driver.rq_wqe_shift >= kLeastStrideShift && driver.rq_wqe_shift <= kMostStrideShift;
  return driver.rq_wqe_count == 0 || has_stride ? 0 : EINVAL;
}

// The memory of a QP's queues, and where they lie in it. A raw packet QP's send queue has memory of its own;
// that of others lies behind the receive queue (libmlx5's mlx5_calc_wq_size).
class Queues {
 public:
  Queues(const mlx5_ib_create_qp& driver, bool apart)
      : sends_(std::uint64_t{driver.sq_wqe_count} * kBlockBytes),
        receives_(std::uint64_t{driver.rq_wqe_count} << (driver.rq_wqe_count != 0 ? driver.rq_wqe_shift : 0)),
        apart_(apart) {
    const std::uint64_t first = apart ? receives_ : receives_ + sends_;
    if (first != 0) memory_.push_back({{driver.buf_addr, first}});
    if (apart && sends_ != 0) memory_.push_back({{driver.sq_buf_addr, sends_}});
    memory_.push_back({{driver.db_addr, sizeof(abi::mlx5::WorkDoorbells)}, true});
  }

  // 0 or as hold_queue_memory.
  int hold(Command& command) { return hold_queue_memory(command, memory_); }
  std::byte* receives() const { return receives_ != 0 ? memory_[0].held.data() : nullptr; }
  std::byte* sends() const {
    if (sends_ == 0) return nullptr;
    return apart_ ? memory_[memory_.size() - 2].held.data() : memory_[0].held.data() + receives_;
  }
  abi::mlx5::WorkDoorbells* record() const { return memory_.back().held.as<abi::mlx5::WorkDoorbells>(); }
  std::vector<HeldPages> take() {
    std::vector<HeldPages> held;
    for (QueueMemory& each : memory_) held.push_back(std::move(each.held));
    return held;
  }

 private:
  std::uint64_t sends_;
  std::uint64_t receives_;
  bool apart_;
  std::vector<QueueMemory> memory_;
};

// 0, or EINVAL: the program does not have what it names. libmlx5 uses the first registers of a page
// (mlx5_insert_dyn_uuars). Of a page that it has allocated it names the page alone.
int find_doorbells(ContextPart& part, const mlx5_ib_create_qp& driver,
                   std::vector<engine::UarRegister>& registers) {
  constexpr std::uint32_t kEach = engine::UarPages::kRegistersPerPage;
  if ((driver.flags & MLX5_QP_FLAG_UAR_PAGE_INDEX) != 0) {
    if (!part.is_allocated_uar(driver.bfreg_index)) return EINVAL;
    for (std::uint32_t i = 0; i < kBfregsPerUar; ++i) registers.push_back({driver.bfreg_index * kEach + i});
  } else if ((driver.flags & MLX5_QP_FLAG_BFREG_INDEX) != 0) {
    const auto page = part.dedicated_uar(driver.bfreg_index / kBfregsPerUar);
    if (!page) return EINVAL;
    registers.push_back({*page * kEach + driver.bfreg_index % kBfregsPerUar});
  } else {
    registers.push_back(part.choose_register());
  }
  return 0;
}

abi::CreateQpRequest to_request(const ib_uverbs_ex_create_qp& core) {
  abi::CreateQpRequest request{};
  const bool is_target = core.qp_type == IBV_QPT_XRC_RECV;
  request.user_handle = core.user_handle;
  // The kernel's ABI has an XRC target's domain in the place of the protection domain.
  (is_target ? request.xrcd : request.pd) = core.pd_handle;
  request.send_cq = core.send_cq_handle;
  request.receive_cq = core.recv_cq_handle;
  request.type = core.qp_type;
  request.max_send_wr = core.max_send_wr;
  request.max_receive_wr = core.max_recv_wr;
  request.max_send_sge = core.max_send_sge;
  request.max_receive_sge = core.max_recv_sge;
  request.max_inline_data = core.max_inline_data;
  request.signal_all = core.sq_sig_all;
  request.srq = core.is_srq != 0 && !is_target ? core.srq_handle : 0;
  if ((core.create_flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) != 0)
    request.flags |= abi::qp_block_self_multicast;
  if ((core.create_flags & IBV_QP_CREATE_SCATTER_FCS) != 0) request.flags |= abi::qp_scatter_fcs;
  return request;
}

void size(QueuePair& qp, const mlx5_ib_create_qp& driver) {
  qp.given.send_slots = driver.sq_wqe_count;
  qp.given.receive_slots = driver.rq_wqe_count;
  qp.given.max_send_sge = qp.request.max_send_sge;
  qp.given.max_receive_sge = qp.request.max_receive_sge;
  qp.given.max_inline_data = qp.request.max_inline_data;
}

int create(Command& command, const ib_uverbs_ex_create_qp& core, std::uint32_t& handle) {
  const auto driver = begin_of<mlx5_ib_create_qp>(command.driver_input);
  const std::uint32_t known = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_SCATTER_FCS;
  if ((core.create_flags & ~known) != 0 || core.comp_mask != 0) return EOPNOTSUPP;
  if (const int error = check(driver)) return error;
  const abi::CreateQpRequest request = to_request(core);
  Session& session = command.session;
  if (core.qp_type == IBV_QPT_XRC_RECV) return make_qp(session, request, {}, handle);

  ContextPart& part = *part_of(*session.context);
  std::vector<engine::UarRegister> doorbells;
  if (const int error = find_doorbells(part, driver, doorbells)) return error;
  Queues queues(driver, core.qp_type == IBV_QPT_RAW_PACKET);
  if (const int error = queues.hold(command)) return error;
  const auto place = [&](QueuePair& qp, engine::QueuePairConfig& config) {
    auto its = std::make_unique<QueuePairPlace>();
    its->rings = std::make_shared<engine::mlx5::QueuePairRings>(engine::mlx5::QueuePairRingsConfig{
        .sends = {.ring = queues.sends(),
                  .blocks = driver.sq_wqe_count,
                  .producer = &queues.record()->send,
                  .service = qp.service,
                  .signal_all = core.sq_sig_all != 0},
        .receives = {.ring = queues.receives(),
                     .slots = driver.rq_wqe_count,
                     .stride = 1u << (driver.rq_wqe_count != 0 ? driver.rq_wqe_shift : kLeastStrideShift),
                     .producer = &queues.record()->receive},
        .user_index = driver.uidx,
    });
    if (driver.sq_wqe_count != 0) its->doorbells = std::move(doorbells);
    its->pages = queues.take();
    size(qp, driver);
    config.queues = its->rings;
    config.max_message_size = kMaxMessageBytes;
    config.send_slots = driver.sq_wqe_count;
    config.receive_slots = driver.rq_wqe_count;
    qp.place = std::move(its);
    return 0;
  };
  return make_qp(session, request, place, handle);
}

ib_uverbs_create_qp_resp answer(Command& command, std::uint32_t handle) {
  const QueuePair& qp = *command.session.context->qps.find(handle);
  mlx5_ib_create_qp_resp driver{};
  const auto* const place = static_cast<const QueuePairPlace*>(qp.place.get());
  if (place != nullptr && !place->doorbells.empty()) driver.bfreg_index = place->doorbells[0].value;
  command.driver.set(driver);
  ib_uverbs_create_qp_resp core{};
  core.qp_handle = handle;
  core.qpn = qp.qpn;
  core.max_send_wr = qp.request.max_send_wr;
  core.max_recv_wr = qp.request.max_receive_wr;
  core.max_send_sge = qp.request.max_send_sge;
  core.max_recv_sge = qp.request.max_receive_sge;
  core.max_inline_data = qp.request.max_inline_data;
  return core;
}

}  // namespace

int create_qp(Command& command) {
  const auto plain = begin_of<ib_uverbs_create_qp>(command.core_input);
  ib_uverbs_ex_create_qp request{};
  request.user_handle = plain.user_handle;
  request.pd_handle = plain.pd_handle;
  request.send_cq_handle = plain.send_cq_handle;
  request.recv_cq_handle = plain.recv_cq_handle;
  request.srq_handle = plain.srq_handle;
  request.max_send_wr = plain.max_send_wr;
  request.max_recv_wr = plain.max_recv_wr;
  request.max_send_sge = plain.max_send_sge;
  request.max_recv_sge = plain.max_recv_sge;
  request.max_inline_data = plain.max_inline_data;
  request.sq_sig_all = plain.sq_sig_all;
  request.qp_type = plain.qp_type;
  request.is_srq = plain.is_srq;
  std::uint32_t handle = 0;
  if (const int error = create(command, request, handle)) return error;
  command.core.set(answer(command, handle));
  return 0;
}

int create_qp_extended(Command& command) {
  const auto request = begin_of<ib_uverbs_ex_create_qp>(command.core_input);
  if (asks_for_more(command.core_input, sizeof request)) return EOPNOTSUPP;
  if (request.comp_mask != 0) return create_rss_qp(command);
  std::uint32_t handle = 0;
  if (const int error = create(command, request, handle)) return error;
  ib_uverbs_ex_create_qp_resp response{};
  response.base = answer(command, handle);
  response.response_length = static_cast<__u32>(std::min(command.core.room(), sizeof response));
  command.core.set(response);
  return 0;
}

int open_qp(Command& command) {
  const auto plain = begin_of<ib_uverbs_open_qp>(command.core_input);
  abi::OpenQpRequest wanted{};
  wanted.user_handle = plain.user_handle;
  wanted.xrcd = plain.pd_handle;
  wanted.qpn = plain.qpn;
  wanted.type = plain.qp_type;
  abi::HandleReply opened{};
  if (const int error = control::open_qp(command.session, wanted, opened, command.descriptors)) return error;
  ib_uverbs_create_qp_resp response{};
  response.qp_handle = opened.handle;
  response.qpn = plain.qpn;
  command.core.set(response);
  return 0;
}

}  // namespace urnic::control::mlx5
