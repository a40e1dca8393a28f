#include "provider/plugin/objects/qp.hpp"

#include <cerrno>

#include "device_model/abi/steering_messages.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/events.hpp"
#include "provider/plugin/objects/rss_qp.hpp"
#include "provider/plugin/objects/srq.hpp"
#include "provider/plugin/objects/xrcd.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

// The operations of the transport service (IBTA 9.4, table 38), as ibv_qp_create_send_ops_flags. 0: the
// device has no QPs of that type.
std::uint64_t send_operations(ibv_qp_type type, const Layout& layout) {
  constexpr std::uint64_t kSend = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
  constexpr std::uint64_t kLocal = IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
  constexpr std::uint64_t kWrite = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  switch (type) {
    case IBV_QPT_RC:
    case IBV_QPT_XRC_SEND:
      return kSend | kWrite | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
             IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | kLocal | IBV_QP_EX_WITH_SEND_WITH_INV |
             (has_atomic_write(layout) ? IBV_QP_EX_WITH_ATOMIC_WRITE : 0);
    case IBV_QPT_UC:
      return kSend | kWrite | kLocal;
    case IBV_QPT_UD:
      return kSend;
    case IBV_QPT_RAW_PACKET:
      return IBV_QP_EX_WITH_SEND;
    default:
      return 0;
  }
}

