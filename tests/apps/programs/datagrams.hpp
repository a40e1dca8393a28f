// A queue pair for datagrams, ready to send.
#pragma once

#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {

inline constexpr std::uint32_t kQkey = 0x12345;
inline constexpr std::size_t kGrh = 40;
inline constexpr std::size_t kReceived = 8192;  // where in its memory a QP receives

struct AhDeleter {
  void operator()(ibv_ah* ah) const { ibv_destroy_ah(ah); }
};
using AhOwner = std::unique_ptr<ibv_ah, AhDeleter>;

inline ibv_gid gid_of(const Device& device, int index) {
  ibv_gid gid{};
  require(ibv_query_gid(device.context(), 1, index, &gid) == 0, "{}: no GID {}", device.name(), index);
  return gid;
}

// A QP in RTS with memory of its own.
class Datagrams {
 public:
  // `create_flags`: ibv_qp_create_flags.
  explicit Datagrams(const Device& device, std::uint32_t qkey = kQkey, std::uint32_t create_flags = 0)
      : device_(device), memory_(device.pd(), 16384) {
    cq_.reset(ibv_create_cq(device.context(), 64, nullptr, nullptr, 0));
    ibv_qp_init_attr_ex attributes{};
    attributes.send_cq = attributes.recv_cq = cq_.get();
    attributes.cap = {16, 16, 1, 1, 0};
    attributes.qp_type = IBV_QPT_UD;
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
    attributes.pd = device.pd();
    if (create_flags != 0) attributes.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attributes.create_flags = create_flags;
    qp_.reset(ibv_create_qp_ex(device.context(), &attributes));
    require(qp_ != nullptr, "{}: no datagram QP: {}", device.name(), std::strerror(errno));
    ibv_qp_attr step{};
    step.port_num = 1;
    step.qkey = qkey;
    to(step, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    to(step, IBV_QPS_RTR, 0);
    to(step, IBV_QPS_RTS, IBV_QP_SQ_PSN);
  }

  ibv_qp* qp() const { return qp_.get(); }
  ibv_cq* cq() const { return cq_.get(); }
  const Device& device() const { return device_; }
  const Memory& memory() const { return memory_; }
  ibv_grh* grh() const { return reinterpret_cast<ibv_grh*>(memory_.data() + kReceived); }
  std::span<std::byte> message(std::size_t length) const { return memory_.bytes(kReceived + kGrh, length); }

  AhOwner handle_to(const ibv_gid& gid, int source_index) const {
    ibv_ah_attr attributes{};
    attributes.is_global = 1;
    attributes.port_num = 1;
    attributes.grh.dgid = gid;
    attributes.grh.sgid_index = static_cast<std::uint8_t>(source_index);
    attributes.grh.hop_limit = 3;
    return AhOwner(ibv_create_ah(device_.pd(), &attributes));
  }

  void post_receive(std::size_t length = 4096) {
    ibv_sge segment = memory_.segment(kReceived, length);
    ibv_recv_wr request{};
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    require(ibv_post_recv(qp(), &request, &bad) == 0, "ibv_post_recv");
  }

  // Sends the beginning of its memory; the status of the completion.
  ibv_wc_status send(ibv_ah* to, std::uint32_t qpn, std::size_t length, std::uint32_t qkey = kQkey) {
    ibv_sge segment = memory_.segment(0, length);
    ibv_send_wr request = signaled_request(IBV_WR_SEND, segment);
    request.wr.ud = {to, qpn, qkey};
    ibv_send_wr* bad = nullptr;
    require(ibv_post_send(qp(), &request, &bad) == 0, "ibv_post_send");
    return wait_completion(cq()).status;
  }

 private:
  void to(ibv_qp_attr& attributes, ibv_qp_state state, int mask) {
    attributes.qp_state = state;
    const int error = ibv_modify_qp(qp(), &attributes, mask | IBV_QP_STATE);
    require(error == 0, "{}: to state {}: {}", device_.name(), static_cast<int>(state), std::strerror(error));
  }

  const Device& device_;
  Memory memory_;
  CqOwner cq_;
  QpOwner qp_;
};

}  // namespace urnic::apps
