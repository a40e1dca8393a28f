#include "device_model/transport/selective_recovery.hpp"

#include <algorithm>

namespace urnic::transport {

SelectiveRecovery::SelectiveRecovery(const RecoverySettings& settings, std::uint32_t window)
    : ScoreboardRecovery(window), reordering_(settings.reordering) {}

void SelectiveRecovery::start(PacketNumber first) {
  board_.clear(first);
  probe_.clear();
  peer_ = Peer::unknown;
  hole_.reset();
  time_again_.clear();
  evidence_.reset();
  suspicion_.reset();
  next_suspicion_.reset();
  has_suspects_ = false;
  window_.clear();
  highest_ = next_highest_ = recovery_end_ = first;
}

void SelectiveRecovery::sent(PacketRange packets, bool asks, Time now) {
  const bool again = packets.first < board_.end();
  // The response to a long READ may wait behind those to others: that says nothing about the path.
  const bool timed = asks && (packets.count == 1 || board_.unacknowledged() == board_.end());
  probe_.sent(packets, timed, again, now);
  if (!again) {
    new_sent_at_ = now;
    board_.sent(packets);
    return;
  }
  board_.sent_again(packets, now);
  if (hole_) hole_->again_until = std::max(hole_->again_until, packets.end());
}

// An acknowledgement that came with a packet sent again, and goes no further, names the next hole: what was
// sent before that packet has reached the peer or is lost. The peer's NAK for it may have been lost.
void SelectiveRecovery::acknowledged(PacketNumber until, Source source, Time now) {
  const std::optional<Scoreboard::Arrival> latest = take_acknowledgement(until, source, now);
  if (latest && latest->again_at && source == Source::executed) {
    const SendOrder before = latest->again_order > reordering_ ? latest->again_order - reordering_ : 0;
    if (!too_soon(*latest->again_at, now)) {
      take_evidence({.order = before, .certain = before, .limit = until + 1, .packet = until, .witness = Witness::report});
    }
  }
}

std::optional<Scoreboard::Arrival> SelectiveRecovery::take_acknowledgement(PacketNumber until, Source source,
                                                                           Time now) {
  if (until <= board_.unacknowledged()) return std::nullopt;
  // The peer did not have what it named: no doubt which transmission arrived.
  const bool named = hole_ && hole_->packets.first < until;
  learn_from(until);
  probe_.acknowledged(until, now);
  note_progress(source, now);
  const bool was_recovering = recovering();
  const PacketNumber first_missing = board_.unacknowledged();
  const std::optional<Scoreboard::Arrival> arrival = board_.acknowledge(until);
  next_highest_ = std::max(next_highest_, until);
  if (arrival) learn_order(*arrival, first_missing, now);
  if (was_recovering && !recovering()) window_.recovered();
  measure_again(arrival, first_missing, named, now);
  return arrival;
}

void SelectiveRecovery::learn_from(PacketNumber until) {
  if (!hole_) return;
  if (hole_->again_until < until && hole_->again_until < hole_->sent_before) peer_ = Peer::keeps;
  if (hole_->sent_before <= until) hole_.reset();
}

// A peer that keeps what is out of order names the same hole again when more packets pass it; the answer to
// the first naming is on its way then.
bool SelectiveRecovery::sent_again_just_now(PacketNumber packet, Time now) const {
  return hole_ && hole_->packets.first == packet && now - hole_->named < shortest_round_trip();
}

void SelectiveRecovery::missing(PacketRange missing, Time now) {
  if (missing.first < board_.unacknowledged() || sent_again_just_now(missing.first, now)) return;
  const bool next_to_hole = hole_ && missing.first == hole_->packets.end() &&
                            missing.first < hole_->sent_before && board_.is_under_way(missing.first);
  if (peer_ == Peer::unknown && next_to_hole) peer_ = Peer::drops;
  hole_ = Hole{missing, board_.end(), missing.end(), now};
  recover();
  if (peer_ == Peer::drops) {
    board_.lose_from(missing.first);
  } else {
    for_covered(missing, [this](PacketNumber packet) { board_.lose(packet); });
  }
}

void SelectiveRecovery::refused(PacketRange packets, Time now) {
  missing(packets, now);
  doubt(packets);
}

void SelectiveRecovery::timed_out(PacketRange oldest, Time now) {
  probe_.forget_sample();
  probe_.activity(now);
  doubt(oldest);
}

void SelectiveRecovery::discarded(PacketNumber from) {
  probe_.forget_sample();
  board_.forget_arrivals(from);
  highest_ = next_highest_ = std::min(highest_, from);
  look_at_suspects();
}

void SelectiveRecovery::truncate(PacketNumber end) {
  board_.truncate(end);
  look_at_suspects();
}

// A response that is here was sent behind all responses with lower numbers (IBTA 9.7.5.1), so `limit` is its
// own number: a READ that was asked for again is answered before later ones. The same holds for the word that
// a request has been executed.
void SelectiveRecovery::arrived(PacketNumber packet, Source source, Time now) {
  will_judge(take_arrival(packet, source, now), packet, Witness::response, now);
}

std::optional<Scoreboard::Arrival> SelectiveRecovery::take_arrival(PacketNumber packet, Source source,
                                                                   Time now) {
  const std::optional<Scoreboard::Arrival> arrival = board_.arrive(packet);
  if (arrival) {
    probe_.arrived(packet, now);
    note_progress(source, now);
    learn_order(*arrival, packet, now);
    next_highest_ = std::max(next_highest_, packet + 1);
    measure_again(arrival, packet, false, now);
  }
  return arrival;
}

void SelectiveRecovery::note_progress(Source source, Time now) {
  if (source == Source::response) {
    probe_.responded(now);
  } else {
    probe_.progress(now);
  }
}

// Requests sent before it have reached the peer, too, or are lost. A READ's place in the order counts its
// response's packets; as many requests like it may overtake another as packets may.
void SelectiveRecovery::reached(PacketRange packets, Time) {
  if (!board_.covers(packets.first)) return;
  SendOrder order = board_.postpone(packets.first);
  for_covered({packets.first + 1, packets.count - 1},
              [this](PacketNumber packet) { board_.postpone(packet); });
  const SendOrder slack = SendOrder{reordering_} * packets.count;
  take_evidence({.order = order,
                 .certain = order > slack ? order - slack : 0,
                 .limit = packets.first,
                 .packet = packets.first,
                 .witness = Witness::report});
}

// If a packet that was sent again arrives sooner than any packet ever did, it is its first transmission that
// has arrived, and says nothing about what was sent in between (RFC 8985, section 6.2, step 2).
void SelectiveRecovery::will_judge(const std::optional<Scoreboard::Arrival>& arrival, PacketNumber limit,
                                   Witness witness, Time now) {
  if (!arrival) return;
  const bool unmeasured = shortest_round_trip() == Nanoseconds{0};
  if (arrival->again && (unmeasured || too_soon(arrival->sent_at, now))) return;
  take_evidence({.order = arrival->order,
                 .certain = arrival->order > reordering_ ? arrival->order - reordering_ : 0,
                 .limit = limit,
                 .packet = arrival->packet,
                 .witness = witness});
}

void SelectiveRecovery::take_evidence(const Evidence& evidence) {
  if (!evidence_ || evidence_->order < evidence.order) evidence_ = evidence;
}

// A packet that was sent once, or whose first transmission it must be, has arrived behind one with a higher
// number: the path reorders (RFC 8985, section 6.2, step 3).
void SelectiveRecovery::learn_order(const Scoreboard::Arrival& arrival, PacketNumber lowest, Time now) {
  const bool late = arrival.lowest_once && *arrival.lowest_once < highest_;
  const bool needless = arrival.again_at && lowest < highest_ && too_soon(*arrival.again_at, now);
  if (!late && !needless) return;
  window_.seen(now - (suspicion_ ? suspicion_->since : suspected_at_));
}

void SelectiveRecovery::settle(Time now) {
  highest_ = next_highest_;
  if (evidence_) {
    if (board_.lose_sent_before(evidence_->certain, evidence_->limit)) recover();
    if (!suspicion_) {
      suspicion_ = Suspicion{*evidence_, now};
    } else {
      next_suspicion_ = Suspicion{*evidence_, now};
    }
    if (evidence_->witness == Witness::response) {
      latest_response_ = evidence_->packet;
      latest_response_at_ = now;
    }
    evidence_.reset();
  }
  if (suspicion_) look_at_suspects();
}

void SelectiveRecovery::look_at_suspects() {
  if (suspicion_ && !overtaken(suspicion_->evidence)) {
    suspicion_ = next_suspicion_;
    next_suspicion_.reset();
    if (suspicion_ && !overtaken(suspicion_->evidence)) suspicion_.reset();
  }
  has_suspects_ = suspicion_.has_value();
}

void SelectiveRecovery::judge_suspects() {
  board_.lose_sent_before(suspicion_->evidence.order, suspicion_->evidence.limit);
  suspected_at_ = suspicion_->since;
  recover();
  look_at_suspects();
}

// When the suspects are taken for lost, if nothing tells before.
std::optional<Time> SelectiveRecovery::verdict(bool nothing_new) const {
  if (!suspicion_) return std::nullopt;
  if (suspicion_->evidence.witness == Witness::report && !nothing_new) return std::nullopt;
  const Nanoseconds wait = recovering() ? Nanoseconds{0} : free_wait();
  return suspicion_->since + std::max(wait, std::min(window_.span(), probe_.round_trip().patience()));
}

// How long may be waited for suspects without reordering known: half of the time by which sending them again at
// once would delay the end of what is under way.
Nanoseconds SelectiveRecovery::free_wait() const {
  const Suspicion& suspicion = *suspicion_;
  const Nanoseconds measured = probe_.round_trip().smoothed();
  const Nanoseconds since_sent = suspicion.since - new_sent_at_;
  const Nanoseconds round_trip = measured != Nanoseconds{0} ? measured : since_sent;
  if (suspicion.evidence.witness == Witness::report) {
    // Without loss the last acknowledgement would come a round trip after what was sent last.
    return std::max(Nanoseconds{0}, std::min(since_sent, round_trip)) / 2;
  }
  // Without loss the last response would come when all have come that are due behind the one that has.
  Nanoseconds rest{0};
  const auto behind = static_cast<std::int64_t>(board_.end() - suspicion.evidence.packet) - 1;
  if (suspicion.evidence.packet < latest_response_) {
    const auto come = static_cast<std::int64_t>(latest_response_ - suspicion.evidence.packet);
    rest = (latest_response_at_ - suspicion.since) * behind / come;
  }
  return rest < round_trip ? (round_trip - rest) / 2 : rest - round_trip;
}

std::optional<Time> SelectiveRecovery::wake(bool nothing_new) const {
  if (board_.unacknowledged() == board_.end() || board_.first_lost(1)) return std::nullopt;
  Time earliest = probe_.deadline();
  if (const auto again = board_.first_sent_again()) earliest = std::min(earliest, *again + patience_again());
  if (const auto time = verdict(nothing_new)) earliest = std::min(earliest, *time);
  return earliest;
}

// Zero before anything was measured. What waits for holes to be filled takes longer than the path does, so
// packets that fill them count, too.
Nanoseconds SelectiveRecovery::shortest_round_trip() const {
  const Nanoseconds once = probe_.round_trip().shortest();
  const Nanoseconds again = time_again_.shortest();
  if (once == Nanoseconds{0} || again == Nanoseconds{0}) return std::max(once, again);
  return std::min(once, again);
}

// Sooner than any packet ever arrived, but for what clocks and other packets make of that.
bool SelectiveRecovery::too_soon(Time sent_at, Time now) const {
  const Nanoseconds shortest = shortest_round_trip();
  return now - sent_at < shortest - shortest / 8;
}

Nanoseconds SelectiveRecovery::patience_again() const {
  const bool measured = time_again_.smoothed() != Nanoseconds{0};
  return probe_.backed_off(measured ? time_again_.patience() : probe_.round_trip().patience());
}

// Unless `surely` the last transmission arrived, one that came sooner than any packet ever did is not
// counted: an earlier one did. Before anything was measured that cannot be told of a packet that was overtaken.
void SelectiveRecovery::measure_again(const std::optional<Scoreboard::Arrival>& arrival, PacketNumber lowest, bool surely,
                                      Time now) {
  if (!arrival || !arrival->again_at) return;
  const bool unmeasured = shortest_round_trip() == Nanoseconds{0};
  if (!surely && (too_soon(*arrival->again_at, now) || (unmeasured && lowest < highest_))) return;
  time_again_.measured(std::max(now - *arrival->again_at, Nanoseconds{1}));
}

void SelectiveRecovery::woken(PacketRange oldest, PacketRange newest, bool nothing_new, Time now) {
  if (const auto time = verdict(nothing_new); time && now >= *time) return judge_suspects();
  const bool probe = now >= probe_.deadline();
  board_.lose_sent_again_until(now - patience_again());
  probe_.forget_sample();
  probe_.fired(now);
  // First the tail: it brings an acknowledgement of everything, or the news of what is missing before it.
  if (probe) doubt(probe_.fired_once() ? newest : oldest);
}

}  // namespace urnic::transport
