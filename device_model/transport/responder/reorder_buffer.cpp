#include "device_model/transport/responder/reorder_buffer.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
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
      mapped_bytes_(bytes_of_packets(capacity) + capacity * kSlotPayloadBytes),
      free_(std::make_unique_for_overwrite<std::uint32_t[]>(capacity)),
      retired_(std::make_unique_for_overwrite<std::uint32_t[]>(capacity)) {
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

std::optional<std::uint32_t> ReorderPool::take(const InboundPacket& packet) {
  if (packet.payload.size() > kSlotPayloadBytes) return std::nullopt;
  std::uint32_t number = touched_;
  if (free_count_ != 0) {
    number = free_[--free_count_];
    if (free_count_ != 0) prefetch(free_[free_count_ - 1]);
  } else {
    if (touched_ == capacity_) return std::nullopt;
    std::construct_at(packets_ + touched_++);
  }
  HeldPacket& slot = packets_[number];
  slot.headers_ = packet.headers;
  slot.congestion_experienced_ = packet.congestion_experienced;
  slot.from_outside_ = packet.is_from_outside();
  hold_payload(number, packet.payload);
  return number;
}

void ReorderPool::hold_payload(std::uint32_t slot, std::span<const std::byte> payload) {
  HeldPacket& held = packets_[slot];
  held.payload_ = payload;
  held.kept_at_ = keeper_ == nullptr ? std::nullopt : keeper_->keep(payload);
  if (held.kept_at_ || payload.empty()) return;
  std::byte* const copy = payloads_ + slot * kSlotPayloadBytes;
  std::memcpy(copy, payload.data(), payload.size());
  held.payload_ = {copy, payload.size()};
}

void ReorderPool::retire(const HeldPacket& packet) { retired_[retired_count_++] = number_of(packet); }

void ReorderPool::batch_flushed() {
  for (std::uint32_t i = 0; i < retired_count_; ++i) {
    const HeldPacket& packet = packets_[retired_[i]];
    if (packet.kept_at_) keeper_->release(*packet.kept_at_);
    free_[free_count_++] = retired_[i];
  }
  retired_count_ = 0;
}

std::uint32_t ReorderBuffer::mask() const { return std::bit_ceil(window_) - 1; }

std::optional<ReorderBuffer::Extent> ReorderBuffer::last_until(wire::Psn psn) const {
  if (empty()) return std::nullopt;
  if (before(back_, psn)) psn = back_;
  for (; !before(psn, front_); psn = psn - 1) {
    if (place(psn).slot != kNone) return Extent{psn, place(psn).psns};
  }
  return std::nullopt;
}

std::uint64_t ReorderBuffer::firsts_before(wire::Psn latest) const {
  if (empty()) return 0;
  const std::int32_t begin = std::max(distance(back_, latest) - 1, 0);
  const std::int32_t end = std::min(distance(front_, latest), 64);
  std::uint64_t firsts = 0;
  for (std::int32_t i = begin; i < end; ++i) {
    const wire::Psn psn = latest - 1 - static_cast<std::uint32_t>(i);
    firsts |= std::uint64_t{place(psn).slot != kNone} << i;
  }
  return firsts;
}

bool ReorderBuffer::hold(const InboundPacket& packet, std::uint32_t psns) {
  if (pool_ == nullptr || count_ >= pool_->most_per_queue_pair()) return false;
  const wire::Psn psn = packet.headers.bth.psn;
  const wire::Psn front = empty() || before(psn, front_) ? psn : front_;
  const wire::Psn back = empty() || before(back_, psn) ? psn : back_;
  if (static_cast<std::uint32_t>(distance(front, back)) > mask()) return false;
  const std::optional<std::uint32_t> slot = pool_->take(packet);
  if (!slot) return false;
  if (places_ == nullptr) places_ = std::make_unique<Place[]>(std::size_t{mask()} + 1);
  place(psn) = {*slot + 1, psns};
  front_ = front;
  back_ = back;
  ++count_;
  wide_ += psns > 1;
  return true;
}

const HeldPacket& ReorderBuffer::take_front() {
  const std::uint32_t slot = place(front_).slot - 1;
  wide_ -= place(front_).psns > 1;
  place(front_) = {};
  if (--count_ != 0) {
    do {
      ++front_;
    } while (place(front_).slot == kNone);
    pool_->prefetch(place(front_).slot - 1);
  }
  return pool_->at(slot);
}

// `back_` may stay behind the last one: it is only a bound.
const HeldPacket& ReorderBuffer::take(wire::Psn first) {
  if (first == front_) return take_front();
  const std::uint32_t slot = place(first).slot - 1;
  wide_ -= place(first).psns > 1;
  place(first) = {};
  --count_;
  return pool_->at(slot);
}

void ReorderBuffer::clear() {
  while (!empty()) retire(take_front());
}

}  // namespace urnic::transport
