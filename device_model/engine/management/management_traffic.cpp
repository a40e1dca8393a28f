#include "device_model/engine/management/management_traffic.hpp"

#include <algorithm>

#include "device_model/engine/management/management_queue_pair.hpp"

namespace urnic::engine {

void ManagementTraffic::add(ManagementQueuePair& queue_pair) { queue_pairs_.push_back(&queue_pair); }

void ManagementTraffic::expect_arrivals() {
  arrival_.take();
  arrival_.release();
}

void ManagementTraffic::taken() {
  arrived_.front()->queue_pair->waiting_.fetch_sub(1, std::memory_order_relaxed);
  arrived_.pop();
}

ArrivedDatagram* ManagementTraffic::arrival_entry(const ManagementQueuePair& queue_pair) {
  if (queue_pair.waiting_.load(std::memory_order_relaxed) >= kArrivedOfDevice) return nullptr;
  return arrived_.free_entry();
}

void ManagementTraffic::publish_arrival(ManagementQueuePair& queue_pair) {
  queue_pair.waiting_.fetch_add(1, std::memory_order_relaxed);
  arrived_.publish();
  arrival_.announce();
}

bool ManagementTraffic::send() {
  rung_.exchange(false, std::memory_order_acq_rel);
  room_at_.reset();
  std::uint32_t left = kPerLook;
  for (std::size_t looked = 0; looked < queue_pairs_.size() && left != 0; ++looked) {
    next_ = next_ + 1 < queue_pairs_.size() ? next_ + 1 : 0;
    ManagementQueuePair& queue_pair = *queue_pairs_[next_];
    left -= queue_pair.send(left);
    if (!queue_pair.has_to_send()) continue;
    const transport::Time room_at = queue_pair.room_at();
    room_at_ = std::min(room_at_.value_or(room_at), room_at);
  }
  if (left == 0) rung_.store(true, std::memory_order_relaxed);
  return left != kPerLook;
}

}  // namespace urnic::engine
