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

  // One packet at a time is timed. Of one that is sent again nobody knows which transmission has arrived
  // (Karn's algorithm; RFC 6298, section 3), unless the peer answers both.
  void sent(PacketRange packets, bool asks, bool again, Time now) {
    activity(now);
    if (timed_ && again && packets.first <= *timed_ && *timed_ < packets.end()) doubt_sample();
    if (timed_ || again || !asks) return;
    timed_ = packets.first;
    timed_at_ = now;
    in_doubt_ = false;
  }
  void arrived(PacketNumber packet, Time now) {
    if (timed_ == packet) take_sample(now);
  }
  void acknowledged(PacketNumber until, Time now) {
    if (timed_ && *timed_ < until) take_sample(now);
  }
  // What is sent again now may be why the timed packet's arrival becomes known.
  void doubt_sample() { in_doubt_ = true; }
  void forget_sample() {
    timed_.reset();
    doubtful_.reset();
  }
  // The peer has answered `packet` or what is before it once more: what was sent again had not been lost, but
  // was slow (as RFC 8985, section 7.4, tells by a duplicate selective ack). Without this, a probe that comes
  // too early would keep the round trip from ever being measured, and come too early for ever.
  // True if that is new.
  bool answered_twice(PacketNumber packet) {
    if (!doubtful_ || packet < doubtful_->packet) return false;
    round_trip_.lengthened(doubtful_->time);
    doubtful_.reset();
    return true;
  }

 private:
  static constexpr unsigned kMostBackoff = 10;
  struct Sample {
    PacketNumber packet;
    Nanoseconds time;
  };

  void take_sample(Time now) {
    const Nanoseconds sample = std::max(now - timed_at_, Nanoseconds{1});
    if (in_doubt_) {
      doubtful_ = Sample{*timed_, sample};
    } else {
      round_trip_.measured(sample);
    }
    timed_.reset();
  }

  RoundTripTime round_trip_;
  Nanoseconds longest_ = Nanoseconds::max();
  std::optional<PacketNumber> timed_;
  Time timed_at_;
  bool in_doubt_ = false;           // the timed packet, or what its answer waits for, was sent again
  std::optional<Sample> doubtful_;  // a round trip, unless its packet was lost
  Time last_activity_;
  unsigned backoff_ = 0;
};

}  // namespace urnic::transport
