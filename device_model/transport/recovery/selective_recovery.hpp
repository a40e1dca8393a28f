// Loss recovery with the specification's packets only: the peer keeps what arrives out of order, a NAK names
// its first hole, and just that packet is sent again. One hole a round trip; where that is too few, what
// follows is sent again on a guess (guesses.hpp). Such a peer is silent behind a hole: what is lost of a
// repair is found by asking for the oldest packet.
//
// A peer that drops what is out of order is noticed by its next NAK, which names the packet behind the one
// that was sent again; from then on this sender goes back N, until an acknowledgement shows that the peer has
// kept something.
//
// The responses to a READ arrive here, so all their holes are known, and are asked for again at once.
#pragma once

#include "device_model/transport/recovery/go_back_limit.hpp"
#include "device_model/transport/recovery/probe_timer.hpp"
#include "device_model/transport/recovery/scoreboard_recovery.hpp"
#include "device_model/transport/recovery/suspects.hpp"

namespace urnic::transport {

class SelectiveRecovery : public ScoreboardRecovery {
 public:
  SelectiveRecovery(const RecoverySettings& settings, std::uint32_t window);

  void start(PacketNumber first) override;
  void sent(PacketRange packets, bool asks, Time now) override;
  void acknowledged(PacketNumber until, Source source, Time now) override;
  void missing(PacketRange missing, Time now) override;
  void refused(PacketRange packets, Time now) override;
  void timed_out(const Overdue& overdue, Time now) override;
  void discarded(PacketNumber from) override;
  void truncate(PacketNumber end) override;
  bool arrived(PacketRange packets, Source source, Time now) override;
  void settle(Time now) override;
  void reached(PacketRange packets) override;
  void put_off(PacketRange packets, Time now) override { board_.sent_again(packets, now); }
  void resume(PacketRange packets) override;
  void answered_twice(PacketNumber packet, Time now) override;
  void peer_gives(SelectiveAcks selective_acks) override;
  std::uint32_t copies_of_oldest() const override { return copies_; }
  void guessed(Time now) override;
  bool goes_back() const override { return peer_ == Peer::drops; }
  // A peer without selective acks sends one NAK for a hole. If that is lost, only an acknowledgement that
  // does not come tells of the hole.
  std::uint32_t ack_interval() const override {
    if (goes_back()) return GoBackLimit::kAckInterval;
    return peer_reports_ ? 0 : kAckInterval;
  }
  std::optional<PacketRange> resend(std::uint32_t most) const override;
  bool may_send_new(std::uint64_t) const override { return may_send(); }
  void set_ack_timeout(Nanoseconds interval) override { probe_.set_longest(interval / kProbesPerTimeout); }
  std::optional<Time> wake(bool nothing_new) const override;
  void woken(const Overdue& overdue, bool nothing_new, Time now) override;
  Nanoseconds round_trip() const override { return probe_.round_trip().smoothed(); }

 protected:
  // When the news are settled: packets that `arrival` has overtaken, and that have numbers below `limit`, are
  // lost or suspects.
  void will_judge(const Scoreboard::Arrival& arrival, PacketNumber limit, Evidence::Kind kind, Time now);
  // As `acknowledged`; what the latest of the packets that had not been known to have arrived says.
  std::optional<Scoreboard::Arrival> take_acknowledgement(PacketNumber until, Source source, Time now);
  // The same for `arrived`.
  std::optional<Scoreboard::Arrival> take_arrival(PacketRange packets, Source source, Time now);

  // The peer reports each arrival out of order. Otherwise it is silent behind a hole.
  bool peer_reports_ = false;
  ProbeTimer probe_;

 private:
  // An acknowledgement costs little beside as many packets, and a round trip is seldom shorter than they are.
  static constexpr std::uint32_t kAckInterval = 32;

  // Its acknowledgements and NAKs are all that it tells, but it is no stranger: they come at once.
  bool is_silent() const { return !peer_reports_ && !peer_is_stranger_; }
  Time probe_deadline() const {
    return waits_for_answer() ? probe_.deadline_of_answer(patience()) : probe_.deadline(patience());
  }
  bool waits_for_answer() const;
  void probe(const Overdue& overdue, bool nothing_left);
  Nanoseconds patience() const;
  // A stranger that goes back N may be slow.
  bool is_limited() const { return peer_is_stranger_ && peer_ == Peer::drops; }
  bool may_send() const { return !is_limited() || go_back_limit_.may_send(board_.unacknowledged()); }
  void learn_peer(PacketNumber until);
  void note_progress(Source source, Time now);
  bool answered_in_turn(const Overdue& overdue) const { return peer_is_stranger_ && overdue.oldest_is_read; }
  void ask_in_turn(const Overdue& overdue);
  void guess_behind(PacketRange missing);
  bool sent_again_just_now(PacketNumber packet, Time now) const;
  Nanoseconds shortest_round_trip() const;
  bool too_soon(Time sent_at, Time now) const;
  // When the packet that was sent again first counts as lost; empty if there is none.
  std::optional<Time> hole_deadline() const;
  Nanoseconds patience_again() const;
  bool measured() const { return shortest_round_trip() != Nanoseconds{0}; }
  void learn_from(const Scoreboard::Arrival& arrival, PacketNumber from, PacketNumber until, bool surely,
                  Time now);
  void doubt_from(PacketRange oldest);
  void look_at_suspects();

  const std::uint32_t reordering_;
  // What is known of a peer that gives no selective acks.
  enum class Peer : std::uint8_t { unknown, keeps, drops };
  Peer peer_ = Peer::unknown;
  // The hole that the peer named last. If it keeps what is behind, an acknowledgement will jump over packets
  // that were sent before the NAK and not again.
  struct Hole {
    PacketRange packets;
    PacketNumber sent_before;
    PacketNumber again_until;  // beyond all that was sent again
    Time named;
    bool sent_once;  // when the peer named it
  };
  std::optional<Hole> hole_;
  std::uint32_t holes_in_a_row_ = 0;  // each named when the one before it was filled
  std::uint32_t holes_queued_ = 0;    // each had left when the one before it was named
  // A run of losses looks like a peer that drops, too.
  static constexpr std::uint32_t kProofAgainstKeeping = 16;
  GoBackLimit go_back_limit_;
  // A run of losses among the answers of a silent peer takes as many answers: each time that it was asked in
  // vain it is asked twice as often.
  static constexpr unsigned kMostDoublings = 3;
  std::uint32_t copies_ = 1;  // of the oldest packet
  // From sending a packet again until its arrival is known. If it is lost once more, order may tell nothing:
  // a peer without selective acks keeps silent, and a READ may be the only one that is asked for again.
  RoundTripTime time_again_;
  Time reported_at_;  // when the peer last reported an arrival ahead of others

  Suspects suspects_;
};

}  // namespace urnic::transport
