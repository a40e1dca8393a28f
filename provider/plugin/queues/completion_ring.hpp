// The provider's side of a completion queue's ring (docs/queues-and-doorbells.md): finds valid CQEs, and
// removes those of a QP that is destroyed or reset. Nothing here waits or locks.
#pragma once

#include <cstdint>

#include "device_model/abi/queues.hpp"

namespace urnic::provider {

class CompletionRing {
 public:
  // Starts at index 0 of `ring`. `entries` is a power of two. Both pointers lead into an arena, which owns
  // the memory.
  void attach(abi::Cqe* ring, std::uint32_t entries, abi::CompletionQueueIndices* indices) {
    ring_ = ring;
    entries_ = entries;
    indices_ = indices;
    consumer_ = 0;
  }

  std::uint32_t entries() const { return entries_; }
  abi::CompletionQueueIndices& indices() const { return *indices_; }

  // The next CQE, or null if the device has not written it yet.
  const abi::Cqe* peek() const { return is_valid(consumer_) ? &at(consumer_) : nullptr; }

  // Consumes the CQE that `peek` gave. The device may overwrite it after `publish`.
  void advance() { ++consumer_; }
  void publish() { indices_->consumer.store(consumer_, std::memory_order_release); }

  // Removes the unread CQEs of QP `qpn`; the others keep their order. A CQE of tag matching stays, because it
  // belongs to the SRQ. Meanwhile the device may add CQEs of other QPs, but none of this QP. Calls `removed`,
  // unless null, with `by` and each removed CQE.
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
