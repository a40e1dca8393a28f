#include "device_model/engine/rings/send_ring.hpp"

#include <cstring>

#include "device_model/engine/rings/wqe_decode.hpp"

namespace urnic::engine {

SendRing::SendRing(const std::byte* ring, std::uint32_t slots, std::uint32_t slot_size,
                   const std::atomic<std::uint32_t>* producer, bool signal_all)
    : ring_(ring),
      shared_producer_(producer),
      slots_(slots),
      slot_size_(slot_size),
      signal_all_(signal_all),
      copies_(slots, slots == 0 ? 0 : slot_size - static_cast<std::uint32_t>(sizeof(abi::SendWqe))) {}

void SendRing::doorbell() {
  if (slots_ == 0 || lied_) return;
  const std::uint32_t producer = shared_producer_->load(std::memory_order_acquire);
  // There is room for `slots_` WQEs from the oldest unretired one on; more would overwrite its copy. A
  // producer index that went back shows as a huge difference, or as fewer WQEs than were taken.
  if (producer - retired_ > slots_ || producer - retired_ < taken_ - retired_) {
    lied_ = true;
    return;
  }
  producer_ = producer;
}

void SendRing::reset() {
  lied_ = false;
  producer_ = taken_ = retired_ = 0;
}

bool SendRing::next(transport::SendRequest& request) {
  if (!pending()) return false;
  const std::uint32_t slot = taken_ & (slots_ - 1);
  const std::byte* const from = ring_ + std::size_t{slot} * slot_size_;
  abi::SendWqe head;
  std::memcpy(&head, from, sizeof head);
  forget_shared_memory();

  request.index = taken_++;
  request.malformed = false;
  request.sges = {};
  request.inline_data = {};
  request.length = 0;
  decode_head(head, request);
  if (signal_all_) request.signaled = true;
  if (!well_formed(head, slot_size_ - static_cast<std::uint32_t>(sizeof head))) {
    request.malformed = true;
    return true;
  }
  if (request.is_inline) {
    request.inline_data = copies_.copy_bytes(slot, from + sizeof head, head.inline_length);
    request.length = head.inline_length;
    return true;
  }
  request.sges = copies_.copy_gather_list(slot, from + sizeof head, head.sge_count);
  for (const transport::Sge& sge : request.sges) request.length += sge.length;
  return true;
}

}  // namespace urnic::engine
