#include "device_model/transport/recovery/suspects.hpp"

#include <algorithm>

namespace urnic::transport {

void Suspects::clear(PacketNumber first) {
  evidence_.reset();
  suspicion_.reset();
  next_.reset();
  window_.clear();
  highest_ = next_highest_ = recovery_end_ = first;
}

void Suspects::take(const Evidence& evidence) {
  if (!evidence_ || evidence_->order < evidence.order) evidence_ = evidence;
}

void Suspects::take(const Scoreboard::Arrival& arrival, PacketNumber limit, Evidence::Kind kind) {
  take({.order = arrival.order,
        .certain = arrival.order > reordering_ ? arrival.order - reordering_ : 0,
        .limit = limit,
        .packet = arrival.packet,
        .kind = kind,
        .again = arrival.again});
}

// RFC 8985, section 6.2, step 3: reordering is a packet that was sent once and arrives behind one with a
// higher number. A needless repeat shows reordering, too; TCP learns of it by a duplicate selective ack (step
// 4).
void Suspects::learn(const Scoreboard::Arrival& arrival, PacketNumber from, PacketNumber until, bool too_soon,
                     Time now) {
  next_highest_ = std::max(next_highest_, until);
  const bool late = arrival.lowest_once && was_overtaken(*arrival.lowest_once);
  if (late || (too_soon && was_overtaken(from))) {
    window_.seen(now - (suspicion_ ? suspicion_->since : judged_since_));
  }
}

void Suspects::recover() {
  if (!recovering()) window_.recovery_begins();
  recovery_end_ = board_.end();
}

// If the last transmission of a packet has arrived, everything that was sent before it is lost or late. If an
// earlier one has, which was late itself, those packets are late, too; and if one report names more than the
// next ones, they may have arrived. Of a long run beyond the highest arrival, the latter two are more likely
// than losses: later arrivals or a probe will tell.
void Suspects::settle(Time now) {
  highest_ = next_highest_;
  if (evidence_) {
    if (is_doubtful(*evidence_)) evidence_->limit = std::min(evidence_->limit, highest_);
    if (board_.lose(early(*evidence_, evidence_->certain))) recover();
    (suspicion_ ? next_ : suspicion_) = Suspicion{*evidence_, now};
    if (evidence_->kind == Evidence::Kind::response) {
      latest_response_ = evidence_->packet;
      latest_response_at_ = now;
    }
    evidence_.reset();
  }
  if (suspicion_) look();
}

void Suspects::look() {
  if (suspicion_ && !holds(*suspicion_)) {
    suspicion_ = next_;
    next_.reset();
  }
  if (suspicion_ && !holds(*suspicion_)) suspicion_.reset();
}

void Suspects::judge() {
  board_.lose(early(suspicion_->evidence, suspicion_->evidence.order));
  judged_since_ = suspicion_->since;
  recover();
  look();
}

// While new packets are sent, their arrivals tell, and the repair ends before they do.
std::optional<Time> Suspects::verdict(bool nothing_new, const RoundTripTime& round_trip) const {
  if (!suspicion_) return std::nullopt;
  if (suspicion_->evidence.kind == Evidence::Kind::report && !nothing_new) return std::nullopt;
  const Nanoseconds price = price_of_repair(round_trip);
  Nanoseconds wait = std::max(-price, Nanoseconds{0});
  // RFC 8985, section 6.2, step 4: no wait in a recovery while no reordering is known.
  if (price > Nanoseconds{0} && !recovering()) wait = price / 2;
  // A probe would come after that time, too.
  const Nanoseconds late = std::min(window_.span(), round_trip.patience());
  return suspicion_->since + std::max(wait, late);
}

// The delay of everything under way if the suspects are lost and were sent again as soon as they became
// suspects. Negative: the repair may wait this long without any delay.
Nanoseconds Suspects::price_of_repair(const RoundTripTime& measured) const {
  const Nanoseconds since_sent = std::max(suspicion_->since - new_sent_at_, Nanoseconds{0});
  const Nanoseconds round_trip = measured.smoothed() != Nanoseconds{0} ? measured.smoothed() : since_sent;
  // Without loss the end is a round trip after the newest packet left; now it is a round trip after the
  // repair.
  if (suspicion_->evidence.kind == Evidence::Kind::report) return std::min(since_sent, round_trip);
  // Without loss the end is when the responses behind the kind have come, at the rate of those before.
  const PacketNumber kind = suspicion_->evidence.packet;
  if (latest_response_ <= kind) return round_trip;
  const auto due = static_cast<std::int64_t>(board_.end() - kind) - 1;
  const auto here = static_cast<std::int64_t>(latest_response_ - kind);
  return round_trip - (latest_response_at_ - suspicion_->since) * due / here;
}

}  // namespace urnic::transport
