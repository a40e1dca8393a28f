#include "device_model/engine/receives/xrc_domain_members.hpp"

#include <algorithm>

#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/engine/receives/shared_receive_table.hpp"

namespace urnic::engine {

SharedReceiveQueue* XrcDomain::find(std::uint32_t number) const {
  SharedReceiveQueue* const queue = queues_.find(number);
  return queue != nullptr && queue->config().xrc_domain == this ? queue : nullptr;
}

void XrcDomain::add(XrcTarget& target) { targets_.push_back(&target); }

void XrcDomain::remove(const XrcTarget& target) { std::erase(targets_, &target); }

void XrcDomain::forget(const SharedReceiveQueue& queue) {
  for (XrcTarget* const target : targets_) target->forget(queue);
}

}  // namespace urnic::engine
