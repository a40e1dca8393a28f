#include "device_model/engine/mlx5_rings/receive_ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "device_model/engine/mlx5_rings/scatter_list.hpp"
#include "device_model/engine/rings/slot_copies.hpp"

namespace urnic::engine::mlx5 {

ReceiveRing::ReceiveRing(const ReceiveRingConfig& config) : config_(config) {
  config_.slots = std::bit_floor(std::min(config.slots, kMostReceiveSlots));
  config_.stride = config.stride & ~15u;
  if (config_.slots != 0) copies_.reset(new std::byte[std::size_t{config_.slots} * config_.stride]);
}

void ReceiveRing::reset() {
  lied_ = false;
  producer_ = taken_ = retired_ = 0;
  if (config_.slots != 0) config_.producer->store(0, std::memory_order_relaxed);
}

bool ReceiveRing::look() const {
  if (config_.slots == 0 || lied_) return false;
  const std::uint32_t published = config_.producer->load(std::memory_order_acquire);
  const auto posted = static_cast<std::uint16_t>(published - retired_);
  if (posted > config_.slots || posted < taken_ - retired_) {
    lied_ = true;
    return false;
  }
  producer_ = retired_ + posted;
  return true;
}

std::uint32_t ReceiveRing::available() const { return look() ? producer_ - taken_ : 0; }

void ReceiveRing::copy(std::uint32_t index, std::byte* to) const {
  const std::size_t place = std::size_t{index & (config_.slots - 1)} * config_.stride;
  std::memcpy(to, config_.ring + place, config_.stride);
  forget_shared_memory();
}

bool ReceiveRing::next(transport::ReceiveRequest& request) {
  if (lied_ || (taken_ == producer_ && (!look() || taken_ == producer_))) return false;
  std::byte* const wqe = copies_.get() + std::size_t{taken_ & (config_.slots - 1)} * config_.stride;
  copy(taken_, wqe);
  request = {};
  request.index = taken_++;
  decode_scatter_list({wqe, config_.stride}, request);
  return true;
}

}  // namespace urnic::engine::mlx5
