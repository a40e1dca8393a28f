#include <cerrno>

#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/operations.hpp"
#include "provider/plugin/queues/receive_wqe.hpp"

namespace urnic::provider {
namespace {

// Writes one request into the slot of `index`. 0; EINVAL; ENOMEM if the queue is full.
int write_request(Qp& qp, std::uint32_t index, const ibv_recv_wr& request) {
  if (request.num_sge < 0 || static_cast<std::uint32_t>(request.num_sge) > qp.receive.max_sge())
    return EINVAL;
  if (qp.receive.is_full_at(index)) return ENOMEM;
  write_receive_wqe(qp.receive.slot(index), request);
  qp.receive.wr_id(index) = request.wr_id;
  return 0;
}

// The device looks for receives itself, except in the error state, where it needs the doorbell
// (device_model/abi/queues.hpp: QueuePairIndices).
void ring_if_in_error(Qp& qp) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (qp.indices->in_error.load(std::memory_order_relaxed) != 0) ring_doorbell(*qp.context, qp.doorbell);
}

}  // namespace

int post_receive(ibv_qp* verbs, ibv_recv_wr* request, ibv_recv_wr** bad_request) {
  Qp& qp = qp_of(verbs);
  int error = 0;
  if (verbs->state == IBV_QPS_RESET || !has_receive_queue(*verbs)) error = EINVAL;
  if (is_dead(*qp.context)) error = EIO;
  if (error != 0) {
    *bad_request = request;
    return with_errno(error);
  }
  Lock lock(qp.receive.lock);
  const std::uint32_t begin = qp.receive.producer();
  std::uint32_t index = begin;
  for (; request != nullptr; request = request->next) {
    error = write_request(qp, index, *request);
    if (error != 0) {
      *bad_request = request;
      break;
    }
    ++index;
  }
  if (index != begin) {
    qp.receive.publish(index);
    ring_if_in_error(qp);
  }
  return with_errno(error);
}

}  // namespace urnic::provider
