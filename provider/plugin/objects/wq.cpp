#include "provider/plugin/objects/wq.hpp"

#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

std::uint32_t create_flags(const ibv_wq_init_attr& attributes) {
  return (attributes.comp_mask & IBV_WQ_INIT_ATTR_FLAGS) != 0 ? attributes.create_flags : 0;
}

// 0 or the errno with which the attributes are refused (docs/rules/creation-flags.md).
int check(const ibv_wq_init_attr& attributes) {
  if ((attributes.comp_mask & ~std::uint32_t{IBV_WQ_INIT_ATTR_FLAGS}) != 0) return EOPNOTSUPP;
  if ((create_flags(attributes) & ~std::uint32_t{IBV_WQ_FLAGS_SCATTER_FCS}) != 0) return EOPNOTSUPP;
  const bool complete = attributes.wq_type == IBV_WQT_RQ && attributes.pd != nullptr &&
                        attributes.cq != nullptr && attributes.max_wr != 0;
  return complete ? 0 : EINVAL;
}

ibv_qp* create_queue(ibv_context* context, const ibv_wq_init_attr& attributes, ibv_qp_cap& given) {
  ibv_qp_init_attr_ex queue{};
  queue.send_cq = attributes.cq;
  queue.recv_cq = attributes.cq;
  queue.cap.max_recv_wr = attributes.max_wr;
  queue.cap.max_recv_sge = attributes.max_sge;
  queue.qp_type = IBV_QPT_RAW_PACKET;
  queue.comp_mask = IBV_QP_INIT_ATTR_PD;
  queue.pd = attributes.pd;
  if ((create_flags(attributes) & IBV_WQ_FLAGS_SCATTER_FCS) != 0) {
    queue.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    queue.create_flags = IBV_QP_CREATE_SCATTER_FCS;
  }
  ibv_qp* const made = create_work_queue(context, queue);
  given = queue.cap;
  return made;
}

int post_to(ibv_wq* wq, ibv_recv_wr* request, ibv_recv_wr** bad_request) {
  return post_receive(&wq_of(wq).queue->verbs.qp, request, bad_request);
}

// Brings the queue pair from RESET to RTR, where it receives.
int make_ready(ibv_qp& queue) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  if (const int error = modify_qp(&queue, &attributes, IBV_QP_STATE | IBV_QP_PORT)) return error;
  attributes.qp_state = IBV_QPS_RTR;
  return modify_qp(&queue, &attributes, IBV_QP_STATE);
}

int bring_to(ibv_wq& wq, ibv_wq_state state) {
  ibv_qp& queue = wq_of(&wq).queue->verbs.qp;
  ibv_qp_attr attributes{};
  switch (state) {
    case IBV_WQS_RESET:
      attributes.qp_state = IBV_QPS_RESET;
      return modify_qp(&queue, &attributes, IBV_QP_STATE);
    case IBV_WQS_RDY:
      if (wq.state == IBV_WQS_RDY) return 0;
      return wq.state == IBV_WQS_RESET ? make_ready(queue) : EINVAL;
    case IBV_WQS_ERR:
      if (wq.state == IBV_WQS_RESET) return EINVAL;
      attributes.qp_state = IBV_QPS_ERR;
      return modify_qp(&queue, &attributes, IBV_QP_STATE);
    default:
      return EINVAL;
  }
}

}  // namespace

ibv_wq* create_wq(ibv_context* context, ibv_wq_init_attr* attributes) {
  if (const int error = check(*attributes)) {
    errno = error;
    return nullptr;
  }
  auto* wq = create_object<Wq>();
  if (wq == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  ibv_qp_cap given{};
  ibv_qp* const queue = create_queue(context, *attributes, given);
  if (queue == nullptr) {
    destroy_object(wq);
    return nullptr;
  }
  wq->queue = &qp_of(queue);
  wq->verbs.context = context;
  wq->verbs.pd = attributes->pd;
  wq->verbs.cq = attributes->cq;
  wq->verbs.wq_num = queue->qp_num;
  wq->verbs.handle = queue->handle;
  wq->verbs.state = IBV_WQS_RESET;
  wq->verbs.wq_type = attributes->wq_type;
  wq->verbs.post_recv = post_to;
  attributes->max_wr = given.max_recv_wr;
  attributes->max_sge = given.max_recv_sge;
  return &wq->verbs;
}

int modify_wq(ibv_wq* wq, ibv_wq_attr* attributes) {
  constexpr std::uint32_t kKnown = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
  if ((attributes->attr_mask & ~kKnown) != 0) return EOPNOTSUPP;
  const bool believes = (attributes->attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0;
  if (believes && attributes->curr_wq_state != wq->state) return EINVAL;
  if ((attributes->attr_mask & IBV_WQ_ATTR_STATE) == 0) return 0;
  if (const int error = bring_to(*wq, attributes->wq_state)) return error;
  wq->state = attributes->wq_state;
  return 0;
}

int destroy_wq(ibv_wq* verbs) {
  Wq& wq = wq_of(verbs);
  if (wq.users != 0) return EBUSY;
  if (const int error = destroy_qp(&wq.queue->verbs.qp)) return error;
  destroy_object(&wq);
  return 0;
}

}  // namespace urnic::provider
