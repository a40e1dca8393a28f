// create_srq, create_xrc_srq, modify_srq, query_srq, destroy_srq
#include <infiniband/verbs.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/queue_making.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"

namespace urnic::control {
namespace {

bool is_valid_srq_size(std::uint32_t requests) { return requests >= 1 && requests <= limits::kMaxSrqWr; }

// Allocates slots and the ring of their numbers. True: done. False: did a portion of the work.
bool allocate_queue(ArenaAllocator& arenas, std::uint32_t slot_count, std::uint32_t slot_size,
                    ArenaBlock& slots, ArenaBlock& posted) {
  const std::uint64_t slot_bytes = std::uint64_t{slot_count} * slot_size;
  const std::uint64_t posted_bytes = std::uint64_t{slot_count} * sizeof(std::uint32_t);
  if (!arenas.prepare({slot_bytes, posted_bytes})) return false;
  slots = arenas.allocate(slot_bytes);
  posted = arenas.allocate(posted_bytes);
  return true;
}

// In the context's arenas, as abi/queues.hpp lays it out.
int place_srq(ArenaAllocator& arenas, SharedReceiveQueue& srq, engine::SharedReceiveQueueConfig& config) {
  srq.slot_count = std::bit_ceil(srq.max_wr);
  srq.slot_size = static_cast<std::uint32_t>(
      std::bit_ceil(sizeof(abi::ReceiveWqe) + srq.max_sge * sizeof(abi::ScatterGather)));
  srq.max_wr = srq.slot_count;
  if (!allocate_queue(arenas, srq.slot_count, srq.slot_size, srq.slots, srq.posted)) return kNotYet;
  srq.indices = arenas.allocate(sizeof(abi::SharedReceiveIndices));
  config.ring = {.slots = srq.slots.data(),
                 .posted = srq.posted.as<std::uint32_t>(),
                 .slot_count = srq.slot_count,
                 .slot_size = srq.slot_size,
                 .producer = &srq.indices.as<abi::SharedReceiveIndices>()->producer};
  return 0;
}

engine::SharedReceiveQueueConfig config_of(Session& session, const SharedReceiveQueue& srq) {
  return {
      .device = &session.device.device->resources(),
      .pd = srq.pd->id,
      .async_events = &session.context->async_events(),
      .user_handle = srq.user_handle,
      .xrc_domain = srq.xrcd != nullptr ? &srq.xrcd->domain->device_end() : nullptr,
      .cq = srq.cq != nullptr ? srq.cq->queue.get() : nullptr,
      .several_processes = &session.context->several_processes(),
  };
}

bool install(Session& session, SharedReceiveQueue& srq) {
  bool installed = false;
  session.fabric.engine(session.device).execute([&] { installed = srq.queue->install(); });
  return installed;
}

// The program must not post meanwhile: such WQEs may be lost. Returns 0 or kNotYet.
int grow(Session& session, SharedReceiveQueue& srq, std::uint32_t slot_count) {
  ArenaBlock slots;
  ArenaBlock posted;
  if (!allocate_queue(session.context->arenas, slot_count, srq.slot_size, slots, posted)) return kNotYet;
  std::memcpy(slots.data(), srq.slots.data(), std::size_t{srq.slot_count} * srq.slot_size);
  session.fabric.engine(session.device).execute([&] {
    srq.queue->grow(slots.data(), posted.as<std::uint32_t>(), slot_count);
  });
  srq.slots = std::move(slots);
  srq.posted = std::move(posted);
  srq.slot_count = slot_count;
  return 0;
}

int answer_with_queue(Session& session, const abi::CreateSrqRequest& request,
                      std::unique_ptr<SharedReceiveQueue> srq, abi::CreateSrqReply& reply,
                      DescriptorExchange& descriptors) {
  Context& context = *session.context;
  const auto place = [&](SharedReceiveQueue& of, engine::SharedReceiveQueueConfig& config) {
    return place_srq(context.arenas, of, config);
  };
  if (const int error = make_srq(session, request, std::move(srq), place, reply.handle)) return error;
  const SharedReceiveQueue& made = *context.srqs.find(reply.handle);
  reply.number = made.queue->number();
  reply.slots = describe(made.slots, session, descriptors);
  reply.posted = describe(made.posted, session, descriptors);
  reply.indices = describe(made.indices, session, descriptors);
  reply.slot_count = made.slot_count;
  reply.slot_size = made.slot_size;
  reply.max_wr = made.max_wr;
  reply.max_sge = made.max_sge;
  return 0;
}

}  // namespace

int make_srq(Session& session, const abi::CreateSrqRequest& request, std::unique_ptr<SharedReceiveQueue> srq,
             const PlaceSrq& place, std::uint32_t& handle) {
  Context& context = *session.context;
  srq->pd = context.pds.find(request.pd);
  if (srq->pd == nullptr || !is_valid_srq_size(request.max_wr) || request.max_sge > limits::kMaxSge)
    return EINVAL;
  srq->share = session.device.shared_receive_queues.take();
  srq->charge = session.account->charge(Resource::memory, object_bytes::kQueue);
  srq->user_handle = request.user_handle;
  srq->max_wr = request.max_wr;
  srq->max_sge = request.max_sge;
  engine::SharedReceiveQueueConfig config = config_of(session, *srq);
  if (const int error = place(*srq, config)) return error;
  srq->queue = std::make_unique<engine::SharedReceiveQueue>(config);
  Joining made(context.srqs, std::move(srq));
  if (!install(session, *made)) return ENOMEM;
  handle = made.keep();
  return 0;
}

int create_srq(Session& session, const abi::CreateSrqRequest& request, abi::CreateSrqReply& reply,
               DescriptorExchange& descriptors) {
  return answer_with_queue(session, request, std::make_unique<SharedReceiveQueue>(), reply, descriptors);
}

int create_xrc_srq(Session& session, const abi::CreateXrcSrqRequest& request, abi::CreateSrqReply& reply,
                   DescriptorExchange& descriptors) {
  auto srq = std::make_unique<SharedReceiveQueue>();
  srq->xrcd = session.context->xrc_domains.find(request.xrcd);
  srq->cq = session.context->cqs.find(request.cq);
  if (srq->xrcd == nullptr || srq->cq == nullptr) return EINVAL;
  return answer_with_queue(session, request.queue, std::move(srq), reply, descriptors);
}

// A smaller size is the provider's matter: all slots stay, because any of them may be in use.
int modify_srq(Session& session, const abi::ModifySrqRequest& request, abi::ModifySrqReply& reply,
               DescriptorExchange& descriptors) {
  SharedReceiveQueue* const srq = session.context->srqs.find(request.handle);
  if (srq == nullptr || (request.mask & ~std::uint32_t{IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT}) != 0) return EINVAL;
  std::uint32_t max_wr = srq->max_wr;
  if ((request.mask & IBV_SRQ_MAX_WR) != 0) {
    if (!is_valid_srq_size(request.max_wr)) return EINVAL;
    max_wr = std::bit_ceil(request.max_wr);
  }
  const bool arms = (request.mask & IBV_SRQ_LIMIT) != 0;
  if (arms && request.limit > max_wr) return EINVAL;
  if (max_wr > srq->slot_count) {
    if (const int error = grow(session, *srq, max_wr)) return error;
    reply.slots = describe(srq->slots, session, descriptors);
    reply.posted = describe(srq->posted, session, descriptors);
  }
  srq->max_wr = max_wr;
  if (arms) session.fabric.engine(session.device).execute([&] { srq->queue->arm(request.limit); });
  reply.slot_count = srq->slot_count;
  reply.max_wr = srq->max_wr;
  return 0;
}

int query_srq(Session& session, const abi::HandleRequest& request, abi::QuerySrqReply& reply,
              DescriptorExchange&) {
  const SharedReceiveQueue* const srq = session.context->srqs.find(request.handle);
  if (srq == nullptr) return EINVAL;
  session.fabric.engine(session.device).execute([&] { reply.limit = srq->queue->limit(); });
  reply.max_wr = srq->max_wr;
  reply.max_sge = srq->max_sge;
  return 0;
}

int destroy_srq(Session& session, const abi::HandleRequest& request, abi::DestroyReply& reply,
                DescriptorExchange&) {
  Context& context = *session.context;
  return remove_one(context.srqs, request.handle, session.fabric.engine(session.device),
                    [&](SharedReceiveQueue& srq) {
                      reply.async_events_reported = context.async_events().take_back(context.withdraw(srq));
                    });
}

}  // namespace urnic::control
