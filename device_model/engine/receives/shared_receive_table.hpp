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
  explicit SharedReceiveTable(std::uint32_t limit, memory::NumberSeed seed = {});
  ~SharedReceiveTable();

  // Gives the queue a number, never 0, and not one in recent use. 0: the table is full. May throw
  // std::bad_alloc.
  std::uint32_t add(SharedReceiveQueue& queue);
  void remove(std::uint32_t number);
  // Null if no SRQ has this number.
  SharedReceiveQueue* find(std::uint32_t number) const;

 private:
  std::uint32_t limit_;
  std::uint32_t next_;
  std::unordered_map<std::uint32_t, SharedReceiveQueue*> queues_;
};

}  // namespace urnic::engine
