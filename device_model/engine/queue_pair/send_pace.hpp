// How fast a QP may send (IBV_QP_RATE_LIMIT): an account of time that its packets use up as they would on a
// line of that rate. It may be ahead by a burst, and is never credited for having been silent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "device_model/transport/time.hpp"

namespace urnic::engine {

class SendPace {
 public:
  // `rate_kbps` is not 0. Packets are let go together up to `burst_bytes`, or a packet if that is less.
  SendPace(std::uint32_t rate_kbps, std::uint32_t burst_bytes)
      : nanoseconds_per_byte_(8e6 / rate_kbps), burst_(burst_bytes) {}

  // Bytes that may be sent at `now`: a burst, at least `least`, or nothing; less what was promised in
  // `round`, which is `sent` only when the round is carried out.
  std::size_t room(transport::Time now, std::uint64_t round, std::size_t least) const {
    if (now < free_at_) return 0;
    const std::size_t room = std::max<std::size_t>(burst_, least);
    const std::size_t promised = round == promised_in_ ? promised_ : 0;
    return room - std::min(room, promised);
  }
  void promise(std::uint64_t round, std::size_t bytes) {
    promised_ = bytes + (round == promised_in_ ? promised_ : 0);
    promised_in_ = round;
  }
  transport::Time room_at() const { return free_at_; }

  void sent(transport::Time now, std::size_t bytes) {
    const auto taken = static_cast<std::int64_t>(nanoseconds_per_byte_ * static_cast<double>(bytes));
    free_at_ = std::max(free_at_, now) + transport::Nanoseconds(taken);
  }

 private:
  double nanoseconds_per_byte_;
  std::uint32_t burst_;
  std::uint64_t promised_in_ = 0;
  std::size_t promised_ = 0;
  transport::Time free_at_{};
};

}  // namespace urnic::engine
