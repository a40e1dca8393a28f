// Loss recovery with the specification's packets only: the peer keeps what arrives out of order, a NAK names
// its first hole, and just that packet is sent again. One hole a round trip.
//
// A peer that drops what is out of order is noticed by its next NAK, which names the packet behind the one
// that was sent again; from then on this sender goes back N, until an acknowledgement shows that the peer has
// kept something.
//
// The responses to a READ arrive here, so all their holes are known, and are asked for again at once.
#pragma once

#include "device_model/transport/probe_timer.hpp"
#include "device_model/transport/reordering_window.hpp"
#include "device_model/transport/scoreboard_recovery.hpp"

namespace urnic::transport {

class SelectiveRecovery : public ScoreboardRecovery {
 public:
  SelectiveRecovery(const RecoverySettings& settings, std::uint32_t window);

  void start(PacketNumber first) override;
  void sent(PacketRange packets, bool asks, Time now) override;
  void acknowledged(PacketNumber until, Source source, Time now) override;
  void missing(PacketRange missing, Time now) override;
  void refused(PacketRange packets, Time now) override;
  void timed_out(PacketRange oldest, Time now) override;
  void discarded(PacketNumber from) override;
  void truncate(PacketNumber end) override;
  void arrived(PacketNumber packet, Source source, Time now) override;
  void settle(Time now) override;
  void reached(PacketRange packets, Time now) override;
  std::optional<PacketRange> resend(std::uint32_t most) const override { return board_.first_lost(most); }
  bool may_send_new(std::uint64_t) const override { return true; }
  void set_ack_timeout(Nanoseconds interval) override { probe_.set_longest(interval / kProbesPerTimeout); }
  std::optional<Time> wake(bool nothing_new) const override;
  void woken(PacketRange oldest, PacketRange newest, bool nothing_new, Time now) override;

 protected:
  // By what an arrival is known.
  enum class Witness : std::uint8_t {
    report,   // the peer's word
    response  // the response itself
  };
  // What an arrival says: packets that were sent before `order` and have a number below `limit` have been
  // overtaken, and those sent before `certain` by more than any reordering does.
  struct Evidence {
    SendOrder order = 0;
    SendOrder certain = 0;
    PacketNumber limit;
    PacketNumber packet;  // which has arrived
    Witness witness = Witness::report;
  };
  // When the news are settled, what was overtaken by `arrival`, and has a number below `limit`, is judged.
  void will_judge(const std::optional<Scoreboard::Arrival>& arrival, PacketNumber limit, Witness witness,
                  Time now);
  // As `acknowledged`; what the latest of the packets that had not been known to have arrived says.
  std::optional<Scoreboard::Arrival> take_acknowledgement(PacketNumber until, Source source, Time now);
  std::optional<Scoreboard::Arrival> take_arrival(PacketNumber packet, Source source, Time now);

  ProbeTimer probe_;

 private:
  // A QP gives up by the local ACK timer. In each of its intervals what is missing is asked for several
  // times, or bad luck with a few packets would count as a dead path.
  static constexpr int kProbesPerTimeout = 4;

  void learn_from(PacketNumber until);
  void note_progress(Source source, Time now);
  bool sent_again_just_now(PacketNumber packet, Time now) const;
  Nanoseconds shortest_round_trip() const;
  bool too_soon(Time sent_at, Time now) const;
  Nanoseconds patience_again() const;
  void measure_again(const std::optional<Scoreboard::Arrival>& arrival, PacketNumber lowest, bool surely, Time now);

  void take_evidence(const Evidence& evidence);
  void learn_order(const Scoreboard::Arrival& arrival, PacketNumber lowest, Time now);
  bool overtaken(const Evidence& evidence) const {
    return board_.any_sent_before(evidence.order, evidence.limit);
  }
  void look_at_suspects();
  void judge_suspects();
  bool recovering() const { return board_.unacknowledged() < recovery_end_; }
  void recover() { recovery_end_ = board_.end(); }
  std::optional<Time> verdict(bool nothing_new) const;
  Nanoseconds free_wait() const;

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
  };
  std::optional<Hole> hole_;
  // From sending a packet again until its arrival is known. If it is lost once more, order may tell nothing:
  // a peer without selective acks keeps silent, and a READ may be the only one that is asked for again.
  RoundTripTime time_again_;

  std::optional<Evidence> evidence_;  // of the news that are not settled yet
  // What has been overtaken and may be late. Evidence that comes meanwhile waits: its suspects are judged
  // afterwards.
  struct Suspicion {
    Evidence evidence;
    Time since;
  };
  std::optional<Suspicion> suspicion_;
  std::optional<Suspicion> next_suspicion_;
  PacketNumber latest_response_;  // with suspects of responses: the latest that has come, and when
  Time latest_response_at_;
  Time new_sent_at_;  // when something was sent for the first time last
  Time suspected_at_;  // since when those judged last had been suspects
  ReorderingWindow window_;
  PacketNumber highest_;       // beyond the highest known to have arrived, by the news that are settled
  PacketNumber next_highest_;  // and by those that are not
  PacketNumber recovery_end_;  // beyond all that was sent when something was lost last
};

}  // namespace urnic::transport
