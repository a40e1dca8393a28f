// The agent's objects: made, changed, destroyed.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "script/agent/agent.hpp"
#include "script/queue_pair_attributes.hpp"

namespace urnic::script {
namespace {

constexpr std::uint64_t kMostRegionBytes = 16 << 20;
constexpr std::size_t kPage = 4096;
constexpr int kCqEntries = 256;
constexpr std::uint32_t kSges = 4;
constexpr std::uint32_t kInlineBytes = 64;

std::uint32_t number_of(const Call& call, const char* name, std::uint64_t otherwise = 0) {
  return static_cast<std::uint32_t>(call.number(name, otherwise));
}

ibv_qp_attr attributes_of(const Call& call, ibv_qp_state state, const ibv_ah_attr& path) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  attributes.port_num = 1;
  attributes.qkey = number_of(call, "qkey");
  attributes.qp_access_flags = number_of(call, "access");
  attributes.ah_attr = path;
  attributes.path_mtu = static_cast<ibv_mtu>(mtu_code(call.number("mtu")));
  attributes.dest_qp_num = number_of(call, "peer_qpn");
  attributes.rq_psn = number_of(call, "rq_psn");
  attributes.sq_psn = number_of(call, "sq_psn");
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(call.number("max_dest_reads"));
  attributes.max_rd_atomic = static_cast<std::uint8_t>(call.number("max_reads"));
  attributes.min_rnr_timer = static_cast<std::uint8_t>(call.number("min_rnr_timer"));
  attributes.timeout = static_cast<std::uint8_t>(call.number("timeout"));
  attributes.retry_cnt = static_cast<std::uint8_t>(call.number("retry"));
  attributes.rnr_retry = static_cast<std::uint8_t>(call.number("rnr_retry"));
  attributes.en_sqd_async_notify = static_cast<std::uint8_t>(call.number("notify"));
  return attributes;
}

}  // namespace

Answer Agent::make_region(const Call& call) {
  const std::uint64_t length = call.number("length");
  if (length == 0 || length > kMostRegionBytes) refuse(EINVAL, "a region has 1 byte to 16 MiB");
  Region& region = regions_[call.object];
  region.length = length;
  region.bytes.reset(
      static_cast<std::byte*>(std::aligned_alloc(kPage, (length + kPage - 1) / kPage * kPage)));
  if (region.bytes == nullptr) refuse(ENOMEM, "aligned_alloc");
  std::memset(region.bytes.get(), 0, length);
  region.mr.reset(
      ibv_reg_mr(device_.pd(), region.bytes.get(), length, static_cast<int>(call.number("access"))));
  if (region.mr == nullptr) refuse(errno, "ibv_reg_mr");
  region.lkey = region.mr->lkey;
  return {.numbers = {{"addr", reinterpret_cast<std::uintptr_t>(region.bytes.get())},
                      {"length", length},
                      {"lkey", region.mr->lkey},
                      {"rkey", region.mr->rkey}}};
}

Answer Agent::make_window(const Call& call) {
  const std::uint64_t type = call.number("type", 2);
  if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) refuse(EINVAL, "a memory window's type is 1 or 2");
  auto& window = windows_[call.object];
  window.reset(ibv_alloc_mw(device_.pd(), static_cast<ibv_mw_type>(type)));
  if (window == nullptr) refuse(errno, "ibv_alloc_mw");
  return {.numbers = {{"rkey", window->rkey}}};
}

Answer Agent::make_shared_receives(const Call& call) {
  SharedReceives& receives = shared_receives_[call.object];
  ibv_srq_init_attr_ex attributes{};
  attributes.attr.max_wr = number_of(call, "max_recv", 64);
  attributes.attr.max_sge = kSges;
  attributes.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  attributes.srq_type = IBV_SRQT_BASIC;
  attributes.pd = device_.pd();
  if (call.number("kind") != 0) {
    receives.cq.reset(ibv_create_cq(device_.context(), kCqEntries, nullptr, device_.channel(), 0));
    if (receives.cq == nullptr) refuse(errno, "ibv_create_cq");
    attributes.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    attributes.srq_type = IBV_SRQT_XRC;
    attributes.xrcd = device_.xrc_domain();
    attributes.cq = receives.cq.get();
  }
  receives.srq.reset(ibv_create_srq_ex(device_.context(), &attributes));
  if (receives.srq == nullptr) refuse(errno, "ibv_create_srq_ex");
  std::uint32_t number = 0;
  if (call.number("kind") != 0 && ibv_get_srq_num(receives.srq.get(), &number) != 0)
    refuse(errno, "ibv_get_srq_num");
  return {.numbers = {{"number", number}}};
}

