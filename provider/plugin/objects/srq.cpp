#include "provider/plugin/objects/srq.hpp"

#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/events.hpp"
#include "provider/plugin/objects/parent_domain.hpp"
#include "provider/plugin/objects/tag_completions.hpp"
#include "provider/plugin/objects/xrcd.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

std::uint32_t power_of_two_for(std::uint32_t value) {
  std::uint32_t power = 1;
  while (power < value && power != 0) power <<= 1;
  return power;
}

// Whether the ranges have room for the queue that the reply describes: a wrong reply must not cause a stray
// write.
bool is_queue(const abi::ArenaRange& slots, const abi::ArenaRange& posted, std::uint32_t count,
              std::uint32_t slot_size) {
  return count != 0 && (count & (count - 1)) == 0 && slots.length >= std::uint64_t{count} * slot_size &&
         posted.length >= std::uint64_t{count} * sizeof(std::uint32_t);
}

bool is_consistent(const abi::CreateSrqReply& reply) {
  const std::uint64_t least = sizeof(abi::ReceiveWqe) + reply.max_sge * sizeof(abi::ScatterGather);
  return is_queue(reply.slots, reply.posted, reply.slot_count, reply.slot_size) && reply.slot_size >= least &&
         reply.max_wr <= reply.slot_count && reply.indices.length >= sizeof(abi::SharedReceiveIndices);
}

// Sets the members of `verbs`: the library sets none.
void initialise_verbs(private_abi::Srq& verbs, ibv_pd* pd, void* srq_context,
                      const abi::CreateSrqReply& reply) {
  verbs.srq_number = reply.number;
  verbs.srq.context = pd->context;
  verbs.srq.srq_context = srq_context;
  verbs.srq.pd = pd;
  verbs.srq.handle = reply.handle;
  verbs.srq.events_completed = 0;
  pthread_mutex_init(&verbs.srq.mutex, nullptr);
  pthread_cond_init(&verbs.srq.cond, nullptr);
}

// 0 or an errno.
int attach(Srq& srq, const abi::CreateSrqReply& reply, void* slots, void* posted, void* indices) {
  if (slots == nullptr || posted == nullptr || indices == nullptr || !is_consistent(reply)) return EIO;
  if (!srq.receive.reserve(reply.slot_count)) return ENOMEM;
  srq.receive.attach(slots, static_cast<std::uint32_t*>(posted), reply.slot_count, reply.slot_size);
  srq.receive.use(&static_cast<abi::SharedReceiveIndices*>(indices)->producer);
  srq.receive.max_wr = reply.max_wr;
  srq.receive.max_sge = reply.max_sge;
  Lock lock(srq.context->objects_lock);
  return srq.context->srqs_by_number.insert(reply.number, &srq) ? 0 : ENOMEM;
}

// 0 or an errno.
int request_queue(ControlSession& session, Srq& srq, ibv_pd* pd, const ibv_srq_init_attr& attributes,
                  abi::CreateSrqReply& reply) {
  abi::CreateSrqRequest request{};
  request.user_handle = reinterpret_cast<std::uintptr_t>(&srq);
  request.pd = pd->handle;
  request.max_wr = attributes.attr.max_wr;
  request.max_sge = attributes.attr.max_sge;
  if (srq.verbs.type == IBV_SRQT_BASIC) return session.call(abi::ControlOpcode::create_srq, request, reply);
  const abi::CreateXrcSrqRequest of_domain{request, srq.verbs.xrcd->handle, srq.verbs.cq->handle};
  return session.call(abi::ControlOpcode::create_xrc_srq, of_domain, reply);
}

// 0 or an errno.
int create_on_device(Srq& srq, ibv_pd* pd, const ibv_srq_init_attr& attributes, abi::CreateSrqReply& reply) {
  ControlSession session(*srq.context);
  if (const int error = request_queue(session, srq, pd, attributes, reply)) return error;
  initialise_verbs(srq.verbs, pd, attributes.srq_context, reply);
  void* slots = session.find(reply.slots);
  void* posted = session.find(reply.posted);
  void* indices = session.find(reply.indices);
  const int error = attach(srq, reply, slots, posted, indices);
  if (error != 0) {
    abi::DestroyReply ignored;
    session.call(abi::ControlOpcode::destroy_srq, abi::HandleRequest{reply.handle, 0}, ignored);
  }
  return error;
}

// Makes the SRQ's number unknown to polls.
void remove_number(Srq& srq) {
  Lock lock(srq.context->objects_lock);
  // The device may have given the number to another thread's SRQ already.
  SrqTable& srqs = srq.context->srqs_by_number;
  if (srqs.find(srq.verbs.srq_number) == &srq) srqs.remove(srq.verbs.srq_number);
}

void free_queue(Srq& srq) {
  free_tag_matching(srq.tags);
  srq.receive.release();
  destroy_object(&srq);
}

