// What the provider keeps of a shared receive queue: which slots are free, the wr_ids of the others, and the
// ring in which the device finds what was posted (abi/queues.hpp: SharedReceiveIndices).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "provider/plugin/freestanding/lock.hpp"

namespace urnic::provider {

class SharedReceiveSlots {
 public:
  Mutex lock;  // of all that follows

  // Makes room for the wr_ids of `slot_count` slots, which is never less than before. False when memory is
  // short.
  bool reserve(std::uint32_t slot_count) {
    auto* wr_ids = static_cast<std::uint64_t*>(std::realloc(wr_ids_, sizeof *wr_ids_ * slot_count));
    if (wr_ids != nullptr) wr_ids_ = wr_ids;
    auto* free_slots = static_cast<std::uint32_t*>(std::realloc(free_, sizeof *free_ * slot_count));
    if (free_slots != nullptr) free_ = free_slots;
    return wr_ids != nullptr && free_slots != nullptr;
  }

  // `slots` and `posted` are in arenas; `slot_count` (reserved) and `slot_size` are powers of two. Slots that
  // were attached before are what they were, those beyond are free.
  void attach(void* slots, std::uint32_t* posted, std::uint32_t slot_count, std::uint32_t slot_size) {
    slots_ = static_cast<char*>(slots);
    posted_ = posted;
    slot_size_ = slot_size;
    for (std::uint32_t slot = slot_count; slot-- > slot_count_;) free_[free_count_++] = slot;
    slot_count_ = slot_count;
  }
  void use(std::atomic<std::uint32_t>* shared_producer) { shared_producer_ = shared_producer; }
  void release() {
    std::free(wr_ids_);
    std::free(free_);
  }

  std::uint32_t max_wr = 0;  // at most as many slots are in use
  std::uint32_t max_sge = 0;

  std::uint32_t slot_count() const { return slot_count_; }
  std::uint32_t slot_size() const { return slot_size_; }  // bytes
  std::uint32_t in_use() const { return slot_count_ - free_count_; }

  // A slot for the next WQE. False if all that may be in use are.
  bool take(std::uint32_t& slot) {
    if (in_use() >= max_wr) return false;
    slot = free_[--free_count_];
    return true;
  }
  void give_back(std::uint32_t slot) { free_[free_count_++ & (slot_count_ - 1)] = slot & (slot_count_ - 1); }

  void* slot(std::uint32_t slot) const { return slots_ + std::size_t{slot & (slot_count_ - 1)} * slot_size_; }
  std::uint64_t& wr_id(std::uint32_t slot) const { return wr_ids_[slot & (slot_count_ - 1)]; }

  // Puts a written slot behind those posted before; the device sees it from `publish` on.
  void post(std::uint32_t slot) { posted_[producer_++ & (slot_count_ - 1)] = slot; }
  void publish() { shared_producer_->store(producer_, std::memory_order_release); }

 private:
  char* slots_ = nullptr;
  std::uint32_t* posted_ = nullptr;
  std::atomic<std::uint32_t>* shared_producer_ = nullptr;
  std::uint64_t* wr_ids_ = nullptr;
  std::uint32_t* free_ = nullptr;  // a stack: the slot used last is in the cache
  std::uint32_t free_count_ = 0;
  std::uint32_t slot_count_ = 0;
  std::uint32_t slot_size_ = 0;
  std::uint32_t producer_ = 0;
};

}  // namespace urnic::provider
