#include "provider/plugin/fast_path/empty_polls.hpp"

#include <algorithm>

namespace urnic::provider {

// The nap doubles when the poll after it is empty, and shrinks by a quarter when that poll finds something,
// so it becomes about as long as the waits. While it is the shortest, a thread yields for some time before
// it.
void EmptyPolls::found(std::uint32_t completions) {
  found_ += completions;
  if (napped_) nap_ = std::max(nap_ - nap_ / 4, kShortestNap);
  napped_ = false;
  in_a_row_ = 0;
  row_began_ = 0;
}

std::int64_t EmptyPolls::nap_at(std::int64_t now, bool starved) {
  const bool first = row_began_ == 0;
  const bool only_polls = first || now - rest_ended_ < kElsewhere;
  if (first) {
    row_began_ = now;
    among_many_ = found_ > 1;
    found_ = 0;
  }
  if (!starved || !only_polls) {
    napped_ = false;
    nap_ = kShortestNap;
    row_began_ = now;
    return 0;
  }
  const std::int64_t before_nap = among_many_ ? kBeforeNapAmongMany : kBeforeNap;
  if (nap_ == kShortestNap && now - row_began_ < before_nap) return 0;
  if (napped_) nap_ = std::min(nap_ * 2, kLongestNap);
  napped_ = true;
  return nap_;
}

EmptyPolls& empty_polls() {
  static thread_local EmptyPolls of_this_thread;
  return of_this_thread;
}

}  // namespace urnic::provider
