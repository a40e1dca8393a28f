// What a requester knows of each packet that is not acknowledged: under way, lost, or arrived out of order;
// and in which order the packets under way were sent.
//
// While everything is in order, the packet numbers alone say all this, and there are no entries. When the
// first packet is lost or arrives early, the packets get entries in a ring; when everything sent until then
// is acknowledged, the entries are forgotten again.
//
// Packets beyond the ring (the end of a very long READ) count as under way; they get entries when the
// acknowledgements come near.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "device_model/transport/lazy_array.hpp"
#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

// A place in the sequence of everything that was sent, first time or again.
using SendOrder = std::uint64_t;

class Scoreboard {
 public:
  // What the arrival of a packet says about those sent before it.
  struct Arrival {
    PacketNumber packet;
    SendOrder order = 0;  // of the transmission that was sent last
    bool again = false;   // it was sent more than once
    Time sent_at;         // of the last transmission; known only if `again`
    // Of all packets that have arrived with it, the latest that was sent again: when, and its place.
    std::optional<Time> again_at = {};
    SendOrder again_order = 0;
    // Of all packets that have arrived with it, the lowest that was sent once, and not postponed.
    std::optional<PacketNumber> lowest_once = {};
  };

  // Room for entries of at least `window` packets from the first that is not acknowledged.
  explicit Scoreboard(std::uint32_t window);
  // Nothing is sent; the next packet will be `first`.
  void clear(PacketNumber first);

  PacketNumber unacknowledged() const { return base_; }
  PacketNumber end() const { return high_; }
  // Arrivals of packets before this one can be noted: they are sent, and in the ring.
  PacketNumber covered_end() const { return std::min(high_, base_ + ring_size()); }
  bool covers(PacketNumber packet) const { return base_ <= packet && packet < covered_end(); }
  // How many packets are known to have arrived ahead of the first that is not acknowledged.
  std::uint32_t arrived_ahead() const { return arrived_ahead_; }
  bool has_arrived(PacketNumber packet) const {
    return packet < base_ || (exact_ && packet < tracked_end_ && at(packet).state == State::arrived);
  }
  // Sent, and neither arrived nor judged lost.
  bool is_under_way(PacketNumber packet) const;
  // The same, and sent again since.
  bool is_under_way_again(PacketNumber packet) const;
  // It is not acknowledged, and was sent more than once.
  bool was_sent_again(PacketNumber packet) const {
    return exact_ && base_ <= packet && packet < tracked_end_ && at(packet).again;
  }
  // It is under way, and was sent once, before `order`.
  bool was_sent_before(PacketNumber packet, SendOrder order) const {
    return exact_ && is_under_way(packet) && packet < tracked_end_ && at(packet).late == Entry::Late::no &&
           at(packet).order < order;
  }
  // When it was sent again last; empty if it is not under way again.
  std::optional<Time> under_way_again_since(PacketNumber packet) const;

  // Sent for the first time; `packets` begins at end().
  void sent(PacketRange packets);
  // Sent again, as far as it has not arrived in the meantime.
  void sent_again(PacketRange packets, Time now);

  // Everything before `until` has arrived. What the latest of those says that had not arrived before.
  std::optional<Arrival> acknowledge(PacketNumber until);
  // All of `packets`, which must be covered, have arrived. What the latest of those says that had not been
  // known to have arrived; empty if there are none.
  std::optional<Arrival> arrive(PacketRange packets);
  // `packet`, which must be covered, has arrived, but its response is still to come: it counts as sent just
  // now. Returns its place in the send order before.
  SendOrder postpone(PacketNumber packet);

