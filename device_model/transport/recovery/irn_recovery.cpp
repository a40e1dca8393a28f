#include "device_model/transport/recovery/irn_recovery.hpp"

#include <algorithm>

namespace urnic::transport {

namespace {

// Below this many packets under way the low timeout is used, since too few are behind a loss to report it.
constexpr std::uint64_t kFew = 3;

}  // namespace

void IrnRecovery::start(PacketNumber first) {
  board_.clear(first);
  recovering_ = false;
  next_hole_ = highest_arrived_ = recovery_end_ = first;
  asked_until_ = PacketNumber();
  probe_.clear();
}

void IrnRecovery::peer_gives(SelectiveAcks selective_acks) {
  ScoreboardRecovery::peer_gives(selective_acks);
  probe_.be_careful(peer_is_stranger_);
}

void IrnRecovery::sent(PacketRange packets, bool asks, Time now) {
  probe_.sent(packets, asks, packets.first < board_.end(), now);
  if (board_.unacknowledged() == board_.end()) last_progress_ = now;
  if (packets.first >= board_.end()) return board_.sent(packets);
  board_.sent_again(packets, now);
  last_progress_ = now;
  next_hole_ = std::max({next_hole_, packets.end(), asked_until_});
  asked_until_ = PacketNumber();
  skip_what_has_arrived();
}

void IrnRecovery::acknowledged(PacketNumber until, Source, Time now) {
  probe_.acknowledged(until, now);
  board_.acknowledge(until);
  progress(now);
  highest_arrived_ = std::max(highest_arrived_, until);
  next_hole_ = std::max(next_hole_, until);
  if (recovering_ && recovery_end_ <= until) recovering_ = false;
  skip_what_has_arrived();
}

void IrnRecovery::missing(PacketRange missing, Time) {
  highest_arrived_ = std::max(highest_arrived_, missing.end());
  enter_recovery(missing.first);
}

// The packets are sent again even if they were sent in this recovery already, or had arrived.
void IrnRecovery::refused(PacketRange packets, Time now) {
  doubt(packets);
  next_hole_ = std::min(next_hole_, packets.first);
  missing(packets, now);
}

void IrnRecovery::put_off(PacketRange packets, Time) {
  next_hole_ = std::max(next_hole_, packets.end());
  skip_what_has_arrived();
}

void IrnRecovery::resume(PacketRange packets) {
  next_hole_ = std::min(next_hole_, packets.first);
  enter_recovery(packets.first);
}

// The timeouts send the first missing packet again, and the other holes behind it. A stranger may still have
// to answer those.
void IrnRecovery::timed_out(const Overdue& overdue, Time now) {
  recovering_ = false;
  last_progress_ = now;
  if (peer_is_stranger_ && overdue.oldest_is_read) asked_until_ = next_hole_;
  refused(overdue.oldest, now);
}

void IrnRecovery::woken(const Overdue& overdue, bool, Time now) {
  probe_.fired(now);
  timed_out(overdue, now);
}

void IrnRecovery::answered_twice(PacketNumber, Time now) { probe_.heard(now); }

void IrnRecovery::discarded(PacketNumber from) {
  board_.forget_arrivals(from);
  highest_arrived_ = board_.end();
  recovering_ = false;
  enter_recovery(from);
}

void IrnRecovery::truncate(PacketNumber end) {
  board_.truncate(end);
  highest_arrived_ = std::min(highest_arrived_, board_.end());
  next_hole_ = std::min(next_hole_, board_.end());
}

bool IrnRecovery::arrived(PacketRange packets, Source, Time now) {
  if (!board_.arrive(packets)) return false;
  probe_.arrived(packets, now);
  progress(now);
  highest_arrived_ = std::max(highest_arrived_, packets.end());
  enter_recovery(board_.first_missing(board_.unacknowledged(), board_.end()));
  return true;
}

void IrnRecovery::enter_recovery(PacketNumber first_missing) {
  if (!recovering_ && first_missing < highest_arrived_) {
    recovering_ = true;
    recovery_end_ = board_.end();
    next_hole_ = first_missing;
  }
  skip_what_has_arrived();
}

void IrnRecovery::progress(Time now) {
  last_progress_ = now;
  probe_.progress(now, false);  // only a measured round trip ends its backing off
}

void IrnRecovery::skip_what_has_arrived() { next_hole_ = board_.first_missing(next_hole_, highest_arrived_); }

std::optional<PacketRange> IrnRecovery::resend(std::uint32_t most) const {
  if (!recovering_ || next_hole_ >= highest_arrived_) return std::nullopt;
  PacketRange hole{next_hole_, 1};
  while (hole.count < most && hole.end() < highest_arrived_ && !board_.has_arrived(hole.end())) ++hole.count;
  return hole;
}

std::optional<Time> IrnRecovery::wake(bool) const {
  if (board_.unacknowledged() == board_.end() || resend(1)) return std::nullopt;
  const bool few = board_.end() - board_.unacknowledged() < kFew;
  const Time timeout = last_progress_ + (few ? settings_.irn_timeout_low : settings_.irn_timeout_high);
  return peer_is_stranger_ ? std::max(timeout, probe_.deadline()) : timeout;
}

}  // namespace urnic::transport