Answer Agent::make_address_handle(const Call& call) {
  ibv_ah_attr path = device_.path(call);
  auto& handle = address_handles_[call.object];
  handle.reset(ibv_create_ah(device_.pd(), &path));
  if (handle == nullptr) refuse(errno, "ibv_create_ah");
  return {};
}

Owned<ibv_qp> Agent::create(const Call& call, const QueuePair& queue_pair) {
  ibv_qp_init_attr_ex attributes{};
  attributes.qp_type = static_cast<ibv_qp_type>(call.number("service"));
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
  attributes.pd = device_.pd();
  attributes.send_cq = queue_pair.send_cq.get();
  attributes.recv_cq = queue_pair.receive_cq.get();
  attributes.cap = {number_of(call, "max_send", 64), number_of(call, "max_recv", 64), kSges, kSges,
                    kInlineBytes};
  if (call.names.contains("srq")) attributes.srq = shared_receives_.at(call.names.at("srq")).srq.get();
  if (attributes.srq != nullptr || attributes.qp_type == IBV_QPT_XRC_SEND)
    attributes.cap.max_recv_wr = attributes.cap.max_recv_sge = 0;
  if (attributes.qp_type == IBV_QPT_XRC_RECV) {
    attributes = {};
    attributes.qp_type = IBV_QPT_XRC_RECV;
    attributes.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    attributes.xrcd = device_.xrc_domain();
  }
  if (attributes.qp_type == IBV_QPT_RC) {
    // ATOMIC WRITE has no request of ibv_post_send; a device without it makes an ordinary queue pair.
    ibv_qp_init_attr_ex with_more = attributes;
    with_more.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    with_more.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE;
    Owned<ibv_qp> made(ibv_create_qp_ex(device_.context(), &with_more));
    if (made != nullptr) return made;
  }
  Owned<ibv_qp> made(ibv_create_qp_ex(device_.context(), &attributes));
  if (made == nullptr) refuse(errno, "ibv_create_qp_ex");
  return made;
}

Answer Agent::make_queue_pair(const Call& call) {
  QueuePair& made = queue_pairs_[call.object];
  for (auto* const cq : {&made.send_cq, &made.receive_cq}) {
    cq->reset(ibv_create_cq(device_.context(), kCqEntries, &made, device_.channel(), 0));
    if (*cq == nullptr) refuse(errno, "ibv_create_cq");
  }
  made.made_by = call;
  made.qp = create(call, made);
  const auto last = static_cast<ibv_qp_state>(call.number("state"));
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS})
    if (state <= last) move_to(made, state, call);
  if (last > IBV_QPS_RTS) move_to(made, last, call);
  return {.numbers = {{"qpn", made.qp->qp_num}}};
}

void Agent::move_to(const QueuePair& queue_pair, ibv_qp_state state, const Call& call) const {
  ibv_qp_attr attributes = attributes_of(call, state, device_.path(call));
  const std::uint32_t mask =
      attribute_mask(queue_pair.qp->qp_type, queue_pair.qp->state, state, call.number("notify") != 0);
  if (const int error = ibv_modify_qp(queue_pair.qp.get(), &attributes, static_cast<int>(mask)))
    refuse(error, "ibv_modify_qp");
}

// Attributes that the call does not have are those with which the queue pair was made.
Answer Agent::modify(const Call& call) {
  QueuePair& queue_pair = queue_pairs_.at(call.object);
  Call merged = queue_pair.made_by;
  for (const auto& [name, value] : call.numbers) merged.numbers[name] = value;
  move_to(queue_pair, static_cast<ibv_qp_state>(call.number("state")), merged);
  return {};
}

Answer Agent::destroy(const Call& call) {
  if (const auto region = regions_.find(call.object); region != regions_.end()) {
    // The memory stays: what is written to it now would be a defect that the script can see.
    if (const int error = ibv_dereg_mr(region->second.mr.release())) refuse(error, "ibv_dereg_mr");
    return {};
  }
  const bool known = queue_pairs_.erase(call.object) + windows_.erase(call.object) +
                         address_handles_.erase(call.object) + shared_receives_.erase(call.object) !=
                     0;
  if (!known) refuse(ENOENT, call.object);
  return {};
}

}  // namespace urnic::script
