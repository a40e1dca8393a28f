#include "device_model/control/objects/queue_objects.hpp"

#include <utility>

#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/engine/receives/srq_tag_matching.hpp"

namespace urnic::control {
namespace {

std::unique_ptr<engine::QueuePairContext> make_hosted(engine::QueuePairConfig& config,
                                                      abi::QueuePairIndices& own_indices) {
  if (config.indices == nullptr) config.indices = &own_indices;
  return engine::QueuePairContext::make(config);
}

}  // namespace

CompletionChannel::CompletionChannel(Charge for_it, std::unique_ptr<engine::EventPipe> to)
    : charge(std::move(for_it)), pipe(std::move(to)) {}

CompletionChannel::~CompletionChannel() = default;

CompletionQueue::CompletionQueue() = default;

CompletionQueue::~CompletionQueue() = default;

TagMatching::TagMatching() = default;

TagMatching::~TagMatching() = default;

SharedReceiveQueue::SharedReceiveQueue() = default;

SharedReceiveQueue::~SharedReceiveQueue() = default;

SharedQueuePair::SharedQueuePair(engine::QueuePairConfig config) : hosted(make_hosted(config, own_indices)) {}

SharedQueuePair::~SharedQueuePair() = default;

QueuePair::QueuePair() = default;

QueuePair::~QueuePair() {
  shared.reset();
  if (srq != nullptr) srq->qpns.erase(qpn);
  if (xrcd != nullptr) xrcd->domain->drop_target_if_gone(qpn);
}

}  // namespace urnic::control
