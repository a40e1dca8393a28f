// How fast a QP may send requests: an account of time that its packets use up as they would on a line of that
// rate. It may be ahead by a burst, and gets no credit for silence. A program sets the rate
// (IBV_QP_RATE_LIMIT), and so may congestion control and its path (its static rate): the slowest one counts.
// Acknowledgements are not paced: the peer waits for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device_model/transport/send_rate.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class SendPace {
 public:
  // From now on no faster than `rate_kbps`; 0: without a limit, as at the start. Packets may leave together
  // until they have used up `burst_bytes`; 0: one at a time.
  void limit(std::uint32_t rate_kbps, std::uint32_t burst_bytes) {
    limit_ = rate_kbps == 0 ? 0 : 8e6 / rate_kbps;
    limit_burst_ = burst_bytes;
    free_at_ = {};
    burst_left_ = 0;
    choose();
  }
  // What the path of a connection takes, one packet at a time; 0: whatever the port sends (IBTA 9.11).
  void limit_path(std::uint32_t rate_kbps) {
    path_ = rate_kbps == 0 ? 0 : 8e6 / rate_kbps;
    choose();
  }
  // Packets that congestion control lets leave together: what its rate sends in this time. Each one alone
  // would cost the engine a turn.
  void let_together(Nanoseconds span) { together_ = static_cast<double>(span.count()); }
  // What congestion control allows, as often as that changes.
  void allow(SendRate rate) {
    allowed_ = rate.nanoseconds_per_byte();
    choose();
  }
  // Bytes that may leave together.
  std::size_t burst() const { return burst_; }
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

  // A datagram of `bytes` left for an address that takes no more (IBTA 9.11); 0: whatever the port sends.
  void sent_to(std::uint32_t rate_kbps, Time now, std::size_t bytes) {
    if (rate_kbps == 0) return;
    burst_left_ = 0;
    const auto taken = static_cast<std::int64_t>(8e6 / rate_kbps * static_cast<double>(bytes));
    free_at_ = std::max(free_at_, now + Nanoseconds(taken));
  }

 private:
  void choose() {
    nanoseconds_per_byte_ = std::max({limit_, allowed_, path_});
    burst_ = limit_burst_;
    if (allowed_ > limit_) burst_ = static_cast<std::size_t>(together_ / allowed_);
    if (path_ > std::max(limit_, allowed_)) burst_ = 0;
    if (is_limited()) return;
    free_at_ = {};
    burst_left_ = 0;
  }

  double nanoseconds_per_byte_ = 0;  // 0: no limit
  double limit_ = 0;                 // the program's
  double allowed_ = 0;               // by congestion control
  double path_ = 0;                  // the path's
  double together_ = 0;              // nanoseconds
  std::size_t limit_burst_ = 0;
  std::size_t burst_ = 0;
  std::size_t burst_left_ = 0;
  Time burst_began_{};
  Time free_at_{};
};

}  // namespace urnic::transport
