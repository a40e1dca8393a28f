// Counters by key, in a table of a fixed size: a new key replaces the least recently used of the eight
// entries that it may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace urnic::fault {

class MatchCount {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t last_used = 0;  // 0: never
    std::uint32_t seen = 0;
    std::uint32_t taken = 0;
  };

  // `places`, a power of two; allocates here and never again.
  explicit MatchCount(std::size_t places) : entries_(places) {}

  // The counters of `key`, 64 well-mixed bits; those of a new key are 0.
  Entry& of(std::uint64_t key);

 private:
  static constexpr std::size_t kNeighbours = 8;

  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
};

}  // namespace urnic::fault
