// The provider's side of a completion queue's ring (docs/queues-and-doorbells.md): which entries are valid,
// and how those of a QP that goes away are taken out. Nothing here waits or locks.
#pragma once

#include <cstdint>

#include "device_model/abi/queues.hpp"

namespace urnic::provider {

class CompletionRing {
 public:
  // `entries` is a power of two; both pointers are into an arena and stay the arena's.
  void attach(abi::Cqe* ring, std::uint32_t entries, abi::CompletionQueueIndices* indices) {
    ring_ = ring;
    entries_ = entries;
    indices_ = indices;
    consumer_ = 0;
  }

  std::uint32_t entries() const { return entries_; }
  abi::CompletionQueueIndices& indices() const { return *indices_; }

  // The next completion, or null if the device has not written it yet.
  const abi::Cqe* peek() const { return is_valid(consumer_) ? &at(consumer_) : nullptr; }

  // Leaves the entry that `peek` gave. The device may overwrite it once `publish` was called.
  void advance() { ++consumer_; }
  void publish() { indices_->consumer.store(consumer_, std::memory_order_release); }

  // Takes the QP's unread completions out and closes the gaps, keeping the order of the others: what it
  // brought to a tag-matching SRQ is one of them. The device may add completions of other QPs meanwhile, but
  // none of this one. `removed`, unless null, is told of each.
  void remove_completions_of(std::uint32_t qpn, void (*removed)(void* by, const abi::Cqe&) = nullptr,
                             void* by = nullptr);

 private:
  abi::Cqe& at(std::uint32_t index) const { return ring_[index & (entries_ - 1)]; }
  bool is_valid(std::uint32_t index) const {
    const std::uint8_t expected = (index & entries_) == 0 ? 1 : 0;
    return at(index).phase.load(std::memory_order_acquire) == expected;
  }

  abi::Cqe* ring_ = nullptr;
  abi::CompletionQueueIndices* indices_ = nullptr;
  std::uint32_t entries_ = 0;
  std::uint32_t consumer_ = 0;
};

}  // namespace urnic::provider
