#include "tests/security/mlx5_scribbler/lane.hpp"

#include <infiniband/mlx5dv.h>

#include <cerrno>
#include <cstring>

#include "tests/apps/programs/require.hpp"

namespace urnic::mlx5_scribbler {
namespace {

using apps::require;

constexpr std::size_t kMemory = 16 * 4096;
constexpr std::uint32_t kWorkRequests = 64;
constexpr std::uint32_t kQkey = 0x11111111;
constexpr std::size_t kRegisterPage = 4096;
constexpr std::size_t kCqeBytes = 64;
constexpr std::size_t kBlockBytes = 64;

ibv_qp_type type_of(Service service) {
  if (service == Service::unreliable) return IBV_QPT_UC;
  return service == Service::datagram ? IBV_QPT_UD : IBV_QPT_RC;
}

std::span<std::byte> bytes(void* begin, std::size_t length) {
  return {static_cast<std::byte*>(begin), length};
}

ibv_ah_attr path_to(const apps::Device& device) {
  ibv_ah_attr path{};
  path.is_global = 1;
  path.grh.dgid = device.gid();
  path.grh.sgid_index = apps::kGidIndex;
  path.grh.hop_limit = 1;
  path.port_num = 1;
  return path;
}

}  // namespace

End::End(const apps::Device& device, Service service)
    : device_(device), service_(service), memory_(device.pd(), kMemory) {
  make_cq();
  if (service == Service::reliable_with_srq) make_srq();
  make_qp();
  look_inside();
}

End::~End() {
  if (ah_ != nullptr) ibv_destroy_ah(ah_);
  require(ibv_destroy_qp(qp_) == 0 && ibv_destroy_cq(cq_) == 0, "queues could not be destroyed");
}

void End::make_cq() {
  cq_ = ibv_create_cq(device_.context(), 2 * kWorkRequests, nullptr, nullptr, 0);
  require(cq_ != nullptr, "ibv_create_cq: {}", std::strerror(errno));
}

void End::make_srq() {
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = kWorkRequests;
  wanted.attr.max_sge = 2;
  srq_ = ibv_create_srq(device_.pd(), &wanted);
  require(srq_ != nullptr, "ibv_create_srq: {}", std::strerror(errno));
}

void End::make_qp() {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = cq_;
  wanted.srq = srq_;
  wanted.cap = {kWorkRequests, srq_ == nullptr ? kWorkRequests : 0, 3, srq_ == nullptr ? 2u : 0u, 64};
  wanted.qp_type = type_of(service_);
  qp_ = ibv_create_qp(device_.pd(), &wanted);
  require(qp_ != nullptr, "ibv_create_qp: {}", std::strerror(errno));
}

void End::look_inside() {
  mlx5dv_cq cq{};
  mlx5dv_qp qp{};
  mlx5dv_srq srq{};
  mlx5dv_obj object{};
  object.cq = {cq_, &cq};
  object.qp = {qp_, &qp};
  object.srq = {srq_, &srq};
  const std::uint64_t kinds = MLX5DV_OBJ_CQ | MLX5DV_OBJ_QP | (srq_ != nullptr ? MLX5DV_OBJ_SRQ : 0);
  require(mlx5dv_init_obj(&object, kinds) == 0, "mlx5dv_init_obj");
  rings_.push_back({bytes(cq.buf, std::size_t{cq.cqe_cnt} * cq.cqe_size), kCqeBytes});
  rings_.push_back({bytes(qp.sq.buf, std::size_t{qp.sq.wqe_cnt} * qp.sq.stride), kBlockBytes});
  if (qp.rq.wqe_cnt != 0) {
    rings_.push_back({bytes(qp.rq.buf, std::size_t{qp.rq.wqe_cnt} * qp.rq.stride), qp.rq.stride});
  }
  if (srq_ != nullptr) {
    rings_.push_back({bytes(srq.buf, std::size_t{srq.tail + 1} * srq.stride), srq.stride});
    records_.push_back(bytes(srq.dbrec, 8));
  }
  records_.push_back(bytes(cq.dbrec, 8));
  records_.push_back(bytes(qp.dbrec, 8));
  const auto page = reinterpret_cast<std::uintptr_t>(qp.bf.reg) / kRegisterPage * kRegisterPage;
  registers_ = bytes(reinterpret_cast<void*>(page), kRegisterPage);
}

void End::connect(const End& peer) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  attributes.qp_access_flags = apps::kAllAccess;
  attributes.qkey = kQkey;
  int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  mask |= service_ == Service::datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  require(ibv_modify_qp(qp_, &attributes, mask) == 0, "to INIT: {}", std::strerror(errno));

  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = IBV_MTU_1024;
  attributes.dest_qp_num = peer.qp_->qp_num;
  attributes.ah_attr = path_to(peer.device_);
  attributes.max_dest_rd_atomic = 4;
  attributes.min_rnr_timer = 1;
  mask = IBV_QP_STATE;
  if (service_ != Service::datagram) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  const bool is_reliable = type_of(service_) == IBV_QPT_RC;
  if (is_reliable) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  require(ibv_modify_qp(qp_, &attributes, mask) == 0, "to RTR: {}", std::strerror(errno));

  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = 8;
  attributes.retry_cnt = attributes.rnr_retry = 1;
  attributes.max_rd_atomic = 4;
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (is_reliable) mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  require(ibv_modify_qp(qp_, &attributes, mask) == 0, "to RTS: {}", std::strerror(errno));
}