std::uint32_t create_flags(const ibv_qp_init_attr_ex& attributes) {
  return (attributes.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 ? attributes.create_flags : 0;
}

// 0 or the errno with which the attributes are refused (docs/rules/creation-flags.md).
int check(const ibv_qp_init_attr_ex& attributes, const Layout& layout) {
  constexpr std::uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
                                   IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if ((attributes.comp_mask & ~kKnown) != 0) return EOPNOTSUPP;
  const std::uint32_t flags = create_flags(attributes);
  if ((flags & ~std::uint32_t{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_SCATTER_FCS}) != 0)
    return EOPNOTSUPP;
  if ((flags & IBV_QP_CREATE_SCATTER_FCS) != 0 && attributes.qp_type != IBV_QPT_RAW_PACKET) return EOPNOTSUPP;
  const std::uint64_t operations = send_operations(attributes.qp_type, layout);
  if ((attributes.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 &&
      (attributes.send_ops_flags & ~operations) != 0) {
    return EOPNOTSUPP;
  }
  if (is_xrc_target(attributes.qp_type)) {
    const bool in_domain = (attributes.comp_mask & IBV_QP_INIT_ATTR_XRCD) != 0 && attributes.xrcd != nullptr;
    return in_domain ? 0 : EINVAL;
  }
  if (operations == 0) return EOPNOTSUPP;
  const bool needs_receive_cq = attributes.qp_type != IBV_QPT_XRC_SEND;
  if ((attributes.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attributes.pd == nullptr ||
      attributes.send_cq == nullptr || (needs_receive_cq && attributes.recv_cq == nullptr)) {
    return EINVAL;
  }
  return 0;
}

abi::CreateQpRequest request_for(const Qp& qp, const ibv_qp_init_attr_ex& attributes) {
  abi::CreateQpRequest request{};
  request.user_handle = reinterpret_cast<std::uintptr_t>(&qp);
  if (is_xrc_target(attributes.qp_type)) {
    request.xrcd = xrcd_of(attributes.xrcd).handle;
    return request;
  }
  request.pd = attributes.pd->handle;
  request.send_cq = attributes.send_cq->handle;
  request.receive_cq = attributes.recv_cq != nullptr ? attributes.recv_cq->handle : 0;
  request.srq = attributes.srq != nullptr ? attributes.srq->handle : 0;
  request.max_send_wr = attributes.cap.max_send_wr;
  // With an SRQ, the receive capacities are ignored (ibv_create_qp(3)).
  request.max_receive_wr = attributes.srq != nullptr ? 0 : attributes.cap.max_recv_wr;
  request.max_send_sge = attributes.cap.max_send_sge;
  request.max_receive_sge = attributes.srq != nullptr ? 0 : attributes.cap.max_recv_sge;
  request.max_inline_data = attributes.cap.max_inline_data;
  request.signal_all = attributes.sq_sig_all != 0;
  if ((create_flags(attributes) & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) != 0)
    request.flags |= abi::qp_block_self_multicast;
  if ((create_flags(attributes) & IBV_QP_CREATE_SCATTER_FCS) != 0) request.flags |= abi::qp_scatter_fcs;
  return request;
}

bool is_power_of_two(std::uint32_t value) { return value != 0 && (value & (value - 1)) == 0; }

// Whether `range` has room for the ring that the reply describes: a wrong reply must not cause a stray write.
bool is_ring(const abi::ArenaRange& range, std::uint32_t slots, std::uint32_t slot_size,
             std::uint64_t least_slot) {
  if (slots == 0) return true;
  return is_power_of_two(slots) && slot_size >= least_slot &&
         range.length >= std::uint64_t{slots} * slot_size;
}

bool is_consistent(const abi::CreateQpReply& reply) {
  using abi::ScatterGather;
  const std::uint64_t send_segments = std::uint64_t{reply.max_send_sge} * sizeof(ScatterGather);
  const std::uint64_t receive_segments = std::uint64_t{reply.max_receive_sge} * sizeof(ScatterGather);
  const std::uint64_t send_data =
      send_segments > reply.max_inline_data ? send_segments : reply.max_inline_data;
  return reply.doorbell < abi::kDoorbellsPerContext &&
         reply.indices.length >= sizeof(abi::QueuePairIndices) &&
         is_ring(reply.send_ring, reply.send_slots, reply.send_slot_size, sizeof(abi::SendWqe) + send_data) &&
         is_ring(reply.receive_ring, reply.receive_slots, reply.receive_slot_size,
                 sizeof(abi::ReceiveWqe) + receive_segments);
}

// Lists the QP by number for polls, and in `qps` for flush errors when the device dies. 0 or ENOMEM.
int enlist(Qp& qp) {
  Lock lock(qp.context->objects_lock);
  if (!qp.context->qps_by_number.insert(qp.verbs.qp.qp_num, &qp)) return ENOMEM;
  qp.context->qps.add(qp);
  return 0;
}

void remove_from_lists(Qp& qp) {
  Context& context = *qp.context;
  const std::uint32_t number = qp.verbs.qp.qp_num;
  Lock lock(context.objects_lock);
  context.qps.remove(qp);
  // The device may have given the number to another thread's QP already.
  if (context.qps_by_number.find(number) == &qp) context.qps_by_number.remove(number);
}

// 0 or an errno.
int attach(Qp& qp, const abi::CreateQpReply& reply, void* send_ring, void* receive_ring, void* indices) {
  ibv_pd* const pd = qp.verbs.qp.pd;
  const bool complete = indices != nullptr && (send_ring != nullptr || reply.send_slots == 0) &&
                        (receive_ring != nullptr || reply.receive_slots == 0);
  if (!complete || !is_consistent(reply)) return EIO;
  qp.indices = static_cast<abi::QueuePairIndices*>(indices);
  qp.doorbell = reply.doorbell;
  qp.max_inline_data = reply.max_inline_data;
  const bool attached =
      qp.send.attach(send_ring, reply.send_slots, reply.send_slot_size, reply.max_send_sge,
                     &qp.indices->send_producer, pd, MemoryUse::send_wr_ids) &&
      qp.receive.attach(receive_ring, reply.receive_slots, reply.receive_slot_size, reply.max_receive_sge,
                        &qp.indices->receive_producer, pd, MemoryUse::receive_wr_ids);
  return attached ? enlist(qp) : ENOMEM;
}

// Sets the members of `own.verbs`: the library sets none.
void initialise_verbs(Qp& own, const ibv_qp_init_attr_ex& attributes, std::uint32_t handle,
                      std::uint32_t qpn) {
  ibv_qp& qp = own.verbs.qp;
  qp.qp_context = attributes.qp_context;
  qp.pd = attributes.pd;
  qp.send_cq = attributes.send_cq;
  qp.recv_cq = attributes.recv_cq;
  qp.srq = attributes.srq;
  qp.handle = handle;
  qp.qp_num = qpn;
  qp.state = IBV_QPS_RESET;
  qp.qp_type = attributes.qp_type;
  qp.events_completed = 0;
  pthread_mutex_init(&qp.mutex, nullptr);
  pthread_cond_init(&qp.cond, nullptr);
  if ((attributes.comp_mask & IBV_QP_INIT_ATTR_XRCD) == 0) return;
  private_abi::QpTail& tail = qp_tail(own.verbs, *own.context->library->layout);
  tail.comp_mask |= private_abi::kQpHasXrcd;
  tail.xrcd = &xrcd_of(attributes.xrcd);
}

// 0 or an errno.
int create_on_device(Qp& qp, const ibv_qp_init_attr_ex& attributes, std::uint32_t type,
                     abi::CreateQpReply& reply) {
  ControlSession session(*qp.context);
  abi::CreateQpRequest request = request_for(qp, attributes);
  request.type = type;
  if (const int error = session.call(abi::ControlOpcode::create_qp, request, reply)) return error;
  initialise_verbs(qp, attributes, reply.handle, reply.qpn);
  if (is_xrc_target(attributes.qp_type)) return 0;
  void* send_ring = session.find(reply.send_ring);
  void* receive_ring = session.find(reply.receive_ring);
  void* indices = session.find(reply.indices);
  const int error = attach(qp, reply, send_ring, receive_ring, indices);
  if (error != 0) {
    abi::DestroyReply ignored;
    session.call(abi::ControlOpcode::destroy_qp, abi::HandleRequest{reply.handle, 0}, ignored);
  }
  return error;
}

ibv_qp_cap given_capabilities(const abi::CreateQpReply& reply) {
  return {reply.send_slots, reply.receive_slots, reply.max_send_sge, reply.max_receive_sge,
          reply.max_inline_data};
}

void free_queue_pair(Qp& qp) {
  qp.send.release();
  qp.receive.release();
  destroy_object(&qp);
}

void give_slot_back(void* context, const abi::Cqe& cqe) {
  if ((cqe.flags & abi::cqe_shared_receive) == 0) return;
  Srq* srq = static_cast<Context*>(context)->srqs_by_number.find(abi::shared_receive_queue_of(cqe));
  if (srq == nullptr) return;
  Lock lock(srq->receive.lock);
  srq->receive.give_back(cqe.wqe_index);
}

// Removes the QP's completions after the device has destroyed or reset the QP: no poll may find them any
// more. (An XRC target has none: its completions belong to the SRQs.)
void remove_completions(Qp& qp) {
  ibv_cq* const queues[] = {qp.verbs.qp.send_cq, qp.verbs.qp.recv_cq};
  for (ibv_cq* verbs : queues) {
    if (verbs == nullptr) continue;
    Cq& cq = cq_of(verbs);
    Lock lock(cq.lock);
    cq.ring.remove_completions_of(qp.verbs.qp.qp_num, give_slot_back, qp.context);
  }
}

void reset_queues(Qp& qp) {
  remove_completions(qp);
  Lock sends(qp.send.lock);
  Lock receives(qp.receive.lock);
  qp.send.reset();
  qp.receive.reset();
}

// `type` as in abi::CreateQpRequest.
ibv_qp* create(ibv_context* verbs, ibv_qp_init_attr_ex* attributes, std::uint32_t type) {
  const Layout& layout = *context_of(verbs).library->layout;
  int error = check(*attributes, layout);
  Qp* qp = error == 0 ? create_object<Qp>() : nullptr;
  if (error == 0 && qp == nullptr) error = ENOMEM;
  abi::CreateQpReply reply{};
  if (error == 0) {
    qp->context = &context_of(verbs);
    qp->verbs.qp.context = verbs;
    if (attributes->sq_sig_all != 0) qp->implied_flags = IBV_SEND_SIGNALED;
    error = create_on_device(*qp, *attributes, type, reply);
    if (error != 0) free_queue_pair(*qp);
  }
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  if ((attributes->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
    install_builders(qp->verbs.extended, layout);
    qp_tail(qp->verbs, layout).comp_mask |= private_abi::kQpIsExtended;
  }
  qp->ece = {reply.ece_vendor_id, reply.ece_options, 0};
  attributes->cap = given_capabilities(reply);
  if (is_xrc_target(attributes->qp_type)) return &qp->verbs.qp;
  hold(qp->verbs.qp.pd);
  if (is_single_threaded(qp->verbs.qp.pd)) {
    qp->send.lock.leave_out();
    qp->receive.lock.leave_out();
  }
  return &qp->verbs.qp;
}

}  // namespace

ibv_qp* create_qp_ex(ibv_context* verbs, ibv_qp_init_attr_ex* attributes) {
  if (asks_for_rss(*attributes)) return create_rss_qp(verbs, *attributes);
  return create(verbs, attributes, attributes->qp_type);
}

ibv_qp* create_work_queue(ibv_context* verbs, ibv_qp_init_attr_ex& attributes) {
  return create(verbs, &attributes, abi::kWorkQueue);
}

ibv_qp* open_qp(ibv_context* verbs, ibv_qp_open_attr* attributes) {
  constexpr std::uint32_t kNeeded = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  int error = 0;
  if ((attributes->comp_mask & kNeeded) != kNeeded) error = EINVAL;
  if (attributes->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED) error = EOPNOTSUPP;
  Qp* qp = error == 0 ? create_object<Qp>() : nullptr;
  if (error == 0 && qp == nullptr) error = ENOMEM;
  abi::HandleReply reply{};
  if (error == 0) {
    qp->context = &context_of(verbs);
    const abi::OpenQpRequest request{reinterpret_cast<std::uintptr_t>(qp), xrcd_of(attributes->xrcd).handle,
                                     attributes->qp_num, attributes->qp_type, 0};
    error = call(*qp->context, abi::ControlOpcode::open_qp, request, reply);
  }
  if (error != 0) {
    destroy_object(qp);
    errno = error;
    return nullptr;
  }
  ibv_qp_init_attr_ex as_created{};
  if ((attributes->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0) as_created.qp_context = attributes->qp_context;
  as_created.qp_type = attributes->qp_type;
  as_created.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  as_created.xrcd = attributes->xrcd;
  qp->verbs.qp.context = verbs;
  initialise_verbs(*qp, as_created, reply.handle, attributes->qp_num);
  qp->verbs.qp.state = IBV_QPS_UNKNOWN;
  return &qp->verbs.qp;
}

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  ibv_qp_init_attr_ex extended{};
  extended.qp_context = attributes->qp_context;
  extended.send_cq = attributes->send_cq;
  extended.recv_cq = attributes->recv_cq;
  extended.srq = attributes->srq;
  extended.cap = attributes->cap;
  extended.qp_type = attributes->qp_type;
  extended.sq_sig_all = attributes->sq_sig_all;
  extended.comp_mask = IBV_QP_INIT_ATTR_PD;
  extended.pd = pd;
  ibv_qp* qp = create_qp_ex(pd->context, &extended);
  if (qp != nullptr) attributes->cap = extended.cap;
  return qp;
}

namespace {

constexpr int kInitialisation = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

bool is_initialisation(const ibv_qp& qp, const ibv_qp_attr& attributes, int mask) {
  return (qp.state == IBV_QPS_RESET || qp.state == IBV_QPS_INIT) && mask == kInitialisation &&
         attributes.qp_state == IBV_QPS_INIT && attributes.pkey_index == 0 && attributes.port_num == 1;
}

// The device answers a rendezvous with a READ, from RTS on. The peer may send one as soon as the program says
// so.
bool reads_for_messages(const ibv_qp& qp) { return qp.srq != nullptr && srq_of(qp.srq).tags != nullptr; }

// RTR to RTS, with the ranges of IBTA 11.2.5.2.
bool is_start_of_requester(const ibv_qp& qp, const ibv_qp_attr& attributes, int mask) {
  if (qp.state != IBV_QPS_RTR || attributes.qp_state != IBV_QPS_RTS || reads_for_messages(qp)) return false;
  if (qp.qp_type == IBV_QPT_UC) return mask == (IBV_QP_STATE | IBV_QP_SQ_PSN);
  return mask == (IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                  IBV_QP_MAX_QP_RD_ATOMIC) &&
         attributes.timeout <= 31 && attributes.retry_cnt <= 7 && attributes.rnr_retry <= 7 &&
         attributes.max_rd_atomic <= abi::kMaxRdAtomic;
}

// What rdma_create_qp, rdma_accept and most programs ask for. The device refuses it only to a QP that is in
// error meanwhile, so nobody waits for an answer. All else, also what is wrong, the device decides.
bool needs_no_answer(const ibv_qp& qp, const ibv_qp_attr& attributes, int mask) {
  if (qp.qp_type != IBV_QPT_RC && qp.qp_type != IBV_QPT_UC) return false;
  return is_initialisation(qp, attributes, mask) || is_start_of_requester(qp, attributes, mask);
}

// 0 or an errno.
int send_postponed(ControlSession& session, Qp& qp) {
  if (!qp.postponed.is_there) return 0;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  attributes.qp_access_flags = qp.postponed.flags;
  const abi::ModifyQpRequest request{qp.verbs.qp.handle, kInitialisation, to_abi(attributes)};
  const int error = session.announce(abi::ControlOpcode::modify_qp_unanswered, request);
  if (error == 0) qp.postponed = {};
  return error;
}

// INIT to RTR takes access flags, too (IBTA 11.2.5.2).
int request_rtr(ControlSession& session, Qp& qp, abi::ModifyQpRequest& request) {
  if (qp.postponed.is_there && (request.mask & IBV_QP_ACCESS_FLAGS) == 0) {
    request.mask |= IBV_QP_ACCESS_FLAGS;
    request.attributes.access_flags = qp.postponed.flags;
  }
  abi::Empty reply;
  const int error = session.call(abi::ControlOpcode::modify_qp, request, reply);
  if (error == 0) qp.postponed = {};
  return error;
}

int request_change(Qp& qp, const ibv_qp_attr& attributes, int mask) {
  const ibv_qp& verbs = qp.verbs.qp;
  ControlSession session(*qp.context);
  const bool needs_none = needs_no_answer(verbs, attributes, mask);
  if (needs_none && verbs.state == IBV_QPS_INIT) {
    qp.postponed = {true, attributes.qp_access_flags};
    return is_dead(*qp.context) ? EIO : 0;
  }
  abi::ModifyQpRequest request{verbs.handle, static_cast<std::uint32_t>(mask), to_abi(attributes)};
  if (verbs.state == IBV_QPS_INIT && (mask & IBV_QP_STATE) != 0 && attributes.qp_state == IBV_QPS_RTR)
    return request_rtr(session, qp, request);
  if (const int error = send_postponed(session, qp)) return error;
  if (needs_none) return session.announce(abi::ControlOpcode::modify_qp_unanswered, request);
  abi::Empty reply;
  return session.call(abi::ControlOpcode::modify_qp, request, reply);
}

}  // namespace

int modify_qp(ibv_qp* verbs, ibv_qp_attr* attributes, int mask) {
  Qp& qp = qp_of(verbs);
  if (qp.rss_table != nullptr) return EOPNOTSUPP;  // an RSS QP has no state; its work queues have
  if (const int error = request_change(qp, *attributes, mask)) return error;
  if ((mask & IBV_QP_STATE) == 0) return 0;
  if (attributes->qp_state == IBV_QPS_RESET && !is_xrc_target(verbs->qp_type)) reset_queues(qp);
  verbs->state = attributes->qp_state;
  return 0;
}

int query_qp(ibv_qp* verbs, ibv_qp_attr* attributes, int, ibv_qp_init_attr* init_attributes) {
  if (qp_of(verbs).rss_table != nullptr) return EOPNOTSUPP;
  abi::QueryQpReply reply{};
  {
    ControlSession session(context_of(verbs->context));
    const abi::HandleRequest request{verbs->handle, 0};
    if (const int error = send_postponed(session, qp_of(verbs))) return error;
    if (const int error = session.call(abi::ControlOpcode::query_qp, request, reply)) return error;
  }
  from_abi(reply.attributes, *attributes);
  attributes->cap = {reply.max_send_wr, reply.max_receive_wr, reply.max_send_sge, reply.max_receive_sge,
                     reply.max_inline_data};
  *init_attributes = ibv_qp_init_attr{};
  init_attributes->qp_context = verbs->qp_context;
  init_attributes->send_cq = verbs->send_cq;
  init_attributes->recv_cq = verbs->recv_cq;
  init_attributes->srq = verbs->srq;
  init_attributes->cap = attributes->cap;
  init_attributes->qp_type = verbs->qp_type;
  init_attributes->sq_sig_all = reply.signal_all != 0;
  return 0;
}

int destroy_qp(ibv_qp* verbs) {
  Qp& qp = qp_of(verbs);
  if (qp.rss_table != nullptr) return destroy_rss_qp(qp);
  Context& context = *qp.context;
  abi::DestroyReply reply{};
  const int error =
      call(context, abi::ControlOpcode::destroy_qp, abi::HandleRequest{verbs->handle, 0}, reply);
  if (error != 0 && !is_dead(context)) return error;
  if (!is_xrc_target(verbs->qp_type)) {
    remove_from_lists(qp);
    remove_completions(qp);
  }
  settle_events(qp, error == 0 ? &reply : nullptr);
  if (verbs->pd != nullptr) let_go(verbs->pd);
  free_queue_pair(qp);
  return 0;
}

}  // namespace urnic::provider
