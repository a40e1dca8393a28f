// The shared memory of a context's queues. The device process makes a few arenas, the provider maps each
// once, and a queue is a range of an arena.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"
#include "provider/plugin/connection/control_connection.hpp"

namespace urnic::provider {

class ArenaTable {
 public:
  // Returns the first byte of `range`, which stays the table's. Maps the arena if it is new, with the next
  // descriptor of `received`. Null for a range that is empty, lies outside its arena or cannot be mapped.
  // Ranges must be looked up in the order of the replies.
  void* find(const abi::ArenaRange& range, ReceivedDescriptors& received);

  // Makes every pointer from `find` invalid.
  void unmap_all();

 private:
  struct Arena {
    std::uint32_t number;
    std::uint64_t size;
    char* base;
  };

  const Arena* lookup(std::uint32_t number) const;
  const Arena* add(std::uint32_t number, std::uint64_t size, const Descriptor& descriptor);

  Arena* arenas_ = nullptr;
  std::uint32_t count_ = 0;
};

}  // namespace urnic::provider
