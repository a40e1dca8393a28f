// The number of an object as the source of events: from 1 on, and no other object of this process has had it.
// What the program calls the object in its events is an address: two processes that share a context after a
// fork may have objects at the same one.
#pragma once

#include <atomic>
#include <cstdint>

namespace urnic::engine {

class EventSource {
 public:
  std::uint32_t number() const { return number_; }

 private:
  static inline std::atomic<std::uint32_t> last_{0};
  std::uint32_t number_ = ++last_;
};

// The events of one source that were written to one pipe, or wait for room in it.
struct EventsTold {
  std::uint32_t source = 0;
  std::uint32_t count = 0;
};

}  // namespace urnic::engine
