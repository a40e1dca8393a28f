#include <cerrno>

#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/operations.hpp"
#include "provider/plugin/queues/send_wqe.hpp"

namespace urnic::provider {
namespace {

// A datagram needs an address handle. The checksums of a raw frame are the program's: IBV_SEND_IP_CSUM is
// refused.
bool is_addressed(const Qp& qp, const ibv_send_wr& request) {
  if (is_datagram(qp)) return request.wr.ud.ah != nullptr;
  const bool is_raw = qp.verbs.qp.qp_type == IBV_QPT_RAW_PACKET;
  return !is_raw || (request.send_flags & IBV_SEND_IP_CSUM) == 0;
}

// 0 or the errno of a request that cannot be posted. Errors that only execution can show, the device reports.
int check(const Qp& qp, const ibv_send_wr& request) {
  if (request.opcode > IBV_WR_SEND_WITH_INV) return EINVAL;
  if (request.num_sge < 0) return EINVAL;
  if (qp.verbs.qp.qp_type >= IBV_QPT_UD && !is_addressed(qp, request)) return EINVAL;
  const bool is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  if (is_inline) return may_be_inline(static_cast<std::uint8_t>(request.opcode)) ? 0 : EINVAL;
  if (static_cast<std::uint32_t>(request.num_sge) > qp.send.max_sge()) return EINVAL;
  const bool is_bind = request.opcode == IBV_WR_BIND_MW;
  return is_bind && (request.bind_mw.mw == nullptr || request.num_sge != 0) ? EINVAL : 0;
}

void set_operation(abi::SendWqe& wqe, const ibv_send_wr& request) {
  switch (request.opcode) {
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      wqe.immediate_or_rkey = request.imm_data;
      [[fallthrough]];
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      wqe.remote_address = request.wr.rdma.remote_addr;
      wqe.rkey = request.wr.rdma.rkey;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      wqe.remote_address = request.wr.atomic.remote_addr;
      wqe.rkey = request.wr.atomic.rkey;
      wqe.compare_add = request.wr.atomic.compare_add;
      wqe.swap = request.wr.atomic.swap;
      break;
    case IBV_WR_SEND_WITH_IMM:
      wqe.immediate_or_rkey = request.imm_data;
      break;
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_LOCAL_INV:
      wqe.immediate_or_rkey = request.invalidate_rkey;
      break;
    case IBV_WR_BIND_MW:
      set_bind(wqe, *request.bind_mw.mw, request.bind_mw.rkey, request.bind_mw.bind_info);
      break;
    default:
      break;
  }
}

// False: more inline data than the QP takes.
bool set_data(abi::SendWqe& wqe, const ibv_send_wr& request, std::uint32_t max_inline) {
  const bool is_inline = (request.send_flags & IBV_SEND_INLINE) != 0;
  if (is_inline) wqe.flags |= abi::send_inline;
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& segment = request.sg_list[i];
    if (!is_inline) {
      add_segment(wqe, segment);
    } else if (!add_inline_data(wqe, reinterpret_cast<const void*>(segment.addr), segment.length,
                                max_inline)) {
      return false;
    }
  }
  return true;
}

// Writes one request into the slot of `index`. 0; EINVAL; ENOMEM if the queue is full.
int write_request(Qp& qp, std::uint32_t index, const ibv_send_wr& request) {
  if (const int error = check(qp, request)) return error;
  if (qp.send.is_full_at(index)) return ENOMEM;
  abi::SendWqe& wqe = begin_wqe(qp.send.slot(index), request.opcode, request.send_flags | qp.implied_flags);
  set_operation(wqe, request);
  if (is_datagram(qp)) {
    set_destination(wqe, request.wr.ud.ah, request.wr.ud.remote_qpn, request.wr.ud.remote_qkey);
  }
  if (is_xrc_send(qp)) set_remote_srq(wqe, request.qp_type.xrc.remote_srqn);
  if (!set_data(wqe, request, qp.max_inline_data)) return EINVAL;
  qp.send.wr_id(index) = request.wr_id;
  return 0;
}

}  // namespace

int post_send(ibv_qp* verbs, ibv_send_wr* request, ibv_send_wr** bad_request) {
  Qp& qp = qp_of(verbs);
  int error = 0;
  if (!takes_sends(qp) || is_xrc_target(verbs->qp_type)) error = EINVAL;
  if (is_dead(*qp.context)) error = EIO;
  if (error != 0) {
    *bad_request = request;
    return with_errno(error);
  }
  Lock lock(qp.send.lock);
  const std::uint32_t begin = qp.send.producer();
  std::uint32_t index = begin;
  for (; request != nullptr; request = request->next) {
    error = write_request(qp, index, *request);
    if (error != 0) {
      *bad_request = request;
      break;
    }
    ++index;
  }
  if (index != begin) publish_sends(qp, index);
  return with_errno(error);
}

}  // namespace urnic::provider
