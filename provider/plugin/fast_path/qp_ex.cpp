// The builders of ibv_qp_ex. ibv_wr_start takes the send queue's lock. ibv_wr_complete hands the device all
// requests built since then, or none if one of them failed (ibv_wr_post(3)).
#include <cerrno>

#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/queues/send_wqe.hpp"

namespace urnic::provider {
namespace {

void note_error(Qp& qp, int error) {
  if (qp.builder.error == 0) qp.builder.error = error;
}

void start(ibv_qp_ex* verbs) {
  Qp& qp = qp_of(verbs);
  qp.send.lock.lock();
  qp.builder = {qp.send.producer(), nullptr, 0};
  if (!takes_sends(qp)) note_error(qp, EINVAL);
  if (is_dead(*qp.context)) note_error(qp, EIO);
}

int complete(ibv_qp_ex* verbs) {
  Qp& qp = qp_of(verbs);
  const int error = qp.builder.error;
  if (error == 0 && qp.builder.next_index != qp.send.producer()) publish_sends(qp, qp.builder.next_index);
  qp.send.lock.unlock();
  return with_errno(error);
}

void abort(ibv_qp_ex* verbs) { qp_of(verbs).send.lock.unlock(); }

// Begins the next WQE; null after an error.
abi::SendWqe* begin(ibv_qp_ex* verbs, ibv_wr_opcode opcode) {
  Qp& qp = qp_of(verbs);
  qp.builder.wqe = nullptr;
  if (qp.builder.error == 0 && qp.send.is_full_at(qp.builder.next_index)) note_error(qp, ENOMEM);
  if (qp.builder.error != 0) return nullptr;
  const std::uint32_t index = qp.builder.next_index++;
  qp.send.wr_id(index) = verbs->wr_id;
  qp.builder.wqe = &begin_wqe(qp.send.slot(index), opcode, verbs->wr_flags | qp.implied_flags);
  return qp.builder.wqe;
}

abi::SendWqe* begin_remote(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t address) {
  abi::SendWqe* wqe = begin(qp, opcode);
  if (wqe == nullptr) return nullptr;
  wqe->rkey = rkey;
  wqe->remote_address = address;
  return wqe;
}

void begin_with_word(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t immediate_or_rkey) {
  abi::SendWqe* wqe = begin(qp, opcode);
  if (wqe != nullptr) wqe->immediate_or_rkey = immediate_or_rkey;
}

void rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_WRITE, rkey, address);
}

void rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 immediate) {
  abi::SendWqe* wqe = begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address);
  if (wqe != nullptr) wqe->immediate_or_rkey = immediate;
}

void rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_READ, rkey, address);
}

void compare_swap(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t compare,
                  std::uint64_t swap) {
  abi::SendWqe* wqe = begin_remote(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address);
  if (wqe == nullptr) return;
  wqe->compare_add = compare;
  wqe->swap = swap;
}

void fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t add) {
  abi::SendWqe* wqe = begin_remote(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address);
  if (wqe != nullptr) wqe->compare_add = add;
}

// Builds the whole request, with its data: no setter follows.
void atomic_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, const void* data) {
  constexpr std::size_t kLength = sizeof(std::uint64_t);
  abi::SendWqe* wqe = begin_remote(qp, IBV_WR_ATOMIC_WRITE, rkey, address);
  if (wqe == nullptr) return;
  wqe->flags |= abi::send_inline;
  if (!add_inline_data(*wqe, data, kLength, qp_of(qp).max_inline_data)) note_error(qp_of(qp), EINVAL);
}

void send(ibv_qp_ex* qp) { begin(qp, IBV_WR_SEND); }
void send_imm(ibv_qp_ex* qp, __be32 immediate) { begin_with_word(qp, IBV_WR_SEND_WITH_IMM, immediate); }
void send_inv(ibv_qp_ex* qp, std::uint32_t rkey) { begin_with_word(qp, IBV_WR_SEND_WITH_INV, rkey); }
void local_inv(ibv_qp_ex* qp, std::uint32_t rkey) { begin_with_word(qp, IBV_WR_LOCAL_INV, rkey); }

