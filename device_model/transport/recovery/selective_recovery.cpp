#include "device_model/transport/recovery/selective_recovery.hpp"

#include <algorithm>

namespace urnic::transport {

SelectiveRecovery::SelectiveRecovery(const RecoverySettings& settings, std::uint32_t window)
    : ScoreboardRecovery(window), reordering_(settings.reordering), suspects_(board_, settings.reordering) {}

void SelectiveRecovery::start(PacketNumber first) {
  board_.clear(first);
  probe_.clear();
  peer_ = Peer::unknown;
  hole_.reset();
  holes_in_a_row_ = holes_queued_ = 0;
  copies_ = 1;
  go_back_limit_.clear(first);
  guesses_.clear(first);
  time_again_.clear();
  reported_at_ = {};
  suspects_.clear(first);
  has_suspects_ = false;
}

void SelectiveRecovery::sent(PacketRange packets, bool asks, Time now) {
  const bool again = packets.first < board_.end();
  // The response to a long READ may wait behind other responses: its time says little about the path.
  const bool alone = board_.unacknowledged() == board_.end();
  const bool timed = asks && (packets.count == 1 || alone || peer_is_stranger_ || !probe_.measured());
  probe_.sent(packets, timed, again, now);
  if (is_limited()) go_back_limit_.sent(packets.count);
  if (!again) {
    suspects_.sent_new(now);
    board_.sent(packets);
    return;
  }
  board_.sent_again(packets, now);
  if (hole_) hole_->again_until = std::max(hole_->again_until, packets.end());
}

// An acknowledgement that covers a packet sent again, and nothing behind it, names the next hole. Packets
// sent before that repeat have reached the peer or are lost; the peer's NAK for the hole may have been lost.
void SelectiveRecovery::acknowledged(PacketNumber until, Source source, Time now) {
  const std::optional<Scoreboard::Arrival> latest = take_acknowledgement(until, source, now);
  if (!latest || !latest->again_at || source != Source::executed || too_soon(*latest->again_at, now)) return;
  const SendOrder before = latest->again_order > reordering_ ? latest->again_order - reordering_ : 0;
  suspects_.take({.order = before, .certain = before, .limit = until + 1, .packet = until});
}

std::optional<Scoreboard::Arrival> SelectiveRecovery::take_acknowledgement(PacketNumber until, Source source,
                                                                           Time now) {
  if (until <= board_.unacknowledged()) return std::nullopt;
  // The peer named this packet as missing: so the last transmission arrived, not an earlier one. A guess that
  // had left may have arrived since.
  const bool named = hole_ && hole_->packets.first < until && !guesses_.contain(hole_->packets.first);
  learn_peer(until);
  guesses_.acknowledged(until);
  probe_.acknowledged(until, now);
  const PacketNumber from = board_.unacknowledged();
  const std::optional<Scoreboard::Arrival> arrival = board_.acknowledge(until);
  if (is_limited()) go_back_limit_.arrived(until - from);
  note_progress(source, now);
  if (source == Source::executed && is_silent()) probe_.still_asked(until);
  if (arrival) learn_from(*arrival, from, until, named, now);
  return arrival;
}

// What was sent again before the peer named it may fill the hole, and what was sent again may be acknowledged
// by an earlier repeat: neither shows that the peer has kept something.
void SelectiveRecovery::learn_peer(PacketNumber until) {
  if (!hole_) return;
  const bool jumps = hole_->again_until < until && hole_->again_until < hole_->sent_before;
  if (jumps && hole_->sent_once && !board_.was_sent_again(PacketNumber(until.value() - 1))) {
    peer_ = Peer::keeps;
  }
  if (hole_->sent_before <= until) hole_.reset();
}

// A peer that holds packets names the same hole again when more packets pass it; by then the repeat for the
// first NAK is on its way. A stranger that goes back N may be asked for more than one packet again, and name
// the second one before it has come to its repeat.
bool SelectiveRecovery::sent_again_just_now(PacketNumber packet, Time now) const {
  if (hole_ && hole_->packets.first == packet && now - hole_->named < shortest_round_trip()) return true;
  const std::optional<Time> again = peer_is_stranger_ ? board_.under_way_again_since(packet) : std::nullopt;
  return again && now - *again < shortest_round_trip();
}

void SelectiveRecovery::missing(PacketRange missing, Time now) {
  if (missing.first < board_.unacknowledged() || sent_again_just_now(missing.first, now)) return;
  const bool next_to_hole = hole_ && missing.first == hole_->packets.end() &&
                            missing.first < hole_->sent_before && board_.is_under_way(missing.first);
  holes_in_a_row_ = next_to_hole ? holes_in_a_row_ + 1 : 0;
  const std::uint32_t proof = peer_ == Peer::keeps ? kProofAgainstKeeping : 1;
  if (peer_ != Peer::drops && holes_in_a_row_ >= proof) peer_ = Peer::drops;
  copies_ = 1;
  guess_behind(missing);
  go_back_limit_.hole(missing.first);
  hole_ = Hole{.packets = missing,
               .sent_before = board_.end(),
               .again_until = missing.end(),
               .named = now,
               .sent_once = !board_.was_sent_again(missing.first)};
  suspects_.recover();
  // Behind a hole the peer's acknowledgements wait until it is filled.
  if (is_silent()) probe_.forget_sample();
  if (peer_ == Peer::drops) {
    board_.lose_from(missing.first);
  } else {
    for_covered(missing, [this](PacketNumber packet) { board_.lose(packet); });
  }
}

// What had left when the peer named the hole before this one is at the peer by now, or lost: if this hole is,
// and the one before was, too, others are. A stranger may be slow, and a peer that drops what is behind a
// hole gets all of it anyway.
void SelectiveRecovery::guess_behind(PacketRange missing) {
  const bool queued = hole_ && hole_->packets.end() <= missing.first && missing.first < hole_->sent_before;
  holes_queued_ = queued ? holes_queued_ + 1 : 0;
  if (holes_queued_ > 1 && is_silent() && peer_ != Peer::drops) {
    guesses_.begin(missing, hole_->sent_before);
  } else {
    guesses_.end();
  }
}

// A peer that drops what is behind a hole takes guesses, too: they show nothing.
void SelectiveRecovery::guessed(Time now) {
  if (hole_) hole_->again_until = std::max(hole_->again_until, *guesses_.next() + 1);
  probe_.activity(now);
  guesses_.sent();
}

std::optional<PacketRange> SelectiveRecovery::resend(std::uint32_t most) const {
  return may_send() ? board_.first_lost(most) : std::nullopt;
}

void SelectiveRecovery::resume(PacketRange packets) {
  for_covered(packets, [this](PacketNumber packet) {
    if (board_.is_under_way_again(packet)) board_.lose(packet);
  });
  look_at_suspects();
}

void SelectiveRecovery::refused(PacketRange packets, Time now) {
  missing(packets, now);
  doubt(packets);
}

void SelectiveRecovery::timed_out(const Overdue& overdue, Time now) {
  probe_.forget_sample();
  probe_.activity(now);
  if (answered_in_turn(overdue)) return ask_in_turn(overdue);
  peer_ == Peer::drops ? doubt_from(overdue.oldest) : doubt(overdue.oldest);
}

void SelectiveRecovery::discarded(PacketNumber from) {
  probe_.forget_sample();
  guesses_.end();
  board_.forget_arrivals(from);
  look_at_suspects();
}

void SelectiveRecovery::truncate(PacketNumber end) {
  guesses_.end();
  board_.truncate(end);
  look_at_suspects();
}

// A response was sent behind all responses with lower numbers (IBTA 9.7.5.1), so `limit` is its own number: a
// READ that was repeated is answered before later ones. The same holds for an acknowledgement that a request
// has been executed.
bool SelectiveRecovery::arrived(PacketRange packets, Source source, Time now) {
  const std::optional<Scoreboard::Arrival> latest = take_arrival(packets, source, now);
  if (latest) will_judge(*latest, latest->packet, Evidence::Kind::response, now);
  return latest.has_value();
}

std::optional<Scoreboard::Arrival> SelectiveRecovery::take_arrival(PacketRange packets, Source source,
                                                                   Time now) {
  const std::uint32_t before = board_.arrived_ahead();
  const std::optional<Scoreboard::Arrival> latest = board_.arrive(packets);
  if (latest) {
    probe_.arrived(packets, now);
    if (is_limited()) go_back_limit_.arrived(board_.arrived_ahead() - before);
    note_progress(source, now);
    learn_from(*latest, packets.first, packets.end(), false, now);
  }
  return latest;
}

// A stranger may be busy: one answer does not promise that the next one follows closely. Repeats cost it
// time, so the patience with it stays backed off until a round trip is measured (RFC 6298, section 5.7).
void SelectiveRecovery::note_progress(Source source, Time now) {
  copies_ = 1;
  if (peer_is_stranger_) {
    probe_.progress(now, false);
    probe_.heard(now);
  } else if (source == Source::response) {
    probe_.responded(now, measured());
  } else {
    if (source == Source::selective_ack) reported_at_ = now;
    probe_.progress(now, measured());
  }
}

// Requests sent before it have reached the peer, too, or are lost. A READ takes one place in the send order
// for each packet of its response, so the reordering allowed is that many requests like it.
void SelectiveRecovery::reached(PacketRange packets) {
  if (!board_.covers(packets.first)) return;
  SendOrder order = board_.postpone(packets.first);
  for_covered({packets.first + 1, packets.count - 1},
              [this](PacketNumber packet) { board_.postpone(packet); });
  const SendOrder slack = SendOrder{reordering_} * packets.count;
  suspects_.take({.order = order,
                  .certain = order > slack ? order - slack : 0,
                  .limit = packets.first,
                  .packet = packets.first});
}

// If a packet that was sent again arrives sooner than any packet ever did, its first transmission has
// arrived, and that says nothing about packets sent in between (RFC 8985, section 6.2, step 2). Before the
// first measurement the two cannot be told apart.
void SelectiveRecovery::will_judge(const Scoreboard::Arrival& arrival, PacketNumber limit,
                                   Evidence::Kind kind, Time now) {
  if (arrival.again && (!measured() || too_soon(arrival.sent_at, now))) return;
  suspects_.take(arrival, limit, kind);
}

void SelectiveRecovery::peer_gives(SelectiveAcks selective_acks) {
  ScoreboardRecovery::peer_gives(selective_acks);
  probe_.be_careful(peer_is_stranger_);
}

void SelectiveRecovery::answered_twice(PacketNumber packet, Time now) {
  if (peer_is_stranger_) probe_.heard(now);
  if (probe_.answered_twice(packet, now)) time_again_.clear();
}

void SelectiveRecovery::settle(Time now) {
  suspects_.settle(now);
  has_suspects_ = suspects_.any();
}

void SelectiveRecovery::look_at_suspects() {
  suspects_.look();
  has_suspects_ = suspects_.any();
}

std::optional<Time> SelectiveRecovery::wake(bool nothing_new) const {
  if (board_.unacknowledged() == board_.end() || resend(1)) return std::nullopt;
  Time earliest = probe_deadline();
  if (const auto hole = hole_deadline()) earliest = std::min(earliest, *hole);
  const auto verdict = suspects_.verdict(nothing_new, probe_.round_trip());
  return verdict ? std::min(earliest, *verdict) : earliest;
}

// Zero before the first measurement. Packets that wait behind holes take longer than the path does, so
// packets that fill holes count, too.
Nanoseconds SelectiveRecovery::shortest_round_trip() const {
  const Nanoseconds once = probe_.round_trip().shortest();
  const Nanoseconds again = time_again_.shortest();
  if (once == Nanoseconds{0} || again == Nanoseconds{0}) return std::max(once, again);
  return std::min(once, again);
}

// Sooner than any packet ever arrived, with a margin for clocks and for other packets.
bool SelectiveRecovery::too_soon(Time sent_at, Time now) const {
  const Nanoseconds shortest = shortest_round_trip();
  return now - sent_at < shortest - shortest / 8;
}

// While the peer reports arrivals, what was sent again may still wait behind them in a queue on the way. A
// READ may wait for its turn while a stranger answers others.
std::optional<Time> SelectiveRecovery::hole_deadline() const {
  const std::optional<Time> again = board_.first_sent_again();
  if (!again) return std::nullopt;
  return std::max(*again, peer_is_stranger_ ? probe_.in_turn_since() : reported_at_) + patience_again();
}

Nanoseconds SelectiveRecovery::patience_again() const {
  const bool measured = time_again_.smoothed() != Nanoseconds{0};
  return probe_.backed_off(measured ? time_again_.patience() : probe_.round_trip().patience());
}

// Learns from `arrival`, with which all packets in [from, until) have arrived. `surely`: the last
// transmission has arrived. Otherwise an arrival sooner than any packet ever came is not measured, because an
// earlier transmission has arrived; nor is any arrival before the first measurement.
void SelectiveRecovery::learn_from(const Scoreboard::Arrival& arrival, PacketNumber from, PacketNumber until,
                                   bool surely, Time now) {
  const bool soon = arrival.again_at && too_soon(*arrival.again_at, now);
  suspects_.learn(arrival, from, until, soon, now);
  if (!arrival.again_at) return;
  if (!surely && (!measured() || soon)) return;
  time_again_.measured(std::max(now - *arrival.again_at, Nanoseconds{1}));
  if (peer_is_stranger_) probe_.end_backing_off();
}

// With a stranger that is asked for much again, what is sent once may not come. Behind holes nothing that was
// sent once measures the path.
Nanoseconds SelectiveRecovery::patience() const {
  const Nanoseconds once = probe_.round_trip().patience();
  if (is_silent() && !probe_.measured() && time_again_.smoothed() != Nanoseconds{0})
    return time_again_.patience();
  const bool again = peer_is_stranger_ && time_again_.smoothed() != Nanoseconds{0};
  return again ? std::max(once, time_again_.patience()) : once;
}

void SelectiveRecovery::woken(const Overdue& overdue, bool nothing_new, Time now) {
  const auto verdict = suspects_.verdict(nothing_new, probe_.round_trip());
  if (verdict && now >= *verdict) {
    suspects_.judge();
    has_suspects_ = suspects_.any();
    return;
  }
  if (answered_in_turn(overdue)) {
    probe_.fired(now);
    return ask_in_turn(overdue);
  }
  const bool is_overdue = now >= probe_deadline();
  const bool nothing_left = now >= probe_.deadline(patience()) || probe_.waits_for_last_ask();
  if (hole_ || suspects_.was_overtaken(board_.unacknowledged())) {
    probe_.forget_sample();
  } else {
    probe_.probes_silence(now);
  }
  const auto hole = hole_deadline();
  if (hole && now >= *hole) board_.lose_sent_again_until(now - patience_again());
  probe_.fired(now);
  if (!peer_reports_) copies_ = 1u << std::min(probe_.in_vain() - 1, kMostDoublings);
  if (peer_ == Peer::drops) {
    doubt_from(overdue.oldest);
  } else if (is_overdue) {
    probe(overdue, nothing_left);
  }
}

// A peer that reports arrivals gets a tail-loss probe first (RFC 8985, section 7.3): the answer to the newest
// packet acknowledges everything, or names what is missing before it. Any other peer holds the newest packet
// in silence if it has sent its one NAK for a hole (IBTA 9.7.5.2.2), which may be lost; it always answers the
// oldest: as a duplicate (IBTA 9.7.5.1.2), or because the hole is filled. The newest goes along if nothing
// else would show that it is lost.
void SelectiveRecovery::probe(const Overdue& overdue, bool nothing_left) {
  if (peer_reports_) return doubt(probe_.fired_once() ? overdue.newest : overdue.oldest);
  doubt(overdue.oldest);
  if (nothing_left && probe_.fired_once()) doubt(overdue.newest);
}

// Such a peer is silent while packets arrive: an answer that was asked for is overdue, whatever has left
// since. Once the oldest packet is sent again, `hole_deadline` counts for that.
bool SelectiveRecovery::waits_for_answer() const {
  if (peer_ == Peer::drops) return true;
  return !peer_reports_ && !board_.is_under_way_again(board_.unacknowledged());
}

// A stranger answers in the order of arrival, and answers each repeat of a READ whole: more repeats than it
// answers meanwhile would delay everything behind them. So only the oldest is asked for again. If requests
// behind it were dropped, too, the one sent last brings a NAK that names the first of them.
void SelectiveRecovery::ask_in_turn(const Overdue& overdue) {
  go_back_limit_.silence();
  for (PacketNumber packet = overdue.oldest.end(); packet != overdue.oldest.first;) {
    packet = PacketNumber(packet.value() - 1);
    board_.doubt_first(packet);
  }
  if (peer_ != Peer::keeps) doubt(overdue.last_request);
}

// A peer that drops what is out of order has none of the packets behind the oldest one that is missing. Nor
// would it answer the newest: it sends one NAK for a hole (IBTA 9.7.5.2.2).
void SelectiveRecovery::doubt_from(PacketRange oldest) {
  go_back_limit_.silence();
  doubt(oldest);
  board_.lose_from(oldest.end());
}

}  // namespace urnic::transport
