#include "device_model/engine/shared_receive/xrc_domain.hpp"

#include <algorithm>

#include "device_model/engine/device.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::engine {

SharedReceiveQueue* XrcDomain::find(std::uint32_t number) const {
  SharedReceiveQueue* const queue = device_.shared_receive_queues().find(number);
  return queue != nullptr && queue->config().xrc_domain == this ? queue : nullptr;
}

void XrcDomain::remove(const QueuePairContext& target) { std::erase(targets_, &target); }

void XrcDomain::forget(const SharedReceiveQueue& queue) {
  for (QueuePairContext* const target : targets_) target->forget(queue);
}

}  // namespace urnic::engine
