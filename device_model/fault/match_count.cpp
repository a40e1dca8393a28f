#include "device_model/fault/match_count.hpp"

namespace urnic::fault {

MatchCount::Entry& MatchCount::of(std::uint64_t key) {
  const std::size_t mask = entries_.size() - 1;
  Entry* oldest = nullptr;
  for (std::size_t i = 0; i < kNeighbours; ++i) {
    Entry& entry = entries_[(key + i) & mask];
    if (entry.last_used != 0 && entry.key == key) {
      entry.last_used = ++uses_;
      return entry;
    }
    if (oldest == nullptr || entry.last_used < oldest->last_used) oldest = &entry;
  }
  *oldest = {key, ++uses_, 0, 0};
  return *oldest;
}

}  // namespace urnic::fault
