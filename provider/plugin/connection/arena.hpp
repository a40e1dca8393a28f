// The shared memory in which a context's queues lie: a few arenas that the device process makes, mapped once
// each. A queue is a range of one of them.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"
#include "provider/plugin/connection/control_connection.hpp"

namespace urnic::provider {

class ArenaTable {
 public:
  // Maps the range's arena if it is new (its descriptor is taken from `received`) and returns the range's
  // first byte. Null for an empty range and for one that lies outside its arena or cannot be mapped. Ranges
  // must be presented in the order in which the answers came.
  void* find(const abi::ArenaRange& range, ReceivedDescriptors& received);

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
