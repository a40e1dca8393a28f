// The recoveries for peers that keep what arrives out of order: after a loss only what is missing is sent
// again, and a NAK for a sequence error does not use up a retry. Beside what every recovery is told and
// asked, these are told of each arrival, may keep new packets back, and have a timer of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device_model/transport/recovery/guesses.hpp"
#include "device_model/transport/recovery/loss_recovery.hpp"
#include "device_model/transport/recovery/scoreboard.hpp"

namespace urnic::transport {

class ScoreboardRecovery : public LossRecovery {
 public:
  ScoreboardRecovery* selective() final { return this; }

  void peer_gives(SelectiveAcks selective_acks) override {
    peer_is_stranger_ = selective_acks == SelectiveAcks::outside;
  }

  // The arrival of `packet` ahead of others can be noted.
  bool covers(PacketNumber packet) const { return board_.covers(packet); }
  // Beyond the last packet that is covered.
  PacketNumber covered_end() const { return board_.covered_end(); }
  bool has_arrived(PacketNumber packet) const { return board_.has_arrived(packet); }
  // How many packets have arrived ahead of others that have not.
  std::uint32_t arrived_ahead() const { return board_.arrived_ahead(); }
  // `packet`, which must be covered, is judged lost and not sent again yet.
  bool is_lost(PacketNumber packet) const {
    return !board_.has_arrived(packet) && !board_.is_under_way(packet);
  }
  // The first from `from` on, before `limit`, that has not arrived; `limit` if there is none.
  PacketNumber first_missing(PacketNumber from, PacketNumber limit) const {
    return board_.first_missing(from, limit);
  }

  // All of `packets`, which must be covered, have arrived ahead of others. False if that is known.
  virtual bool arrived(PacketRange packets, Source source, Time now) = 0;
  // A READ or atomic has reached the peer ahead of others; its response will be sent in its turn.
  virtual void reached(PacketRange /*packets*/) {}
  // The peer found no receive for these packets (RNR NAK) and has dropped them, even if it had kept them.
  virtual void refused(PacketRange packets, Time now) = 0;
  // A response has been taken as a whole. Losses are judged only now: before, the rest of the response might
  // have told of an arrival.
  virtual void settle(Time /*now*/) {}
  // The peer has answered `packet`, or all packets up to it, a second time: the repeat was needless.
  virtual void answered_twice(PacketNumber /*packet*/, Time /*now*/) {}
  // These packets, which are lost, are sent again only after `resume`, or when a timer says again that they
  // are lost.
  virtual void put_off(PacketRange packets, Time now) = 0;
  // Those of these packets that were put off are lost again.
  virtual void resume(PacketRange packets) = 0;
  // How long the local ACK timer waits (IBTA 9.7.6.1.3), max() if it is off; stays in force across `start`.
  virtual void set_ack_timeout(Nanoseconds /*interval*/) {}

  // In how many copies the oldest packet that has not arrived is sent again.
  virtual std::uint32_t copies_of_oldest() const { return 1; }
  // A packet that may be missing behind a hole, and may be sent again while nothing else can be sent; empty
  // if there is none.
  std::optional<PacketNumber> guess() const { return guesses_.next(); }
  // It was sent again.
  virtual void guessed(Time /*now*/) { guesses_.sent(); }
  // Neither it nor what follows it should be sent again.
  void end_guesses() { guesses_.end(); }

  // The peer drops what is behind a hole: what was lost is sent again in runs.
  virtual bool goes_back() const { return false; }

  // Packets were overtaken by others: they are lost or late. The arrival of newer packets will tell; `wake`
  // sets a time where no newer packet can be sent.
  bool has_suspects() const { return has_suspects_; }
  // When to call `woken`; empty: not at all. `nothing_new`: no new packet can be sent now; matters only if
  // there are suspects.
  virtual std::optional<Time> wake(bool nothing_new) const = 0;
  virtual void woken(const Overdue& overdue, bool nothing_new, Time now) = 0;

  // The smoothed round trip, for people who watch it; 0: not measured, or not by this recovery.
  virtual Nanoseconds round_trip() const { return Nanoseconds{0}; }

 protected:
  // Room for `window` packets from the first that is not acknowledged.
  explicit ScoreboardRecovery(std::uint32_t window) : board_(window) {}

  // Calls `act` with every packet of `range` that the scoreboard covers, in order.
  template <typename Act>
  void for_covered(PacketRange range, Act act) {
    for (PacketNumber packet = std::max(range.first, board_.unacknowledged());
         packet < range.end() && board_.covers(packet); packet = packet + 1) {
      act(packet);
    }
  }
  // All of `range` is lost, even what is known to have arrived.
  void doubt(PacketRange range) {
    for_covered(range, [this](PacketNumber packet) { board_.doubt(packet); });
  }

  bool has_suspects_ = false;
  bool peer_is_stranger_ = false;
  Guesses guesses_;
  Scoreboard board_;
};

}  // namespace urnic::transport