// `xrcd` and `cq` are those of an XRC SRQ; for a basic SRQ both are null.
ibv_srq* create(ibv_pd* pd, ibv_srq_init_attr* attributes, ibv_xrcd* xrcd, ibv_cq* cq) {
  auto* srq = create_object<Srq>();
  if (srq == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  srq->context = &context_of(pd->context);
  srq->verbs.type = xrcd != nullptr ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
  srq->verbs.xrcd = xrcd != nullptr ? &xrcd_of(xrcd) : nullptr;
  srq->verbs.cq = cq;
  abi::CreateSrqReply reply{};
  if (const int error = create_on_device(*srq, pd, *attributes, reply)) {
    free_queue(*srq);
    errno = error;
    return nullptr;
  }
  attributes->attr.max_wr = reply.max_wr;
  attributes->attr.max_sge = reply.max_sge;
  hold(pd);
  return &srq->verbs.srq;
}

// 0 or the errno with which the attributes are refused.
int check(const ibv_srq_init_attr_ex& attributes) {
  constexpr std::uint32_t kOfDomain = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  const std::uint32_t given = attributes.comp_mask;
  if (given >= IBV_SRQ_INIT_ATTR_RESERVED) return EOPNOTSUPP;
  const bool has_type = (given & IBV_SRQ_INIT_ATTR_TYPE) != 0;
  const ibv_srq_type type = has_type ? attributes.srq_type : IBV_SRQT_BASIC;
  if (type != IBV_SRQT_BASIC && type != IBV_SRQT_XRC) return EOPNOTSUPP;
  if ((given & IBV_SRQ_INIT_ATTR_PD) == 0 || attributes.pd == nullptr) return EINVAL;
  if (type == IBV_SRQT_BASIC) return 0;
  const bool complete =
      (given & kOfDomain) == kOfDomain && attributes.xrcd != nullptr && attributes.cq != nullptr;
  return complete ? 0 : EINVAL;
}

}  // namespace

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  return create(pd, attributes, nullptr, nullptr);
}

ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* attributes) {
  const bool has_type = (attributes->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0;
  if (has_type && attributes->srq_type == IBV_SRQT_TM) return create_tag_matching_srq(attributes);
  if (const int error = check(*attributes)) {
    errno = error;
    return nullptr;
  }
  const bool of_domain = has_type && attributes->srq_type == IBV_SRQT_XRC;
  ibv_srq_init_attr basic{attributes->srq_context, attributes->attr};
  ibv_srq* srq = create(attributes->pd, &basic, of_domain ? attributes->xrcd : nullptr,
                        of_domain ? attributes->cq : nullptr);
  attributes->attr = basic.attr;
  return srq;
}

// Only an XRC SRQ has a number that peers use.
int get_srq_number(ibv_srq* verbs, std::uint32_t* number) {
  const Srq& srq = srq_of(verbs);
  if (srq.verbs.type != IBV_SRQT_XRC) return EINVAL;
  *number = srq.verbs.srq_number;
  return 0;
}

// Under the queue's lock, so that no thread posts or frees a slot while the device moves the queue.
int modify_srq(ibv_srq* verbs, ibv_srq_attr* attributes, int mask) {
  Srq& srq = srq_of(verbs);
  SharedReceiveSlots& receive = srq.receive;
  Lock lock(receive.lock);
  if ((mask & IBV_SRQ_MAX_WR) != 0) {
    // Too small for the outstanding work requests (IBTA 11.2.3.3).
    if (attributes->max_wr < receive.in_use()) return EINVAL;
    const std::uint32_t wanted = power_of_two_for(attributes->max_wr);
    if (wanted > receive.slot_count() && !receive.reserve(wanted)) return ENOMEM;
  }
  const abi::ModifySrqRequest request{verbs->handle, static_cast<std::uint32_t>(mask), attributes->max_wr,
                                      attributes->srq_limit};
  abi::ModifySrqReply reply{};
  ControlSession session(*srq.context);
  if (const int error = session.call(abi::ControlOpcode::modify_srq, request, reply)) return error;
  if (reply.slot_count != receive.slot_count()) {
    void* slots = session.find(reply.slots);
    void* posted = session.find(reply.posted);
    if (slots == nullptr || posted == nullptr || reply.slot_count > power_of_two_for(attributes->max_wr) ||
        !is_queue(reply.slots, reply.posted, reply.slot_count, receive.slot_size())) {
      return EIO;
    }
    receive.attach(slots, static_cast<std::uint32_t*>(posted), reply.slot_count, receive.slot_size());
  }
  receive.max_wr = reply.max_wr;
  return 0;
}

int query_srq(ibv_srq* verbs, ibv_srq_attr* attributes) {
  abi::QuerySrqReply reply{};
  const abi::HandleRequest request{verbs->handle, 0};
  if (const int error = call(context_of(verbs->context), abi::ControlOpcode::query_srq, request, reply)) {
    return error;
  }
  *attributes = {reply.max_wr, reply.max_sge, reply.limit};
  return 0;
}

int destroy_srq(ibv_srq* verbs) {
  Srq& srq = srq_of(verbs);
  Context& context = *srq.context;
  abi::DestroyReply reply{};
  const int error =
      call(context, abi::ControlOpcode::destroy_srq, abi::HandleRequest{verbs->handle, 0}, reply);
  if (error != 0 && !is_dead(context)) return error;
  if (srq.verbs.cq != nullptr) {
    // The SRQ's completions stay in this CQ. Under the CQ's lock no poll uses the SRQ, which is freed below.
    Lock polls(cq_of(srq.verbs.cq).lock);
    remove_number(srq);
  } else {
    remove_number(srq);
  }
  settle_events(srq, error == 0 ? &reply : nullptr);
  let_go(verbs->pd);
  free_queue(srq);
  return 0;
}

}  // namespace urnic::provider
