#include "device_model/engine/rings/queued_work.hpp"

#include <cstring>

#include "device_model/engine/rings/receive_ring.hpp"
#include "device_model/engine/rings/send_ring.hpp"
#include "device_model/engine/rings/wqe_decode.hpp"

namespace urnic::engine {
namespace {

// The sum of the lengths of `count` segments, which lie in shared memory.
std::uint64_t length_of(const std::byte* segments, std::uint32_t count) {
  std::uint64_t length = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    abi::ScatterGather segment;
    std::memcpy(&segment, segments + i * sizeof segment, sizeof segment);
    length += segment.length;
  }
  return length;
}

}  // namespace

QueuedSends SendRing::queued() const {
  QueuedSends queued{{slots_, shared_producer_->load(std::memory_order_acquire), taken_, retired_}, {}};
  for (std::uint32_t i = 0; i < queued.indices.shown(); ++i) {
    const std::uint32_t index = retired_ + i;
    const std::byte* const from = ring_ + std::size_t{index & (slots_ - 1)} * slot_size_;
    abi::SendWqe head;
    std::memcpy(&head, from, sizeof head);
    forget_shared_memory();
    QueuedSend& wqe = queued.wqes.emplace_back();
    wqe.request.index = index;
    decode_head(head, wqe.request);
    if (signal_all_) wqe.request.signaled = true;
    wqe.request.malformed = !well_formed(head, slot_size_ - static_cast<std::uint32_t>(sizeof head));
    if (wqe.request.malformed) continue;
    wqe.segments = wqe.request.is_inline ? 0 : head.sge_count;
    wqe.request.length =
        wqe.request.is_inline ? head.inline_length : length_of(from + sizeof head, wqe.segments);
  }
  return queued;
}

QueuedReceives ReceiveRing::queued() const {
  QueuedReceives queued{{slots_, 0, taken_, retired_}, {}};
  if (slots_ == 0) return queued;
  queued.indices.producer = shared_producer_->load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < queued.indices.shown(); ++i) {
    const std::uint32_t index = retired_ + i;
    const std::byte* const from = ring_ + std::size_t{index & (slots_ - 1)} * slot_size_;
    abi::ReceiveWqe head;
    std::memcpy(&head, from, sizeof head);
    forget_shared_memory();
    const std::size_t room = (slot_size_ - sizeof head) / sizeof(abi::ScatterGather);
    QueuedReceive& wqe = queued.wqes.emplace_back();
    wqe.index = index;
    wqe.malformed = head.sge_count > room;
    if (wqe.malformed) continue;
    wqe.segments = head.sge_count;
    wqe.length = length_of(from + sizeof head, head.sge_count);
  }
  return queued;
}

}  // namespace urnic::engine
