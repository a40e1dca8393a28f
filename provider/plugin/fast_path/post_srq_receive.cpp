#include <cerrno>

#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/objects/srq.hpp"
#include "provider/plugin/operations.hpp"
#include "provider/plugin/queues/receive_wqe.hpp"

namespace urnic::provider {
namespace {

// 0; EINVAL; ENOMEM if no slot is free.
int post_request(SharedReceiveSlots& receive, const ibv_recv_wr& request) {
  if (request.num_sge < 0 || static_cast<std::uint32_t>(request.num_sge) > receive.max_sge) return EINVAL;
  std::uint32_t slot;
  if (!receive.take(slot)) return ENOMEM;
  write_receive_wqe(receive.slot(slot), request);
  receive.wr_id(slot) = request.wr_id;
  receive.post(slot);
  return 0;
}

}  // namespace

int post_srq_receive(ibv_srq* verbs, ibv_recv_wr* request, ibv_recv_wr** bad_request) {
  Srq& srq = srq_of(verbs);
  int error = is_dead(*srq.context) ? EIO : 0;
  Lock lock(srq.receive.lock);
  for (; request != nullptr; request = request->next) {
    if (error == 0) error = post_request(srq.receive, *request);
    if (error != 0) {
      *bad_request = request;
      break;
    }
  }
  srq.receive.publish();
  return with_errno(error);
}

}  // namespace urnic::provider
