#include "device_model/transport/selective_recovery.hpp"

#include <algorithm>

namespace urnic::transport {

SelectiveRecovery::SelectiveRecovery(const RecoverySettings& settings, std::uint32_t window)
    : board_(window), reordering_(settings.reordering) {}

void SelectiveRecovery::start(PacketNumber first) {
  board_.clear(first);
  probe_.clear();
  peer_ = Peer::unknown;
  hole_.reset();
  fill_time_.clear();
  evidence_.reset();
}

void SelectiveRecovery::sent(PacketRange packets, bool asks, Time now) {
  const bool again = packets.first < board_.end();
  probe_.sent(packets, asks, again, now);
  if (!again) {
    board_.sent(packets);
    return;
  }
  board_.sent_again(packets, now);
  if (!hole_) return;
  hole_->again_until = std::max(hole_->again_until, packets.end());
  if (packets.first <= hole_->packets.first && hole_->packets.first < packets.end()) {
    if (!hole_->first_again) hole_->first_again = now;
    hole_->last_again = now;
  }
}

void SelectiveRecovery::acknowledged(PacketNumber until, Source, Time now) {
  take_acknowledgement(until, now);
}

std::optional<Scoreboard::Arrival> SelectiveRecovery::take_acknowledgement(PacketNumber until, Time now) {
  if (until <= board_.unacknowledged()) return std::nullopt;
  learn_from(until, now);
  probe_.acknowledged(until, now);
  probe_.progress(now);
  return board_.acknowledge(until);
}

void SelectiveRecovery::learn_from(PacketNumber until, Time now) {
  if (!hole_) return;
  if (hole_->packets.first < until && hole_->first_again) {
    fill_time_.measured(std::max(now - *hole_->first_again, Nanoseconds{1}));
    hole_->first_again.reset();
    hole_->last_again.reset();
  }
  if (hole_->again_until < until && hole_->again_until < hole_->sent_before) peer_ = Peer::keeps;
  if (hole_->sent_before <= until) hole_.reset();
}

// A peer that keeps what is out of order names the same hole again when more packets pass it; the answer to
// the first naming is on its way then.
bool SelectiveRecovery::sent_again_just_now(PacketNumber packet, Time now) const {
  return hole_ && hole_->packets.first == packet && now - hole_->named < probe_.round_trip().shortest();
}

void SelectiveRecovery::missing(PacketRange missing, Time now) {
  if (missing.first < board_.unacknowledged() || sent_again_just_now(missing.first, now)) return;
  const bool next_to_hole = hole_ && missing.first == hole_->packets.end() &&
                            missing.first < hole_->sent_before && board_.is_under_way(missing.first);
  if (peer_ == Peer::unknown && next_to_hole) peer_ = Peer::drops;
  hole_ = Hole{missing, board_.end(), missing.end(), now, {}, {}};
  if (peer_ == Peer::drops) {
    board_.lose_from(missing.first);
  } else {
    lose(missing);
  }
}

void SelectiveRecovery::lose(PacketRange packets) {
  for (PacketNumber packet = packets.first; packet < packets.end() && board_.covers(packet);
       packet = packet + 1) {
    board_.lose(packet);
  }
}

void SelectiveRecovery::doubt(PacketRange packets) {
  for (PacketNumber packet = packets.first; packet < packets.end() && board_.covers(packet);
       packet = packet + 1) {
    board_.doubt(packet);
  }
}

void SelectiveRecovery::timed_out(PacketRange oldest, Time now) {
  probe_.forget_sample();
  probe_.activity(now);
  doubt(oldest);
}

void SelectiveRecovery::discarded(PacketNumber from) {
  probe_.forget_sample();
  board_.forget_arrivals(from);
}

void SelectiveRecovery::truncate(PacketNumber end) { board_.truncate(end); }

// A response that is here was sent behind all responses with lower numbers (IBTA 9.7.5.1), so `limit` is its
// own number: a READ that was asked for again is answered before later ones. The same holds for the word that
// a request has been executed.
void SelectiveRecovery::arrived(PacketNumber packet, Source, Time now) {
  will_judge(take_arrival(packet, now), packet, now);
}

std::optional<Scoreboard::Arrival> SelectiveRecovery::take_arrival(PacketNumber packet, Time now) {
  const std::optional<Scoreboard::Arrival> arrival = board_.arrive(packet);
  if (arrival) {
    probe_.arrived(packet, now);
    probe_.progress(now);
  }
  return arrival;
}

void SelectiveRecovery::reached(PacketRange packets) {
  for (PacketNumber packet = packets.first; packet < packets.end() && board_.covers(packet);
       packet = packet + 1) {
    board_.postpone(packet);
  }
}

// If a packet that was sent again arrives sooner than any packet ever did, it is its first transmission that
// has arrived, and says nothing about what was sent in between (RFC 8985, section 6.2, step 2).
void SelectiveRecovery::will_judge(const std::optional<Scoreboard::Arrival>& arrival, PacketNumber limit,
                                   Time now) {
  if (!arrival || (arrival->again && now - arrival->sent_at < probe_.round_trip().shortest())) return;
  if (!evidence_ || evidence_->order < arrival->order) evidence_ = Evidence{arrival->order, limit};
}

void SelectiveRecovery::settle(Time) {
  if (evidence_ && evidence_->order >= reordering_) {
    board_.lose_sent_before(evidence_->order - reordering_, evidence_->limit);
  }
  evidence_.reset();
}

std::optional<Time> SelectiveRecovery::wake() const {
  if (board_.unacknowledged() == board_.end() || board_.first_lost()) return std::nullopt;
  const std::optional<Time> hole = hole_deadline();
  return hole ? std::min(*hole, probe_.deadline()) : probe_.deadline();
}

std::optional<Time> SelectiveRecovery::hole_deadline() const {
  if (!hole_ || !hole_->last_again) return std::nullopt;
  const bool measured = fill_time_.smoothed() != Nanoseconds{0};
  const Nanoseconds patience = measured ? fill_time_.patience() : probe_.round_trip().patience();
  return *hole_->last_again + probe_.backed_off(patience);
}

void SelectiveRecovery::woken(PacketRange oldest, Time now) {
  probe_.forget_sample();
  probe_.fired(now);
  doubt(oldest);
}

}  // namespace urnic::transport