void bind(ibv_qp_ex* qp, ibv_mw* window, std::uint32_t rkey, const ibv_mw_bind_info* info) {
  abi::SendWqe* wqe = begin(qp, IBV_WR_BIND_MW);
  if (wqe != nullptr) set_bind(*wqe, *window, rkey, *info);
}

// The WQE for a setter to fill; null if no builder came before it, or if one failed.
abi::SendWqe* under_construction(Qp& qp) { return qp.builder.error == 0 ? qp.builder.wqe : nullptr; }

void set_sge_list(ibv_qp_ex* verbs, std::size_t count, const ibv_sge* segments) {
  Qp& qp = qp_of(verbs);
  abi::SendWqe* wqe = under_construction(qp);
  if (wqe == nullptr) return;
  if (count > qp.send.max_sge()) return note_error(qp, EINVAL);
  wqe->sge_count = 0;
  for (std::size_t i = 0; i < count; ++i) add_segment(*wqe, segments[i]);
}

void set_ud_addr(ibv_qp_ex* verbs, ibv_ah* ah, std::uint32_t qpn, std::uint32_t qkey) {
  Qp& qp = qp_of(verbs);
  abi::SendWqe* wqe = under_construction(qp);
  if (wqe == nullptr) return;
  if (ah == nullptr) return note_error(qp, EINVAL);
  set_destination(*wqe, ah, qpn, qkey);
}

void set_xrc_srqn(ibv_qp_ex* verbs, std::uint32_t number) {
  abi::SendWqe* wqe = under_construction(qp_of(verbs));
  if (wqe != nullptr) set_remote_srq(*wqe, number);
}

void set_sge(ibv_qp_ex* verbs, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
  const ibv_sge segment{address, length, lkey};
  set_sge_list(verbs, 1, &segment);
}

void set_inline_data_list(ibv_qp_ex* verbs, std::size_t count, const ibv_data_buf* buffers) {
  Qp& qp = qp_of(verbs);
  abi::SendWqe* wqe = under_construction(qp);
  if (wqe == nullptr) return;
  if (!may_be_inline(wqe->opcode)) return note_error(qp, EINVAL);
  wqe->flags |= abi::send_inline;
  wqe->inline_length = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!add_inline_data(*wqe, buffers[i].addr, buffers[i].length, qp.max_inline_data)) {
      return note_error(qp, EINVAL);
    }
  }
}

void set_inline_data(ibv_qp_ex* verbs, void* address, std::size_t length) {
  const ibv_data_buf buffer{address, length};
  set_inline_data_list(verbs, 1, &buffer);
}

}  // namespace

void install_builders(ibv_qp_ex& qp, const Layout& layout) {
  qp.wr_start = start;
  qp.wr_complete = complete;
  qp.wr_abort = abort;
  qp.wr_rdma_write = rdma_write;
  qp.wr_rdma_write_imm = rdma_write_imm;
  qp.wr_rdma_read = rdma_read;
  qp.wr_atomic_cmp_swp = compare_swap;
  qp.wr_atomic_fetch_add = fetch_add;
  // In older releases the QP's tail is in its place.
  if (has_atomic_write(layout)) qp.wr_atomic_write = atomic_write;
  qp.wr_send = send;
  qp.wr_send_imm = send_imm;
  qp.wr_send_inv = send_inv;
  qp.wr_local_inv = local_inv;
  qp.wr_bind_mw = bind;
  qp.wr_set_ud_addr = set_ud_addr;
  qp.wr_set_xrc_srqn = set_xrc_srqn;
  qp.wr_set_sge = set_sge;
  qp.wr_set_sge_list = set_sge_list;
  qp.wr_set_inline_data = set_inline_data;
  qp.wr_set_inline_data_list = set_inline_data_list;
}

}  // namespace urnic::provider