int End::to_state(ibv_qp_state state) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  return ibv_modify_qp(qp_, &attributes, IBV_QP_STATE);
}

ibv_ah* End::address_of(const End& peer) {
  if (ah_ == nullptr) {
    ibv_ah_attr path = path_to(peer.device_);
    ah_ = ibv_create_ah(device_.pd(), &path);
    require(ah_ != nullptr, "ibv_create_ah: {}", std::strerror(errno));
  }
  return ah_;
}

void End::post(Chance& chance, const End& peer) {
  ibv_sge segments[2] = {{memory_.address(), chance.below(3000), memory_.lkey()},
                         {memory_.address(4096), chance.below(64), memory_.lkey()}};
  ibv_send_wr request{};
  request.sg_list = segments;
  request.num_sge = static_cast<int>(chance.below(3));
  request.send_flags = chance.once_in(2) ? IBV_SEND_SIGNALED : 0;
  if (service_ == Service::datagram) {
    segments[0].length %= 512;
    request.opcode = IBV_WR_SEND;
    request.wr.ud = {address_of(peer), peer.qp_->qp_num, kQkey};
  } else if (service_ == Service::unreliable) {
    request.opcode = chance.one_of({IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_SEND_WITH_IMM});
  } else {
    request.opcode = chance.one_of({IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND_WITH_IMM,
                                    IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_RDMA_WRITE_WITH_IMM});
  }
  if (request.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    segments[0].length = 8;
    request.num_sge = 1;
    request.wr.atomic = {peer.memory_.address(), 1, 0, peer.memory_.rkey()};
  } else if (service_ != Service::datagram) {
    request.wr.rdma = {peer.memory_.address(8192), peer.memory_.rkey()};
  }
  ibv_send_wr* refused = nullptr;
  ibv_post_send(qp_, &request, &refused);  // a full queue is none of its business
}

void End::post_receives(Chance& chance) {
  ibv_sge segment{memory_.address(3 * 4096), 4096, memory_.lkey()};
  ibv_recv_wr request{};
  request.sg_list = &segment;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  for (std::uint32_t left = chance.below(16); left != 0; --left) {
    if (srq_ == nullptr) {
      ibv_post_recv(qp_, &request, &refused);
    } else {
      ibv_post_srq_recv(srq_, &request, &refused);
    }
  }
}

}  // namespace urnic::mlx5_scribbler
