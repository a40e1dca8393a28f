// When a sender stops waiting for acknowledgements and sends the oldest missing packet again: well before the
// local ACK timer, which counts retries. Adapts to the measured round trip, and backs off while nothing comes
// back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/round_trip_time.hpp"

namespace urnic::transport {

class ProbeTimer {
 public:
  void clear() {
    const Nanoseconds longest = longest_;
    *this = {};
    longest_ = longest;
  }
  // Does not back off beyond this.
  void set_longest(Nanoseconds longest) { longest_ = longest; }

  const RoundTripTime& round_trip() const { return round_trip_; }
  // Something left, or something new was acknowledged.
  void activity(Time now) { last_activity_ = std::max(last_activity_, now); }
  void progress(Time now) {
    backoff_ = 0;
    activity(now);
  }
  // A read response has come. What the peer sent right behind it will be here soon, or never: a round trip of
  // the patience is over.
  void responded(Time now) { progress(now - round_trip_.smoothed()); }
  void fired(Time now) {
    backoff_ = std::min(backoff_ + 1, kMostBackoff);
    activity(now);
  }
  // It has fired for the first time since the last progress.
  bool fired_once() const { return backoff_ == 1; }
  Time deadline() const { return last_activity_ + backed_off(round_trip_.patience()); }
  // `span`, doubled for every time that this fired since the last progress, as far as the longest.
  Nanoseconds backed_off(Nanoseconds span) const {
    return std::min(span * (std::int64_t{1} << backoff_), std::max(longest_, span));
  }

  // One packet at a time is timed. A packet that is sent again tells nothing (Karn's algorithm).
  void sent(PacketRange packets, bool asks, bool again, Time now) {
    activity(now);
    if (timed_ && again && packets.first <= *timed_ && *timed_ < packets.end()) timed_.reset();
    if (timed_ || again || !asks) return;
    timed_ = packets.first;
    timed_at_ = now;
  }
  void arrived(PacketNumber packet, Time now) {
    if (timed_ == packet) take_sample(now);
  }
  void acknowledged(PacketNumber until, Time now) {
    if (timed_ && *timed_ < until) take_sample(now);
  }
  void forget_sample() { timed_.reset(); }

 private:
  static constexpr unsigned kMostBackoff = 10;

  void take_sample(Time now) {
    round_trip_.measured(std::max(now - timed_at_, Nanoseconds{1}));
    timed_.reset();
  }

  RoundTripTime round_trip_;
  Nanoseconds longest_ = Nanoseconds::max();
  std::optional<PacketNumber> timed_;
  Time timed_at_;
  Time last_activity_;
  unsigned backoff_ = 0;
};

}  // namespace urnic::transport
