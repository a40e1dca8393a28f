#include "device_model/engine/rings/shared_receive_ring.hpp"

#include <cstring>

namespace urnic::engine {

SharedReceiveRing::SharedReceiveRing(const SharedReceiveRingConfig& config) : config_(config) {
  add_copies(0, config.slot_count);
}

void SharedReceiveRing::add_copies(std::uint32_t first_slot, std::uint32_t slot_count) {
  if (slot_count == 0) return;
  copies_.push_back({first_slot, SlotCopies(slot_count - first_slot, room())});
}

bool SharedReceiveRing::look() {
  const std::uint32_t producer = config_.producer->load(std::memory_order_acquire);
  if (producer - taken_ > config_.slot_count) return false;
  producer_ = producer;
  return true;
}

PostedSharedReceives::Look SharedReceiveRing::next(std::uint32_t& slot) {
  if (taken_ == producer_) {
    if (!look()) return Look::lied;
    if (taken_ == producer_) return Look::empty;
  }
  slot = config_.posted[taken_++ & (config_.slot_count - 1)];
  forget_shared_memory();
  return Look::found;
}

PostedSharedReceives::Look SharedReceiveRing::count(std::uint32_t& posted) {
  if (!look()) return Look::lied;
  posted = producer_ - taken_;
  return posted != 0 ? Look::found : Look::empty;
}

void SharedReceiveRing::read(std::uint32_t slot, transport::ReceiveRequest& request) {
  const std::byte* const from = config_.slots + std::size_t{slot} * config_.slot_size;
  abi::ReceiveWqe head;
  std::memcpy(&head, from, sizeof head);
  forget_shared_memory();

  request = {};
  request.malformed = head.sge_count > room() / sizeof(abi::ScatterGather);
  if (request.malformed) return;
  std::size_t part = copies_.size() - 1;
  while (copies_[part].first > slot) --part;
  request.sges =
      copies_[part].copies.copy_gather_list(slot - copies_[part].first, from + sizeof head, head.sge_count);
  for (const transport::Sge& sge : request.sges) request.length += sge.length;
}

void SharedReceiveRing::grow(const std::byte* slots, std::uint32_t* posted, std::uint32_t slot_count) {
  if (look()) {
    for (std::uint32_t index = taken_; index != producer_; ++index) {
      posted[index & (slot_count - 1)] = config_.posted[index & (config_.slot_count - 1)];
    }
  }
  const std::uint32_t before = config_.slot_count;
  config_.slots = slots;
  config_.posted = posted;
  config_.slot_count = slot_count;
  add_copies(before, slot_count);
}

}  // namespace urnic::engine
