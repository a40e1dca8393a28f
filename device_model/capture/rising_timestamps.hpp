// Timestamps that rise strictly, from a clock that may stand still or be set back.
#pragma once

#include <cstdint>

namespace urnic::capture {

class RisingTimestamps {
 public:
  // Returns `now`, or one more than the last value if that is not below `now`.
  std::uint64_t next(std::uint64_t now) {
    last_ = now > last_ ? now : last_ + 1;
    return last_;
  }

 private:
  std::uint64_t last_ = 0;
};

}  // namespace urnic::capture
