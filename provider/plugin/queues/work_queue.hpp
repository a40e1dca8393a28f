// The provider's state of a send or receive queue: its slots, producer and consumer index, and the wr_ids,
// which the device never sees.
#pragma once

#include <atomic>
#include <cstdint>

#include "provider/freestanding/lock.hpp"
#include "provider/plugin/objects/parent_domain.hpp"

namespace urnic::provider {

// Producer and consumer index are free-running; the slots between them are in use. Posting threads move the
// producer index under `lock`, polling threads the consumer index under the CQ's lock.
class WorkQueue {
 public:
  Mutex lock;

  // `ring` lies in an arena. `slots` and `slot_size` (bytes) are powers of two; `slots` is 0 if there is no
  // queue. The device reads `shared_producer`. The wr_ids are kept in `pd`'s memory. False when memory is
  // short.
  bool attach(void* ring, std::uint32_t slots, std::uint32_t slot_size, std::uint32_t max_sge,
              std::atomic<std::uint32_t>* shared_producer, ibv_pd* pd, MemoryUse use) {
    ring_ = static_cast<char*>(ring);
    slots_ = slots;
    slot_size_ = slot_size;
    max_sge_ = max_sge;
    shared_producer_ = shared_producer;
    if (slots == 0) return true;
    const bool allocated = memory_.allocate(pd, slots * sizeof(std::uint64_t), kCacheLine, use);
    wr_ids_ = static_cast<std::uint64_t*>(memory_.get());
    return allocated;
  }
  void release() { memory_.release(); }  // of the wr_ids

  std::uint32_t slots() const { return slots_; }
  std::uint32_t max_sge() const { return max_sge_; }
  std::uint32_t producer() const { return producer_.load(std::memory_order_relaxed); }
  std::uint32_t consumer() const { return consumer_.load(std::memory_order_acquire); }
  // Whether the slot of `index` is still in use.
  bool is_full_at(std::uint32_t index) const { return index - consumer() >= slots_; }
  bool has_outstanding() const { return producer_.load(std::memory_order_acquire) != consumer(); }

  void* slot(std::uint32_t index) const { return ring_ + std::size_t{index & (slots_ - 1)} * slot_size_; }
  std::uint64_t& wr_id(std::uint32_t index) const { return wr_ids_[index & (slots_ - 1)]; }

  // Hands all WQEs before `index` to the device.
  void publish(std::uint32_t index) {
    producer_.store(index, std::memory_order_release);
    shared_producer_->store(index, std::memory_order_release);
  }

  // Frees the slot of the WQE at `index` and all slots before it.
  void retire(std::uint32_t index) { consumer_.store(index + 1, std::memory_order_release); }

  // Empties the queue and starts at index 0, as the RESET state requires.
  void reset() {
    consumer_.store(0, std::memory_order_relaxed);
    publish(0);
  }

 private:
  static constexpr std::size_t kCacheLine = 64;

  char* ring_ = nullptr;
  std::uint64_t* wr_ids_ = nullptr;
  std::uint32_t slots_ = 0;
  std::uint32_t slot_size_ = 0;
  std::uint32_t max_sge_ = 0;
  std::atomic<std::uint32_t>* shared_producer_ = nullptr;
  std::atomic<std::uint32_t> producer_{0};
  DomainMemory memory_;
  alignas(kCacheLine) std::atomic<std::uint32_t> consumer_{0};
};

}  // namespace urnic::provider
