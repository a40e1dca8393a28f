// How fast a QP may send requests: an account of time that its packets use up as they would on a line of that
// rate. It may be ahead by a burst, and gets no credit for silence. A program sets the rate
// (IBV_QP_RATE_LIMIT). Responses are not paced: the peer waits for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device_model/transport/time.hpp"

namespace urnic::transport {

class SendPace {
 public:
  // From now on no faster than `rate_kbps`; 0: without a limit, as at the start. Packets may leave together
  // until they have used up `burst_bytes`; 0: one at a time.
  void limit(std::uint32_t rate_kbps, std::uint32_t burst_bytes) {
    *this = {};
    if (rate_kbps == 0) return;
    nanoseconds_per_byte_ = 8e6 / rate_kbps;
    burst_ = burst_bytes;
  }
  bool is_limited() const { return nanoseconds_per_byte_ != 0; }

  // Whether one packet, however long, may leave at `now`. If not, it may at `free_at`.
  bool may_send(Time now) const { return now >= free_at_ || (burst_left_ != 0 && now == burst_began_); }
  Time free_at() const { return free_at_; }

  // A packet left that is a frame of `bytes`. Only while `is_limited`.
  void sent(Time now, std::size_t bytes) {
    if (now >= free_at_) {
      burst_left_ = burst_;
      burst_began_ = now;
    }
    burst_left_ -= std::min<std::size_t>(burst_left_, bytes);
    const auto taken = static_cast<std::int64_t>(nanoseconds_per_byte_ * static_cast<double>(bytes));
    free_at_ = std::max(free_at_, now) + Nanoseconds(taken);
  }

 private:
  double nanoseconds_per_byte_ = 0;  // 0: no limit
  std::size_t burst_ = 0;
  std::size_t burst_left_ = 0;
  Time burst_began_{};
  Time free_at_{};
};

}  // namespace urnic::transport
