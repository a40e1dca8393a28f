// Progress of the oldest unacknowledged packet; NAKs and timeouts when there is no progress.
#include <algorithm>

#include "device_model/transport/requester/requester.hpp"

namespace urnic::transport {

// A response acknowledges all packets before it, except READs and atomics, which need their own responses
// (IBTA 9.7.5.1.2). False if such a response is missing before `until`, and everything from there on must be
// sent again.
bool Requester::acknowledge_until(PacketNumber until, Time now) {
  const PacketNumber known = executed_until_;
  executed_until_ = std::max(known, until);
  progress_to(done_from(unacknowledged_), LossRecovery::Source::executed, now);
  if (unacknowledged_ >= until) return true;
  if (selective_ != nullptr) {
    note_executed(known, now);
    return true;
  }
  executed_until_ = known;
  return false;
}

// Everything before `reached` is done. Returns the first packet from there on that is not.
PacketNumber Requester::done_from(PacketNumber reached) const {
  for (std::uint32_t index = window_.oldest(); index != window_.taken() && reached < next_new_; ++index) {
    const SendSlot& slot = window_.at(index);
    if (slot.end() <= reached) continue;
    const PacketNumber done = is_read_or_atomic(slot.request.opcode) ? first_missing(reached, slot.end())
                                                                     : std::min(slot.end(), executed_until_);
    reached = std::max(reached, done);
    if (reached < slot.end()) break;
  }
  return reached;
}

// Notes the arrival of SENDs and WRITEs between `known` and `executed_until_` that follow a missing response.
void Requester::note_executed(PacketNumber known, Time now) {
  for (std::uint32_t index = window_.oldest(); index != window_.taken(); ++index) {
    const SendSlot& slot = window_.at(index);
    if (slot.first >= executed_until_) return;
    if (is_read_or_atomic(slot.request.opcode)) continue;
    const PacketNumber first = std::max({slot.first, known, unacknowledged_});
    const PacketNumber end = std::min({slot.end(), executed_until_, selective_->covered_end()});
    if (first >= end) continue;
    const PacketRange packets{first, static_cast<std::uint32_t>(end - first)};
    if (selective_->arrived(packets, LossRecovery::Source::executed, now)) news(now);
  }
}

void Requester::progress_to(PacketNumber until, LossRecovery::Source source, Time now) {
  if (until <= unacknowledged_) return;
  unacknowledged_ = until;
  executed_until_ = std::max(executed_until_, until);
  // IBTA 9.7.6.1.3, 9.7.5.2.8: both counters start anew with every progress.
  retries_.reload(shared_.parameters);
  implied_nak_taken_ = false;
  if (control_ != nullptr) {
    // A packet that had arrived before waited for others.
    control_->acknowledged(until, !has_arrived(PacketNumber(until.value() - 1)), now);
    obey_control(now);
  }
  recovery_->acknowledged(until, source, now);
  rnr_wait_.acknowledged(until);
  wait_anew(now);
  complete_finished();
}

// A packet behind the oldest one is now known to have arrived. That is progress, too, and a window allows
// only so much of it. RNR retries are not reloaded: each try of the oldest packet may still bring an RNR NAK.
void Requester::news(Time now) {
  retries_.reload_transport(shared_.parameters);
  wait_anew(now);
}

void Requester::wait_anew(Time now) {
  if (response_expected() && !rnr_wait_.is_on()) {
    ack_timer_.start(now);
  } else {
    ack_timer_.stop();
  }
}

// The packets that are missing if `number` is: of a READ, all responses from `number` to the next that has
// come.
PacketRange Requester::missing_from(PacketNumber number) {
  const SendSlot& slot = window_.at(window_.find(number));
  if (slot.request.opcode != WorkOpcode::rdma_read) return {number, 1};
  PacketNumber end = number + 1;
  while (end < slot.end() && !has_arrived(end)) end = end + 1;
  return {number, static_cast<std::uint32_t>(end - number)};
}

// The packet that a timer waits for. If the peer has reported every packet, it is the first one: sending that
// again brings the acknowledgement that was lost.
PacketRange Requester::oldest_missing() {
  const PacketNumber first = first_missing(unacknowledged_, next_new_);
  return missing_from(first < next_new_ ? first : unacknowledged_);
}

// The packet that a tail-loss probe sends: the last one sent; or the oldest missing one, if the last has
// arrived or either of the two is a READ or an atomic.
PacketRange Requester::newest_missing() {
  const PacketRange oldest = oldest_missing();
  const PacketNumber last(next_new_.value() - 1);
  if (has_arrived(last)) return oldest;
  for (const PacketNumber number : {oldest.first, last}) {
    if (is_read_or_atomic(window_.at(window_.find(number)).request.opcode)) return oldest;
  }
  return {last, 1};
}

// A READ that the peer has executed or holds needs no repeat.
PacketRange Requester::last_request() {
  const PacketNumber last(next_new_.value() - 1);
  const SendSlot& slot = window_.at(window_.find(last));
  if (is_read_or_atomic(slot.request.opcode)) {
    const bool known = slot.answered || slot.reached_peer || slot.first < executed_until_;
    return known || slot.first <= unacknowledged_ ? PacketRange{last, 0}
                                                  : PacketRange{slot.first, slot.packets};
  }
  return {last, has_arrived(last) || last <= unacknowledged_ ? 0u : 1u};
}

Overdue Requester::overdue() {
  const PacketRange oldest = oldest_missing();
  return {.oldest = oldest,
          .newest = newest_missing(),
          .last_request = last_request(),
          .oldest_is_read = window_.at(window_.find(oldest.first)).request.opcode == WorkOpcode::rdma_read};
}

// A response to a later request shows that the response to an earlier one was lost; it counts as a NAK (IBTA
// 9.7.5.1.2). Further responses before the next progress were under way already and show nothing new.
bool Requester::implied_nak(Time now) {
  if (implied_nak_taken_ || rnr_wait_.is_on()) return true;
  implied_nak_taken_ = true;
  ++shared_.config.counters->implied_nak_sequence_error;
  return recover_from(unacknowledged_, now);
}

// Uses up a retry (IBTA 9.7.6.1.3 counts NAKs for a sequence error like timeouts).
bool Requester::recover_from(PacketNumber number, Time now) {
  if (!take_transport_retry()) return false;
  ack_timer_.stop();  // until the packet is sent again
  recovery_->missing(missing_from(number), now);
  return true;
}

bool Requester::take_transport_retry() {
  if (retries_.take_transport_retry()) return true;
  ++shared_.config.counters->retry_exceeded;
  fail_oldest(WorkStatus::retry_exceeded);
  return false;
}

void Requester::ack_timeout(Time now) {
  ack_timer_.stop();
  if (!take_transport_retry()) return;
  ++shared_.config.counters->local_ack_timeout;
  shared_.config.counters->adaptive_timeouts += selective_ != nullptr;
  if (control_ != nullptr) {
    shared_.config.counters->slow_restarts += control_->timed_out(now);
    obey_control(now);
  }
  implied_nak_taken_ = false;
  recovery_->timed_out(overdue(), now);
  if (selective_ == nullptr) return;
  // The interval begins anew when the packet leaves, which may be later. Further repeats do not restart it.
  ack_timer_.start(now);
  timed_out_packet_waits_ = true;
}

}  // namespace urnic::transport
