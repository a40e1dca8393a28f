#include "device_model/engine/mlx5_rings/shared_receive_ring.hpp"

#include <algorithm>
#include <cstring>

#include "device_model/abi/mlx5/receive_wqe.hpp"
#include "device_model/engine/mlx5_rings/scatter_list.hpp"
#include "device_model/engine/rings/slot_copies.hpp"

namespace urnic::engine::mlx5 {

using abi::mlx5::SharedReceiveHead;

SharedReceiveRing::SharedReceiveRing(const SharedReceiveRingConfig& config) : config_(config) {
  config_.stride = std::max<std::uint32_t>(config.stride & ~15u, sizeof(SharedReceiveHead));
  config_.slot_count = std::min(config.slot_count, kMostSharedSlots);
  copies_.reset(new std::byte[std::size_t{config_.slot_count} * config_.stride]);
}

bool SharedReceiveRing::look() {
  const auto producer = static_cast<std::uint16_t>(config_.producer->load(std::memory_order_acquire));
  if (static_cast<std::uint16_t>(producer - taken_) > config_.slot_count) return false;
  producer_ = producer;
  return true;
}

// The link of a posted slot was set before it was posted, and does not change until it completes.
PostedSharedReceives::Look SharedReceiveRing::next(std::uint32_t& slot) {
  if (taken_ == producer_) {
    if (!look()) return Look::lied;
    if (taken_ == producer_) return Look::empty;
  }
  slot = front_;
  ++taken_;
  if (front_ >= config_.slot_count) return Look::found;  // whoever asks sees what is wrong with it
  SharedReceiveHead head;
  std::memcpy(&head, at(front_), sizeof head);
  forget_shared_memory();
  front_ = head.next.value();
  return Look::found;
}

PostedSharedReceives::Look SharedReceiveRing::count(std::uint32_t& posted) {
  if (!look()) return Look::lied;
  posted = static_cast<std::uint16_t>(producer_ - taken_);
  return posted != 0 ? Look::found : Look::empty;
}

void SharedReceiveRing::read(std::uint32_t slot, transport::ReceiveRequest& request) {
  constexpr std::size_t head = sizeof(SharedReceiveHead);
  std::byte* const copy = copies_.get() + std::size_t{slot} * config_.stride;
  const std::size_t bytes = config_.stride - head;
  std::memcpy(copy, at(slot) + head, bytes);
  forget_shared_memory();
  request = {};
  decode_scatter_list({copy, bytes}, request);
}

}  // namespace urnic::engine::mlx5
