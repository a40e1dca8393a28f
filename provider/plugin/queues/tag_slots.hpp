// The provider's state of tag matching: the free entries of the list, the wr_ids of the others, and the ring
// of operations on the list (device_model/abi/tag_matching_ring.hpp). Nothing here waits or locks.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "device_model/abi/tag_matching_ring.hpp"

namespace urnic::provider {

class TagSlots {
 public:
  // Call once. `slots` is a power of two; at most `max_operations` of them are in use at once. `max_tags` is
  // at most 65536. The arena owns both pointers' memory. False when memory is short.
  bool attach(abi::TagOperation* operations, abi::TagMatchingIndices* indices, std::uint32_t slots,
              std::uint32_t max_operations, std::uint32_t max_tags) {
    operations_ = operations;
    indices_ = indices;
    slots_ = slots;
    max_operations_ = max_operations;
    max_tags_ = max_tags;
    posted_ = static_cast<Posted*>(std::calloc(slots, sizeof *posted_));
    entries_ = static_cast<Entry*>(std::calloc(max_tags, sizeof *entries_));
    free_ = static_cast<std::uint32_t*>(std::calloc(max_tags, sizeof *free_));
    if (posted_ == nullptr || entries_ == nullptr || free_ == nullptr) return false;
    for (std::uint32_t entry = max_tags; entry-- > 0;) free_[free_count_++] = entry;
    return true;
  }
  // Frees the memory from `attach`.
  void release() {
    std::free(posted_);
    std::free(entries_);
    std::free(free_);
  }

  // The slot of the next operation; null if `max_operations` are outstanding. An operation is outstanding
  // until the device has consumed it and its completion, if any, was polled.
  abi::TagOperation* next_operation() {
    reclaim();
    return producer_ - oldest_ >= max_operations_ ? nullptr : &at(producer_);
  }
  // Posts the operation written into the slot of `next_operation`. The device sees it after `publish`.
  void post(std::uint64_t wr_id, bool signaled) {
    posted_[producer_ & (slots_ - 1)] = {wr_id, signaled};
    ++producer_;
  }
  void publish() { indices_->producer.store(producer_, std::memory_order_release); }

  // Takes a free entry for a tagged buffer. False if there is none.
  bool take_entry(std::uint64_t wr_id, std::uint32_t& entry) {
    if (free_count_ == 0) reclaim();
    if (free_count_ == 0) return false;
    entry = free_[--free_count_];
    entries_[entry].wr_id = wr_id;
    entries_[entry].in_use = true;
    return true;
  }
  // The program's handle of the buffer in `entry`. It repeats only after 65,536 buffers in the same entry.
  std::uint32_t handle_of(std::uint32_t entry) const {
    return static_cast<std::uint32_t>(entries_[entry].generation) << 16 | entry;
  }
  // Finds the entry of the buffer `handle`: kNoTagEntry if the buffer is gone. False: no such entry exists.
  bool entry_of(std::uint32_t handle, std::uint32_t& entry) const {
    entry = handle & 0xFFFF;
    if (entry >= max_tags_) return false;
    if (!entries_[entry].in_use || handle_of(entry) != handle) entry = abi::kNoTagEntry;
    return true;
  }

  // The completion of operation `index` was polled. `removed`: the operation removed its entry's buffer.
  // Returns the operation's wr_id.
  std::uint64_t operation_done(std::uint32_t index, bool removed) {
    Posted& posted = posted_[index & (slots_ - 1)];
    posted.signaled = false;
    if (removed) free_entry(at(index).entry);
    at(index).removed = 0;
    return posted.wr_id;
  }
  std::uint64_t entry_wr_id(std::uint32_t entry) const { return entries_[entry % max_tags_].wr_id; }
  // Does nothing if the entry is free.
  void free_entry(std::uint32_t entry) {
    if (entry >= max_tags_ || !entries_[entry].in_use) return;
    entries_[entry].in_use = false;
    ++entries_[entry].generation;
    free_[free_count_++] = entry;
  }

 private:
  struct Entry {
    std::uint64_t wr_id;
    std::uint16_t generation;
    bool in_use;
  };
  struct Posted {
    std::uint64_t wr_id;
    bool signaled;  // its completion is still to be polled
  };

  abi::TagOperation& at(std::uint32_t index) const { return operations_[index & (slots_ - 1)]; }

  // Frees the slots of consumed operations, up to the first whose completion is still to be polled.
  void reclaim() {
    const std::uint32_t consumed = indices_->consumed.load(std::memory_order_acquire);
    for (; oldest_ != producer_ && oldest_ != consumed; ++oldest_) {
      if (posted_[oldest_ & (slots_ - 1)].signaled) return;
      settle(at(oldest_));
    }
  }
  // Frees the entry of a successful removal. If its completion was polled, operation_done has freed the entry
  // and set `removed` to 0.
  void settle(abi::TagOperation& operation) {
    const bool is_removal = operation.opcode == static_cast<std::uint8_t>(abi::TagOpcode::remove);
    if (is_removal && operation.removed != 0) free_entry(operation.entry);
  }

  abi::TagOperation* operations_ = nullptr;
  abi::TagMatchingIndices* indices_ = nullptr;
  Posted* posted_ = nullptr;
  Entry* entries_ = nullptr;
  std::uint32_t* free_ = nullptr;  // a stack
  std::uint32_t free_count_ = 0;
  std::uint32_t slots_ = 0;
  std::uint32_t max_operations_ = 0;
  std::uint32_t max_tags_ = 0;
  std::uint32_t producer_ = 0;
  std::uint32_t oldest_ = 0;  // the oldest outstanding operation
};

}  // namespace urnic::provider
