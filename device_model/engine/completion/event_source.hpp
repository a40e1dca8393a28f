// The number of an object that reports asynchronous events, which no other object of this process has had.
// The number that the program gave the object is an address: two processes that share a context after a fork
// may have objects at the same one.
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

}  // namespace urnic::engine
