#include "device_model/transport/responder/reorder_buffer.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace urnic::transport {
namespace {

// So that payloads begin at a page.
std::size_t bytes_of_packets(std::uint32_t capacity) {
  constexpr std::size_t kPage = 4096;
  return (capacity * sizeof(HeldPacket) + kPage - 1) / kPage * kPage;
}

}  // namespace

ReorderPool::ReorderPool(std::uint32_t capacity, PayloadKeeper* keeper)
    : capacity_(capacity),
      keeper_(keeper),
      mapped_bytes_(bytes_of_packets(capacity) + capacity * kSlotPayloadBytes) {
  if (capacity == 0) return;
  void* const memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "memory for packets that arrive out of order");
  }
  packets_ = static_cast<HeldPacket*>(memory);
  payloads_ = static_cast<std::byte*>(memory) + bytes_of_packets(capacity);
}

ReorderPool::~ReorderPool() {
  if (packets_ == nullptr) return;
  std::destroy_n(packets_, touched_);
  munmap(packets_, mapped_bytes_);
}

HeldPacket* ReorderPool::take(const InboundPacket& packet, std::uint32_t psns) {
  if (packet.payload.size() > kSlotPayloadBytes) return nullptr;
  HeldPacket* slot = free_;
  if (slot != nullptr) {
    free_ = slot->next_unused_;
  } else {
    if (touched_ == capacity_) return nullptr;
    slot = std::construct_at(packets_ + touched_);
    slot->index_ = touched_++;
  }
  ++in_use_;
  slot->headers_ = packet.headers;
  slot->payload_ = packet.payload;
  slot->congestion_experienced_ = packet.congestion_experienced;
  hold_payload(*slot, packet.payload);
  slot->psns_ = psns;
  return slot;
}

void ReorderPool::hold_payload(HeldPacket& slot, std::span<const std::byte> payload) {
  slot.kept_at_ = keeper_ == nullptr ? std::nullopt : keeper_->keep(payload);
  if (slot.kept_at_ || payload.empty()) return;
  std::memcpy(payload_of(slot), payload.data(), payload.size());
  slot.payload_ = {payload_of(slot), payload.size()};
}

void ReorderPool::retire(HeldPacket& packet) {
  packet.next_unused_ = retired_;
  retired_ = &packet;
  ++retired_count_;
}

void ReorderPool::batch_flushed() {
  while (retired_ != nullptr) {
    HeldPacket* const packet = retired_;
    retired_ = packet->next_unused_;
    if (packet->kept_at_) keeper_->release(*packet->kept_at_);
    packet->next_unused_ = free_;
    free_ = packet;
  }
  in_use_ -= retired_count_;
  retired_count_ = 0;
}

bool ReorderBuffer::holds(wire::Psn first) const {
  if (packets_.empty() || before(packets_.rbegin()->first(), first)) return false;  // mostly it is a new one
  return packets_.find(first, ByFirst{}) != packets_.end();
}

const HeldPacket* ReorderBuffer::last_until(wire::Psn psn) const {
  // Mostly the newest is asked for, and it is at the end.
  if (!packets_.empty() && !before(psn, packets_.rbegin()->first())) return &*packets_.rbegin();
  const auto behind = packets_.upper_bound(psn, ByFirst{});
  return behind == packets_.begin() ? nullptr : &*std::prev(behind);
}

const HeldPacket* ReorderBuffer::before_it(const HeldPacket& packet) const {
  const auto place = packets_.iterator_to(packet);
  return place == packets_.begin() ? nullptr : &*std::prev(place);
}

bool ReorderBuffer::hold(const InboundPacket& packet, std::uint32_t psns) {
  if (pool_ == nullptr || packets_.size() >= pool_->most_per_queue_pair()) return false;
  HeldPacket* const held = pool_->take(packet, psns);
  if (held == nullptr) return false;
  packets_.insert(packets_.end(), *held);  // constant time where it belongs there
  return true;
}

HeldPacket& ReorderBuffer::take_front() {
  HeldPacket& first = *packets_.begin();
  packets_.erase(packets_.begin());
  return first;
}

void ReorderBuffer::clear() {
  while (!packets_.empty()) retire(take_front());
}

}  // namespace urnic::transport