  // `packet` is judged lost, if it is under way and covered.
  void lose(PacketNumber packet);
  // All from `first` on that have not arrived are judged lost anew, in the order of their numbers.
  void lose_from(PacketNumber first);
  // `packet`, if it is covered, becomes lost even if it has arrived: only a repeat can bring the missing
  // acknowledgement.
  void doubt(PacketNumber packet);
  // The same; it is to be sent before all others that are lost.
  void doubt_first(PacketNumber packet);
  // Which packets under way were sent early: before `order`, and with a number below `limit`.
  struct Early {
    SendOrder order = 0;
    PacketNumber limit;
    bool postponed_too = true;  // those that were postponed, by the place that they got then
  };
  // All these are judged lost: those sent once first, then those sent again, the earliest first. False if
  // there are none.
  bool lose(const Early& early);
  bool any(const Early& early) const;
  // When the earliest of those under way that were sent again was; empty if there is none.
  std::optional<Time> first_sent_again() const;
  // Those under way that were sent again not later than `time` are judged lost.
  void lose_sent_again_until(Time time);
  // All packets from `from` on become lost, even those that have arrived.
  void forget_arrivals(PacketNumber from);
  // Packets from `end` on do not count any more.
  void truncate(PacketNumber end);

  // The packet that was judged lost first, and lost packets that follow it in number and in time of
  // judgement; at most `most`.
  std::optional<PacketRange> first_lost(std::uint32_t most) const;
  // The first from `from` on, before `limit`, that has not arrived; `limit` if none.
  PacketNumber first_missing(PacketNumber from, PacketNumber limit) const;

 private:
  enum class State : std::uint8_t { under_way, lost, arrived };
  struct Entry {
    SendOrder order;
    Time sent_at;
    std::uint32_t before;  // neighbours in the list of its state
    std::uint32_t behind;
    State state;
    bool again;
    // Sent again, or postponed since: behind packets with higher numbers in send order.
    enum class Late : std::uint8_t { no, sent_again, postponed } late;
  };
  // Entries in one state, by their places in the ring; those under way in send order. Packets that were sent
  // once are in the order of their numbers, too; the others have lists of their own.
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint64_t ring_size() const { return std::uint64_t{mask_} + 1; }
  std::uint32_t place(PacketNumber packet) const {
    return static_cast<std::uint32_t>(packet.value()) & mask_;
  }
  Entry& at(PacketNumber packet) { return entries_[place(packet)]; }
  const Entry& at(PacketNumber packet) const { return entries_[place(packet)]; }
  PacketNumber number_of(std::uint32_t place) const;
  List& list_of(const Entry& entry) {
    if (entry.state == State::lost) return lost_;
    if (entry.late == Entry::Late::no) return under_way_;
    return entry.late == Entry::Late::sent_again ? sent_again_ : postponed_;
  }
  void send_late(PacketNumber packet, Entry::Late how);
  bool lose_late(const List& list, const Early& early);
  bool any(const List& list, const Early& early) const;
  void append(PacketNumber packet, State state);
  void put_first(PacketNumber packet);
  void remove(PacketNumber packet);
  // All from `first` to `last`, which are in one list, in this order.
  void remove_run(PacketNumber first, PacketNumber last);
  void move_to(PacketNumber packet, State state);
  Arrival arrival_of(PacketNumber packet) const;
  struct TakenOut {
    std::uint32_t count = 0;
    std::optional<Arrival> latest;
  };
  // Takes those of `packets`, which have entries, that have not arrived out of their lists. How many those
  // are, and what the latest of them says.
  TakenOut take_out(PacketRange packets);

  void become_exact();
  void add_entries();
  void forget_entries_if_in_order();

  LazyArray<Entry> entries_;
  std::uint32_t mask_;
  PacketNumber base_;
  PacketNumber high_;
  SendOrder next_order_ = 0;

  bool exact_ = false;         // the packets [base_, tracked_end_) have entries
  PacketNumber tracked_end_;   //
  PacketNumber disorder_end_;  // beyond all that was sent when order was last disturbed
  List under_way_;
  List sent_again_;
  List postponed_;
  List lost_;
  std::uint32_t arrived_ahead_ = 0;
};

}  // namespace urnic::transport
