// The probe timeout (PTO): when a sender stops waiting for acknowledgements and sends a tail-loss probe or
// the oldest missing packet; well before the local ACK timer, which counts retries. Follows the measured
// round trip, and backs off while nothing comes back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/recovery/round_trip_time.hpp"

namespace urnic::transport {

// A QP gives up by the local ACK timer. In each of its intervals what is missing is asked for several times,
// or bad luck with a few packets would count as a dead path.
inline constexpr int kProbesPerTimeout = 4;

class ProbeTimer {
 public:
  void clear() {
    const Nanoseconds longest = longest_;
    const bool careful = careful_;
    *this = {};
    longest_ = longest;
    careful_ = careful;
  }
  // Does not back off beyond this.
  void set_longest(Nanoseconds longest) { longest_ = longest; }
  // The peer may be busy with what it was asked before, and a repeat waits for its turn there. So the first
  // measurement takes the longest time that the answer may have taken, from the first transmission on; later
  // ones correct it. `set_longest` limits the patience that follows.
  void be_careful(bool careful) { careful_ = careful; }

  const RoundTripTime& round_trip() const { return round_trip_; }
  bool measured() const { return round_trip_.smoothed() != Nanoseconds{0}; }
  // Something left, or something new was acknowledged.
  void activity(Time now) { last_activity_ = std::max(last_activity_, now); }
  // `path_measured`: a round trip was measured, here or by repeats. Before, the patience may simply be too
  // short: it stays as long as it has become (RFC 6298, section 5.5).
  void progress(Time now, bool path_measured) {
    if (path_measured) backoff_ = 0;
    in_vain_ = 0;
    asked_at_.reset();
    activity(now);
  }
  // An acknowledgement has come, of everything before `until`. The answer that was asked for last is due by
  // the time of that, however many came before.
  void still_asked(PacketNumber until) {
    if (last_ask_ && until <= last_ask_->packet) asked_at_ = last_ask_->at;
  }
  // The answer that is due was asked for last: it may be the newest packet that is lost.
  bool waits_for_last_ask() const { return last_ask_ && asked_at_ == last_ask_->at; }
  // A read response has come. Packets that the peer sent right behind it arrive soon or never: the timeout
  // counts from a round trip ago.
  void responded(Time now, bool path_measured) { progress(now - round_trip_.smoothed(), path_measured); }
  // Something came from a peer that answers in turn: it is at work.
  void heard(Time now) {
    activity(now);
    in_turn_since_ = std::max(in_turn_since_, now);
    if (asked_at_) asked_at_ = std::max(*asked_at_, now);
  }
  // Since when the next answer of such a peer is due.
  Time in_turn_since() const { return in_turn_since_; }
  // A round trip was measured elsewhere, which ends the backing off.
  void end_backing_off() { backoff_ = 0; }
  void fired(Time now) {
    backoff_ = std::min(backoff_ + 1, kMostBackoff);
    ++in_vain_;
    in_turn_since_ = std::max(in_turn_since_, now);
    asked_at_.reset();
    activity(now);
  }
  // It has fired for the first time since the last progress.
  bool fired_once() const { return backoff_ == 1; }
  // How often it has fired since the last progress.
  unsigned in_vain() const { return in_vain_; }
  Time deadline(Nanoseconds patience) const { return last_activity_ + backed_off(patience); }
  Time deadline() const { return deadline(round_trip_.patience()); }
  // The same for a peer that may stay silent while packets arrive: whatever leaves meanwhile, an
  // acknowledgement that was asked for is overdue.
  Time deadline_of_answer(Nanoseconds patience) const {
    return std::min(last_activity_, asked_at_.value_or(Time::max())) + backed_off(patience);
  }
  // `span`, doubled for every time that this fired since the last progress, as far as the longest.
  Nanoseconds backed_off(Nanoseconds span) const {
    return std::min(span * (std::int64_t{1} << backoff_), careful_ ? longest_ : std::max(longest_, span));
  }

  // One packet at a time is timed. One that is sent again is not, because either transmission may have
  // arrived (Karn's algorithm; RFC 6298, section 3), unless the peer answers both.
  void sent(PacketRange packets, bool asks, bool again, Time now) {
    activity(now);
    if (asks && !asked_at_) asked_at_ = now;
    if (asks) last_ask_ = Ask{packets.first, now};
    const bool covered = timed_ && packets.contains(*timed_);
    if (covered && again && !probed_at_ && !takes_any()) timed_.reset();
    if (timed_ || again || !asks) return;
    timed_ = packets.first;
    timed_at_ = now;
    probed_at_.reset();
  }
  void arrived(PacketRange packets, Time now) {
    if (timed_ && packets.contains(*timed_)) take_sample(now);
  }
  void acknowledged(PacketNumber until, Time now) {
    if (timed_ && *timed_ < until) take_sample(now);
  }
  // The timed packet's arrival may become known late, or only by a repeat: it is no measurement.
  void forget_sample() {
    if (takes_any()) return;
    timed_.reset();
    slow_.reset();
  }
  // A probe is sent although no packet is known to be missing: the answer may only be slow.
  void probes_silence(Time now) {
    if (timed_ && !probed_at_ && !careful_) probed_at_ = now;
  }
  // The peer has answered `packet`, or all packets up to it, once more. If the second answer follows the
  // first by as much as the probe followed the timed packet, both were answered: nothing was lost, the path
  // was slow (RFC 8985, section 7.4, learns this by a duplicate selective ack). True if this gives a round
  // trip. Without it, a round trip longer than the timeout would never be measured, and always be probed.
  bool answered_twice(PacketNumber packet, Time now) {
    if (!slow_ || packet < slow_->packet) return false;
    const Nanoseconds apart = now - slow_->answered_at;
    if (apart < slow_->probed_after / 2) return false;
    const bool both = apart < 2 * slow_->probed_after;
    if (both) round_trip_.lengthened(slow_->round_trip);
    slow_.reset();
    return both;
  }

 private:
  bool takes_any() const { return careful_ && !measured(); }

  static constexpr unsigned kMostBackoff = 10;
  struct Ask {
    PacketNumber packet;
    Time at;
  };
  // An answer to a packet for which a probe was sent.
  struct Slow {
    PacketNumber packet;
    Nanoseconds round_trip;    // if it answers the first transmission
    Nanoseconds probed_after;  // that
    Time answered_at;
  };

  void take_sample(Time now) {
    const Nanoseconds sample = std::max(now - timed_at_, Nanoseconds{1});
    if (probed_at_) {
      slow_ = Slow{*timed_, sample, *probed_at_ - timed_at_, now};
    } else {
      round_trip_.measured(sample);
      if (careful_) backoff_ = 0;
    }
    timed_.reset();
  }

  RoundTripTime round_trip_;
  Nanoseconds longest_ = Nanoseconds::max();
  bool careful_ = false;
  std::optional<PacketNumber> timed_;
  Time timed_at_;
  std::optional<Time> probed_at_;  // when the first probe for it was sent
  std::optional<Slow> slow_;
  Time last_activity_;
  Time in_turn_since_;
  std::optional<Time>
      asked_at_;  // when an acknowledgement was asked for, the first time since the last progress
  std::optional<Ask> last_ask_;
  unsigned backoff_ = 0;
  unsigned in_vain_ = 0;
};

}  // namespace urnic::transport
