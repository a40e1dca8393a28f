#include "device_model/engine/queue_pair/queue_pair_detail.hpp"

#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::engine {

QueuePairInDetail QueuePairContext::detail() const {
  QueuePairInDetail now;
  now.status = status();
  now.transport = machine_.detail();
  now.sends = sends_.queued();
  if (other_receives_ == nullptr) now.receives = own_receives_.queued();
  if (config_.send_cq != nullptr) now.send_cq = config_.send_cq->indices();
  if (config_.receive_cq != nullptr) now.receive_cq = config_.receive_cq->indices();
  return now;
}

}  // namespace urnic::engine
