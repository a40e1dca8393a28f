// The provider's state of a shared receive queue: the free slots, the wr_ids of the others, and the ring of
// posted slots, which the device reads (abi/queues.hpp: SharedReceiveIndices).
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "provider/freestanding/lock.hpp"

namespace urnic::provider {

class SharedReceiveSlots {
 public:
  Mutex lock;  // guards all other members

  // Allocates the wr_ids and the free list for `slot_count` slots, which is never less than before. False
  // when memory is short.
  bool reserve(std::uint32_t slot_count) {
    auto* wr_ids = static_cast<std::uint64_t*>(std::realloc(wr_ids_, sizeof *wr_ids_ * slot_count));
    if (wr_ids != nullptr) wr_ids_ = wr_ids;
    auto* free_slots = static_cast<std::uint32_t*>(std::realloc(free_, sizeof *free_ * slot_count));
    if (free_slots != nullptr) free_ = free_slots;
    return wr_ids != nullptr && free_slots != nullptr;
  }

  // Uses `slots` and the ring `posted`, which lie in arenas. `slot_count` (reserved before) and `slot_size`
  // (bytes) are powers of two. Slots that were attached before keep their state; new ones are free.
  void attach(void* slots, std::uint32_t* posted, std::uint32_t slot_count, std::uint32_t slot_size) {
    slots_ = static_cast<char*>(slots);
    posted_ = posted;
    slot_size_ = slot_size;
    for (std::uint32_t slot = slot_count; slot-- > slot_count_;) free_[free_count_++] = slot;
    slot_count_ = slot_count;
  }
  // `shared_producer`: the producer index that the device reads.
  void use(std::atomic<std::uint32_t>* shared_producer) { shared_producer_ = shared_producer; }
  // Frees the memory from `reserve`.
  void release() {
    std::free(wr_ids_);
    std::free(free_);
  }

  std::uint32_t max_wr = 0;  // limit of slots in use
  std::uint32_t max_sge = 0;

  std::uint32_t slot_count() const { return slot_count_; }
  std::uint32_t slot_size() const { return slot_size_; }  // bytes
  std::uint32_t in_use() const { return slot_count_ - free_count_; }

  // Takes a free slot for the next WQE. False if `max_wr` slots are in use.
  bool take(std::uint32_t& slot) {
    if (in_use() >= max_wr) return false;
    slot = free_[--free_count_];
    return true;
  }
  // Frees a slot that `take` gave.
  void give_back(std::uint32_t slot) { free_[free_count_++ & (slot_count_ - 1)] = slot & (slot_count_ - 1); }

  void* slot(std::uint32_t slot) const { return slots_ + std::size_t{slot & (slot_count_ - 1)} * slot_size_; }
  std::uint64_t& wr_id(std::uint32_t slot) const { return wr_ids_[slot & (slot_count_ - 1)]; }

  // Appends a written slot to the ring of posted slots. The device sees it after `publish`.
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
