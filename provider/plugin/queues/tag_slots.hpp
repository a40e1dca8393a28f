// What the provider keeps of tag matching: which entries of the list are free, the wr_ids of the others, and
// the ring of operations on it (device_model/abi/tag_matching.hpp). Nothing here waits or locks.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "device_model/abi/tag_matching.hpp"

namespace urnic::provider {

class TagSlots {
 public:
  // `slots`, a power of two, of which at most `max_operations` are in use at once; `max_tags` at most 65536.
  // False when memory is short. Once.
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
  void release() {
    std::free(posted_);
    std::free(entries_);
    std::free(free_);
  }

  // The place of the next operation; null if as many are outstanding as may be: those not consumed, and those
  // whose completion is not yet polled.
  abi::TagOperation* next_operation() {
    reclaim();
    return producer_ - oldest_ >= max_operations_ ? nullptr : &at(producer_);
  }
  // What `next_operation` gave was written. The device sees it from `publish` on.
  void post(std::uint64_t wr_id, bool signaled) {
    posted_[producer_ & (slots_ - 1)] = {wr_id, signaled};
    ++producer_;
  }
  void publish() { indices_->producer.store(producer_, std::memory_order_release); }

  // An entry for a tagged buffer. False if all are in use.
  bool take_entry(std::uint64_t wr_id, std::uint32_t& entry) {
    if (free_count_ == 0) reclaim();
    if (free_count_ == 0) return false;
    entry = free_[--free_count_];
    entries_[entry].wr_id = wr_id;
    entries_[entry].in_use = true;
    return true;
  }
  // What the program calls it: never the same as for a buffer that was in the entry before.
  std::uint32_t handle_of(std::uint32_t entry) const {
    return static_cast<std::uint32_t>(entries_[entry].generation) << 16 | entry;
  }
  // kNoTagEntry if the buffer of this name has gone. False if there cannot be one.
  bool entry_of(std::uint32_t handle, std::uint32_t& entry) const {
    entry = handle & 0xFFFF;
    if (entry >= max_tags_) return false;
    if (!entries_[entry].in_use || handle_of(entry) != handle) entry = abi::kNoTagEntry;
    return true;
  }

  // Completions that were polled. Of an operation, by its index; its wr_id.
  std::uint64_t operation_done(std::uint32_t index, bool removed) {
    Posted& posted = posted_[index & (slots_ - 1)];
    posted.signaled = false;
    if (removed) free_entry(at(index).entry);
    at(index).removed = 0;
    return posted.wr_id;
  }
  std::uint64_t entry_wr_id(std::uint32_t entry) const { return entries_[entry % max_tags_].wr_id; }
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
    bool signaled;  // and its completion not yet polled
  };

  abi::TagOperation& at(std::uint32_t index) const { return operations_[index & (slots_ - 1)]; }

  // Operations without completion are done with once consumed.
  void reclaim() {
    const std::uint32_t consumed = indices_->consumed.load(std::memory_order_acquire);
    for (; oldest_ != producer_ && oldest_ != consumed; ++oldest_) {
      if (posted_[oldest_ & (slots_ - 1)].signaled) return;
      settle(at(oldest_));
    }
  }
  // A removal whose completion was polled has removed what is in the slot already, and `removed` is 0 then.
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
  std::uint32_t oldest_ = 0;  // all before are done with
};

}  // namespace urnic::provider
