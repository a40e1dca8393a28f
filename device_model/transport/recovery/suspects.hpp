// Packets that others have overtaken: lost, or late. Decides when they count as lost, as RACK does for TCP
// (RFC 8985, section 6.2).
//
// A suspect is lost
// - as soon as more than `reordering` packets that were sent later have arrived; or
// - when it has been a suspect for long enough and no further arrival is expected. How long follows from the
//   reordering seen (reordering_window.hpp). If none was seen, it is half of the time by which the repair
//   delays everything under way, so that the wait adds at most half to the cost of the loss; no wait while a
//   loss is being repaired.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/recovery/reordering_window.hpp"
#include "device_model/transport/recovery/round_trip_time.hpp"
#include "device_model/transport/recovery/scoreboard.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

// What an arrival says: packets that were sent before `order` and have a number below `limit` have been
// overtaken; those that were sent before `certain` are lost.
struct Evidence {
  // What told of the arrival.
  enum class Kind : std::uint8_t {
    report,   // the peer: an ACK or a selective ack
    response  // the packet itself: a response
  };
  SendOrder order = 0;
  SendOrder certain = 0;
  PacketNumber limit;
  PacketNumber packet;  // which has arrived
  Kind kind = Kind::report;
  bool again = false;  // it was sent more than once: an earlier transmission may be the one that has arrived
};

class Suspects {
 public:
  // Of the packets on `board`, which must outlive this. `reordering` packets may overtake another.
  Suspects(Scoreboard& board, std::uint32_t reordering) : board_(board), reordering_(reordering) {}

  // Nothing is under way; the next packet will be `first`.
  void clear(PacketNumber first);
  // A packet left for the first time.
  void sent_new(Time now) { new_sent_at_ = now; }

  // Evidence from one response, for `settle` to judge; of several the one that was sent last counts.
  void take(const Evidence& evidence);
  // `arrival` is evidence about packets with numbers below `limit`.
  void take(const Scoreboard::Arrival& arrival, PacketNumber limit, Evidence::Kind kind);
  // Packets below `until` have arrived; `from` is the first that was not known to have. `too_soon`: the
  // packet sent again last arrived sooner than possible, so its first transmission was late.
  void learn(const Scoreboard::Arrival& arrival, PacketNumber from, PacketNumber until, bool too_soon,
             Time now);
  // `packet` arrived after one with a higher number.
  bool was_overtaken(PacketNumber packet) const { return packet < highest_; }
  // A response has been taken as a whole: packets that its evidence proves lost become lost.
  void settle(Time now);

  // A packet is judged lost: a recovery begins or continues. It ends when all packets under way now are
  // acknowledged.
  void recover();
  // To be called after every other change of the board.
  void look();

  bool any() const { return suspicion_.has_value(); }
  // When the suspects are to be judged; empty while further arrivals are expected to tell. `nothing_new`: no
  // new packet can be sent now.
  std::optional<Time> verdict(bool nothing_new, const RoundTripTime& round_trip) const;
  // All suspects become lost.
  void judge();

 private:
  struct Suspicion {
    Evidence evidence;
    Time since;
  };

  // The evidence says that more packets in a row are lost than may overtake another.
  bool is_doubtful(const Evidence& evidence) const {
    return evidence.again && board_.was_sent_before(highest_ + reordering_, evidence.order);
  }
  bool recovering() const { return board_.unacknowledged() < recovery_end_; }
  // A postponed READ has reached the peer: only responses can show that its own responses are lost.
  static Scoreboard::Early early(const Evidence& evidence, SendOrder order) {
    return {order, evidence.limit, evidence.kind == Evidence::Kind::response};
  }
  bool holds(const Suspicion& suspicion) const {
    return board_.any(early(suspicion.evidence, suspicion.evidence.order));
  }
  Nanoseconds price_of_repair(const RoundTripTime& round_trip) const;

  Scoreboard& board_;
  const std::uint32_t reordering_;
  std::optional<Evidence> evidence_;  // of the news that are not settled
  // The suspects, and what was overtaken later: that is judged after them.
  std::optional<Suspicion> suspicion_;
  std::optional<Suspicion> next_;
  Time judged_since_;             // since when those that were judged last had been suspects
  Time new_sent_at_;              // when the newest packet left
  PacketNumber latest_response_;  // the last that came as a kind, and when
  Time latest_response_at_;
  ReorderingWindow window_;
  PacketNumber highest_;       // beyond the highest that has arrived, by the settled news
  PacketNumber next_highest_;  // and by all
  PacketNumber recovery_end_;  // beyond all that was under way when something was judged lost
};

}  // namespace urnic::transport
