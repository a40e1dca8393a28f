// create_cq, destroy_cq, resize_cq
#include <bit>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/queue_making.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"

namespace urnic::control {
namespace {

// The manual page promises at least the requested entries; rings are powers of two.
std::uint32_t cq_slots(std::uint32_t entries) { return std::bit_ceil(entries); }

std::uint64_t ring_bytes(std::uint32_t slots) { return std::uint64_t{slots} * sizeof(abi::Cqe); }

// The clock that the provider reads, too.
std::uint64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// CQEs that the engine moves at once, while other programs wait: 64 KiB.
constexpr std::uint32_t kMovedAtOnce = 1024;

bool is_valid_cq_size(std::uint32_t entries) { return entries >= 1 && entries <= limits::kMaxCqe; }

// In the context's arenas, as abi/queues.hpp lays it out.
int place_cq(Context& context, std::uint32_t slots, CompletionQueue& cq,
             engine::CompletionQueueConfig& config) {
  if (!context.arenas.prepare({ring_bytes(slots)})) return kNotYet;
  cq.ring = context.arenas.allocate(ring_bytes(slots));
  cq.indices = context.arenas.allocate(sizeof(abi::CompletionQueueIndices));
  config.ring = cq.ring.as<abi::Cqe>();
  config.slots = slots;
  config.indices = cq.indices.as<abi::CompletionQueueIndices>();
  return 0;
}

}  // namespace

int make_cq(Session& session, const abi::CreateCqRequest& request, const PlaceCq& place,
            std::uint32_t& handle) {
  if (!is_valid_cq_size(request.entries) || request.completion_vector >= limits::kCompletionVectors) {
    return EINVAL;
  }
  if ((request.flags & ~std::uint32_t{abi::cq_timestamps | abi::cq_ignore_overrun}) != 0) return EINVAL;
  Context& context = *session.context;
  auto cq = std::make_unique<CompletionQueue>();
  cq->share = session.device.completion_queues.take();
  cq->charge = session.account->charge(Resource::completion_queues, 1, object_bytes::kQueue);
  if (request.channel_inode != 0) {
    cq->channel = context.find_channel(request.channel_inode);
    if (cq->channel == nullptr) return EINVAL;
  }
  engine::CompletionQueueConfig config{
      .user_handle = request.user_handle,
      .channel = cq->channel != nullptr ? cq->channel->pipe.get() : nullptr,
      .async_events = &context.async_events(),
      .clock = (request.flags & abi::cq_timestamps) != 0 ? &monotonic_nanoseconds : nullptr,
      .ignores_overrun = (request.flags & abi::cq_ignore_overrun) != 0,
  };
  if (const int error = place(*cq, config)) return error;
  cq->queue = std::make_unique<engine::CompletionQueue>(config);
  cq->number = session.device.next_cq++;
  handle = context.cqs.add(std::move(cq));
  return 0;
}

int create_cq(Session& session, const abi::CreateCqRequest& request, abi::CreateCqReply& reply,
              DescriptorExchange& descriptors) {
  Context& context = *session.context;
  // Called when the number of entries has been checked.
  const auto place = [&](CompletionQueue& cq, engine::CompletionQueueConfig& config) {
    return place_cq(context, cq_slots(request.entries), cq, config);
  };
  if (const int error = make_cq(session, request, place, reply.handle)) return error;
  const CompletionQueue& made = *context.cqs.find(reply.handle);
  reply.entries = cq_slots(request.entries);
  reply.ring = describe(made.ring, session, descriptors);
  reply.indices = describe(made.indices, session, descriptors);
  return 0;
}

int destroy_cq(Session& session, const abi::HandleRequest& request, abi::DestroyReply& reply,
               DescriptorExchange&) {
  Context& context = *session.context;
  return remove_one(
      context.cqs, request.handle, session.fabric.engine(session.device), [&](CompletionQueue& cq) {
        if (cq.channel != nullptr)
          reply.completion_events_reported = cq.channel->pipe->take_back(cq.queue->completion_events());
        reply.async_events_reported = context.async_events().take_back(context.withdraw(cq));
      });
}

int resize_cq(Session& session, const abi::ResizeCqRequest& request, abi::ResizeCqReply& reply,
              DescriptorExchange& descriptors) {
  Context& context = *session.context;
  CompletionQueue* cq = context.cqs.find(request.handle);
  if (cq == nullptr || !is_valid_cq_size(request.entries)) return EINVAL;
  const std::uint32_t slots = cq_slots(request.entries);
  engine::Engine& engine = session.fabric.engine(session.device);
  if (cq->next_ring.length() != ring_bytes(slots)) {
    if (!context.arenas.prepare({ring_bytes(slots)})) return kNotYet;
    cq->next_ring = context.arenas.allocate(ring_bytes(slots));
    // Requests posted before this one may complete now, before the move: a program that makes the queue too
    // small for its posted datagrams gets the error.
    engine.execute([] {});
    engine.execute([&] { cq->queue->begin_move(cq->next_ring.data(), slots); });
  }
  auto moved = engine::CompletionQueue::Moved::more;
  engine.execute([&] { moved = cq->queue->move(kMovedAtOnce); });
  if (moved == engine::CompletionQueue::Moved::more) return kNotYet;
  ArenaBlock ring = std::move(cq->next_ring);
  // More CQEs are waiting than the new ring holds.
  if (moved == engine::CompletionQueue::Moved::does_not_fit) return EINVAL;
  cq->ring = std::move(ring);
  reply.entries = slots;
  reply.ring = describe(cq->ring, session, descriptors);
  return 0;
}

int modify_cq(Session& session, const abi::ModifyCqRequest& request, abi::Empty&, DescriptorExchange&) {
  CompletionQueue* const cq = session.context->cqs.find(request.handle);
  if (cq == nullptr) return EINVAL;
  const engine::CqModeration moderation{request.count, std::chrono::microseconds(request.period_us)};
  session.fabric.engine(session.device).execute([&] { cq->queue->moderate(moderation); });
  return 0;
}

}  // namespace urnic::control
