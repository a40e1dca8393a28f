// How long the engine waits for a reader of a full ring: as long as the reader makes progress, and a while
// longer.
#pragma once

#include <cstdint>

namespace urnic::capture {

class ReaderPatience {
 public:
  // `limit` and `now` are nanoseconds of a clock that does not go back; `tail` is the reader's position.
  ReaderPatience(std::int64_t limit, std::uint64_t tail, std::int64_t now)
      : limit_(limit), tail_(tail), progress_at_(now) {}

  // True if the reader, which is at `tail` at the time `now`, has not moved for the limit.
  bool ends(std::uint64_t tail, std::int64_t now) {
    if (tail != tail_) {
      tail_ = tail;
      progress_at_ = now;
    }
    return now - progress_at_ >= limit_;
  }

 private:
  std::int64_t limit_;
  std::uint64_t tail_;
  std::int64_t progress_at_;
};

}  // namespace urnic::capture
