// A device's shared receive queues by number; numbers have 24 bits as in XRC's wire format (IBTA A14).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "device_model/memory/number_seed.hpp"

namespace urnic::engine {

class SharedReceiveQueue;

// Engine thread only.
class SharedReceiveTable {
 public:
  explicit SharedReceiveTable(std::uint32_t limit, memory::NumberSeed seed = {})
      : limit_(limit), next_(static_cast<std::uint32_t>(seed.bits(memory::NumberDraw::srq_number)) & kMask) {}

  // Gives the queue a number, never 0, and not one in recent use. 0: the table is full. May throw
  // std::bad_alloc.
  std::uint32_t add(SharedReceiveQueue& queue) {
    if (queues_.size() >= limit_) return 0;
    do {
      next_ = (next_ + 1) & kMask;
    } while (next_ == 0 || queues_.contains(next_));
    queues_.emplace(next_, &queue);
    return next_;
  }
  void remove(std::uint32_t number) { queues_.erase(number); }
  // Null if no SRQ has this number.
  SharedReceiveQueue* find(std::uint32_t number) const {
    const auto found = queues_.find(number);
    return found == queues_.end() ? nullptr : found->second;
  }

 private:
  static constexpr std::uint32_t kMask = 0xFFFFFF;

  std::uint32_t limit_;
  std::uint32_t next_;
  std::unordered_map<std::uint32_t, SharedReceiveQueue*> queues_;
};

}  // namespace urnic::engine
