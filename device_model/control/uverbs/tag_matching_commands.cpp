// create_tag_matching
#include <bit>
#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/receives/srq_tag_matching.hpp"

namespace urnic::control {
namespace {

bool is_within(std::uint32_t number, std::uint32_t limit) { return number >= 1 && number <= limit; }

std::unique_ptr<engine::TagMatching> make_matching(const SharedReceiveQueue& srq, const TagMatching& tags,
                                                   std::uint32_t slots, std::uint32_t max_tags) {
  return std::make_unique<engine::TagMatching>(engine::TagMatchingConfig{
      .queue = srq.queue.get(),
      .completions = tags.cq->queue.get(),
      .operations = tags.operations.as<abi::TagOperation>(),
      .slots = slots,
      .indices = tags.indices.as<abi::TagMatchingIndices>(),
      .max_tags = max_tags,
  });
}

}  // namespace

int create_tag_matching(Session& session, const abi::CreateTagMatchingRequest& request,
                        abi::CreateTagMatchingReply& reply, DescriptorExchange& descriptors) {
  Context& context = *session.context;
  SharedReceiveQueue* const srq = context.srqs.find(request.srq);
  CompletionQueue* const cq = context.cqs.find(request.cq);
  if (srq == nullptr || cq == nullptr || srq->tags != nullptr || srq->xrcd != nullptr) return EINVAL;
  if (!is_within(request.max_tags, limits::kMaxTags)) return EINVAL;
  if (!is_within(request.max_operations, limits::kMaxTagOperations)) return EINVAL;
  if (srq->in_use()) return EBUSY;

  const std::uint32_t slots = std::bit_ceil(request.max_operations);
  auto tags = std::make_unique<TagMatching>();
  tags->cq = cq;
  const std::uint64_t operations = std::uint64_t{slots} * sizeof(abi::TagOperation);
  if (!context.arenas.prepare({operations})) return kNotYet;
  tags->operations = context.arenas.allocate(operations);
  tags->indices = context.arenas.allocate(sizeof(abi::TagMatchingIndices));
  tags->matching = make_matching(*srq, *tags, slots, request.max_tags);
  tags->doorbell = context.doorbell_numbers.take();
  session.fabric.engine(session.device).execute([&] {
    context.doorbells().attach(tags->doorbell.value(), *tags->matching);
  });

  srq->tags = std::move(tags);
  reply.operations = describe(srq->tags->operations, session, descriptors);
  reply.indices = describe(srq->tags->indices, session, descriptors);
  reply.operation_slots = slots;
  reply.doorbell = srq->tags->doorbell.value();
  return 0;
}

}  // namespace urnic::control
