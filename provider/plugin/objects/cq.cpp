#include "provider/plugin/objects/cq.hpp"

#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/events.hpp"
#include "provider/plugin/objects/parent_domain.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

bool is_ring(const abi::ArenaRange& range, std::uint32_t entries) {
  return entries != 0 && (entries & (entries - 1)) == 0 &&
         range.length >= std::uint64_t{entries} * sizeof(abi::Cqe);
}

// 0 or an errno.
int create_on_device(Cq& cq, const abi::CreateCqRequest& request) {
  ControlSession session(*cq.context);
  abi::CreateCqReply reply{};
  if (const int error = session.call(abi::ControlOpcode::create_cq, request, reply)) return error;
  void* ring = session.find(reply.ring);
  void* indices = session.find(reply.indices);
  if (ring == nullptr || indices == nullptr || !is_ring(reply.ring, reply.entries) ||
      reply.indices.length < sizeof(abi::CompletionQueueIndices)) {
    abi::DestroyReply ignored;
    session.call(abi::ControlOpcode::destroy_cq, abi::HandleRequest{reply.handle, 0}, ignored);
    return ENOMEM;
  }
  cq.ring.attach(static_cast<abi::Cqe*>(ring), reply.entries,
                 static_cast<abi::CompletionQueueIndices*>(indices));
  cq.verbs.cq.handle = reply.handle;
  cq.verbs.cq.cqe = static_cast<int>(reply.entries);
  return 0;
}

// 0 or an errno.
int join_channel(Cq& cq, const ibv_comp_channel* channel) {
  if (channel == nullptr) return 0;
  Lock lock(cq.context->objects_lock);
  cq.channel = cq.context->channels.acquire(*channel);
  return cq.channel != nullptr ? 0 : errno;
}

void free_queue(Cq& cq) {
  {
    Lock lock(cq.context->objects_lock);
    cq.context->channels.release(cq.channel);
  }
  destroy_object(&cq);
}

bool is_used_by_a_qp(Cq& cq) {
  Lock lock(cq.context->objects_lock);
  for (Qp* qp = cq.context->qps.first(); qp != nullptr; qp = qp->next) {
    if (qp->verbs.qp.send_cq == &cq.verbs.cq || qp->verbs.qp.recv_cq == &cq.verbs.cq) return true;
  }
  return false;
}

}  // namespace

Cq* create_completion_queue(ibv_context* verbs, std::uint32_t entries, ibv_comp_channel* channel,
                            std::uint32_t completion_vector, std::uint32_t flags) {
  Context& context = context_of(verbs);
  auto* cq = create_object<Cq>();
  if (cq == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  cq->context = &context;
  int error = join_channel(*cq, channel);
  const std::uint64_t inode = cq->channel != nullptr ? cq->channel->inode : 0;
  if (error == 0) {
    error = create_on_device(
        *cq, {reinterpret_cast<std::uintptr_t>(cq), inode, entries, completion_vector, flags, 0});
  }
  if (error != 0) {
    free_queue(*cq);
    errno = error;
    return nullptr;
  }
  Lock lock(context.objects_lock);
  context.cqs.add(*cq);
  return cq;
}

ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel, int completion_vector) {
  if (entries <= 0 || completion_vector < 0 || completion_vector >= context->num_comp_vectors) {
    errno = EINVAL;
    return nullptr;
  }
  Cq* cq = create_completion_queue(context, static_cast<std::uint32_t>(entries), channel,
                                   static_cast<std::uint32_t>(completion_vector), 0);
  return cq != nullptr ? &cq->verbs.cq : nullptr;
}

int resize_cq(ibv_cq* verbs, int entries) {
  if (entries <= 0) return EINVAL;
  Cq& cq = cq_of(verbs);
  // Under the lock, so that no thread polls while the device moves unread CQEs into the new ring.
  Lock lock(cq.lock);
  cq.ring.publish();
  ControlSession session(*cq.context);
  abi::ResizeCqReply reply{};
  const abi::ResizeCqRequest request{verbs->handle, static_cast<std::uint32_t>(entries)};
  if (const int error = session.call(abi::ControlOpcode::resize_cq, request, reply)) return error;
  void* ring = session.find(reply.ring);
  if (ring == nullptr || !is_ring(reply.ring, reply.entries)) return EIO;
  cq.ring.attach(static_cast<abi::Cqe*>(ring), reply.entries, &cq.ring.indices());
  cq.ring.publish();
  verbs->cqe = static_cast<int>(reply.entries);
  return 0;
}

int destroy_cq(ibv_cq* verbs) {
  Cq& cq = cq_of(verbs);
  if (is_used_by_a_qp(cq)) return EBUSY;
  abi::DestroyReply reply{};
  const int error =
      call(*cq.context, abi::ControlOpcode::destroy_cq, abi::HandleRequest{verbs->handle, 0}, reply);
  if (error != 0 && !is_dead(*cq.context)) return error;
  {
    Lock lock(cq.context->objects_lock);
    cq.context->cqs.remove(cq);
  }
  settle_events(cq, error == 0 ? &reply : nullptr);
  if (cq.parent_domain != nullptr) let_go(cq.parent_domain);
  free_queue(cq);
  return 0;
}

}  // namespace urnic::provider
