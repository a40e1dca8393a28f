// Packets that others have overtaken: lost, or late. Decides when they count as lost, as RACK does for TCP
// (RFC 8985, section 6.2).
//
// A suspect is lost
// - as soon as `reordering` packets that were sent later have arrived, and one more; or
// - when it has been a suspect for long enough and no further arrival can be expected to tell. How long that
//   is follows from the reordering seen (reordering_window.hpp). While none was seen it is half of the time
//   by which the repair delays the end of what is under way, so that the wait adds at most half to the price
//   of the loss; and nothing while something is being recovered.
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
  enum class Witness : std::uint8_t {
    report,   // the peer: an ACK or a selective ack
    response  // the packet itself: a response
  };
  SendOrder order = 0;
  SendOrder certain = 0;
  PacketNumber limit;
  PacketNumber packet;  // which has arrived
  Witness witness = Witness::report;
};

class Suspects {
 public:
  // Of the packets on `board`, which must outlive this. `reordering` packets may overtake another.
  Suspects(Scoreboard& board, std::uint32_t reordering) : board_(board), reordering_(reordering) {}

  // Nothing is under way; the next packet will be `first`.
  void clear(PacketNumber first);
  // A packet left for the first time.
  void sent_new(Time now) { new_sent_at_ = now; }

  // What of the news of one response is to be judged by `settle`; of several the one that was sent last.
  void take(const Evidence& evidence);
  // `arrival` is evidence about packets with numbers below `limit`.
  void take(const Scoreboard::Arrival& arrival, PacketNumber limit, Evidence::Witness witness);
  // Packets below `until`, of which `from` is the first that was not known to have arrived, have. `too_soon`
  // says that the one sent again last arrived sooner than it can have: its first transmission was late.
  void learn(const Scoreboard::Arrival& arrival, PacketNumber from, PacketNumber until, bool too_soon,
             Time now);
  // `packet` arrived after one with a higher number.
  bool was_overtaken(PacketNumber packet) const { return packet < highest_; }
  // The news of one response are told: what they prove to be lost is.
  void settle(Time now);

  // Something that is under way now is judged lost: a recovery begins or goes on. It ends when all that was
  // under way is acknowledged.
  void recover();
  // After every change of the board that is none of the above.
  void look();

  bool any() const { return suspicion_.has_value(); }
  // When the suspects are to be judged if nothing tells before; empty if arrivals can still be expected to.
  // `nothing_new` says that nothing new can be sent now.
  std::optional<Time> verdict(bool nothing_new, const RoundTripTime& round_trip) const;
  // All of them are lost.
  void judge();

 private:
  struct Suspicion {
    Evidence evidence;
    Time since;
  };

  bool recovering() const { return board_.unacknowledged() < recovery_end_; }
  // A READ that the peer keeps until its turn has reached it: only responses tell what became of its own.
  static Scoreboard::Early early(const Evidence& evidence, SendOrder order) {
    return {order, evidence.limit, evidence.witness == Evidence::Witness::response};
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
  PacketNumber latest_response_;  // the last that came as a witness, and when
  Time latest_response_at_;
  ReorderingWindow window_;
  PacketNumber highest_;       // beyond the highest that has arrived, by the settled news
  PacketNumber next_highest_;  // and by all
  PacketNumber recovery_end_;  // beyond all that was under way when something was judged lost
};

}  // namespace urnic::transport
