#include "device_model/engine/rings/receive_ring.hpp"

#include <cstring>

namespace urnic::engine {

ReceiveRing::ReceiveRing(const std::byte* ring, std::uint32_t slots, std::uint32_t slot_size,
                         const std::atomic<std::uint32_t>* producer)
    : ring_(ring),
      shared_producer_(producer),
      slots_(slots),
      slot_size_(slot_size),
      copies_(slots, slots == 0 ? 0 : slot_size - static_cast<std::uint32_t>(sizeof(abi::ReceiveWqe))) {}

void ReceiveRing::reset() {
  lied_ = false;
  producer_ = taken_ = retired_ = 0;
}

bool ReceiveRing::look() const {
  if (slots_ == 0 || lied_) return false;
  const std::uint32_t producer = shared_producer_->load(std::memory_order_acquire);
  if (producer - retired_ > slots_ || producer - retired_ < taken_ - retired_) {
    lied_ = true;
    return false;
  }
  producer_ = producer;
  return true;
}

std::uint32_t ReceiveRing::available() const { return look() ? producer_ - taken_ : 0; }

bool ReceiveRing::next(transport::ReceiveRequest& request) {
  if (lied_ || (taken_ == producer_ && (!look() || taken_ == producer_))) return false;
  const std::uint32_t slot = taken_ & (slots_ - 1);
  const std::byte* const from = ring_ + std::size_t{slot} * slot_size_;
  abi::ReceiveWqe head;
  std::memcpy(&head, from, sizeof head);
  forget_shared_memory();

  request = {};
  request.index = taken_++;
  const std::uint32_t room = slot_size_ - static_cast<std::uint32_t>(sizeof head);
  if (head.sge_count > room / sizeof(abi::ScatterGather)) {
    request.malformed = true;
    return true;
  }
  request.sges = copies_.copy_gather_list(slot, from + sizeof head, head.sge_count);
  for (const transport::Sge& sge : request.sges) request.length += sge.length;
  return true;
}

}  // namespace urnic::engine
