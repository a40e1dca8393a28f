// Progress of the oldest packet that is not acknowledged, and what happens when there is none.
#include <algorithm>

#include "device_model/transport/requester_impl.hpp"

namespace urnic::transport {

// A response acknowledges all packets before it, except that READs and atomics are done only with their own
// responses (IBTA 9.7.5.1.2). Moves on as far as that allows; false if a response is missing before `until`
// and what is behind must be sent again with it.
bool Requester::Impl::acknowledge_until(PacketNumber until, Time now) {
  const PacketNumber known = executed_until;
  executed_until = std::max(known, until);
  progress_to(done_from(unacknowledged), LossRecovery::Source::executed, now);
  if (unacknowledged >= until) return true;
  if (recovery->keeps_out_of_order()) {
    note_executed(known, now);
    return true;
  }
  executed_until = known;
  return false;
}

// Beyond all that is done without a gap, if everything before `reached` is.
PacketNumber Requester::Impl::done_from(PacketNumber reached) const {
  for (std::uint32_t index = window.oldest(); index != window.taken() && reached < next_new; ++index) {
    const SendSlot& slot = window.at(index);
    if (slot.end() <= reached) continue;
    const PacketNumber done = is_read_or_atomic(slot.request.opcode)
                                  ? recovery->first_missing(reached, slot.end())
                                  : std::min(slot.end(), executed_until);
    reached = std::max(reached, done);
    if (reached < slot.end()) break;
  }
  return reached;
}

// SENDs and WRITEs behind a missing response, before `executed_until`. `known` had been reached before.
void Requester::Impl::note_executed(PacketNumber known, Time now) {
  for (std::uint32_t index = window.oldest(); index != window.taken(); ++index) {
    const SendSlot& slot = window.at(index);
    if (slot.first >= executed_until) return;
    if (is_read_or_atomic(slot.request.opcode)) continue;
    const PacketNumber end = std::min(slot.end(), executed_until);
    for (PacketNumber number = std::max({slot.first, known, unacknowledged}); number < end;
         number = number + 1) {
      if (!recovery->covers(number) || recovery->has_arrived(number)) continue;
      recovery->arrived(number, LossRecovery::Source::executed, now);
      news(now);
    }
  }
}

void Requester::Impl::progress_to(PacketNumber until, LossRecovery::Source source, Time now) {
  if (until <= unacknowledged) return;
  unacknowledged = until;
  executed_until = std::max(executed_until, until);
  // IBTA 9.7.6.1.3, 9.7.5.2.8: both counters start anew with every progress.
  retries.reload(shared.parameters);
  implied_nak_taken = false;
  recovery->acknowledged(until, source, now);
  if (rnr_until && rnr_packet < until) rnr_until.reset();
  wait_anew(now);
  complete_finished();
  if (refused_request && refused_request->packet == unacknowledged && !shared.failed) {
    fail_oldest(refused_request->status);
  }
}

// Something behind the oldest packet is now known to have arrived. That is progress, too: what is missing has
// not been waited for in vain, and there is only a window of such news. An RNR NAK may come for each try of
// the oldest all the same.
void Requester::Impl::news(Time now) {
  retries.reload_transport(shared.parameters);
  wait_anew(now);
}

void Requester::Impl::wait_anew(Time now) {
  if (response_expected() && !rnr_until) {
    ack_timer.start(now);
  } else {
    ack_timer.stop();
  }
}

// The packets that a NAK for `number` means, or that must be sent again if `number` is lost: a READ is one
// request, whose responses are missing up to the next that has come.
PacketRange Requester::Impl::missing_from(PacketNumber number) {
  const SendSlot& slot = window.at(window.find(number));
  if (slot.request.opcode != WorkOpcode::rdma_read) return {number, 1};
  PacketNumber end = number + 1;
  while (end < slot.end() && !recovery->has_arrived(end)) end = end + 1;
  return {number, static_cast<std::uint32_t>(end - number)};
}

// What a timer is for. If all has arrived, by the peer's word, it is the first, whose acknowledgement has
// been lost and comes again with it.
PacketRange Requester::Impl::oldest_missing() {
  const PacketNumber first = recovery->first_missing(unacknowledged, next_new);
  return missing_from(first < next_new ? first : unacknowledged);
}

// The last packet sent, unless it has arrived or a READ or atomic is missing: those are asked for by
// themselves.
PacketRange Requester::Impl::newest_missing() {
  const PacketRange oldest = oldest_missing();
  const PacketNumber last(next_new.value() - 1);
  if (recovery->has_arrived(last)) return oldest;
  for (const PacketNumber number : {oldest.first, last}) {
    if (is_read_or_atomic(window.at(window.find(number)).request.opcode)) return oldest;
  }
  return {last, 1};
}

// A response to a later request tells that this one's was lost: as if it had been a NAK (IBTA 9.7.5.1.2). The
// responses behind it, already under way, say nothing more.
void Requester::Impl::implied_nak(Time now) {
  if (implied_nak_taken || rnr_until) return;
  implied_nak_taken = true;
  ++shared.config.counters->implied_nak_sequence_error;
  recover_from(unacknowledged, now);
}

// Uses up a retry (IBTA 9.7.6.1.3 counts NAKs for a sequence error like timeouts).
void Requester::Impl::recover_from(PacketNumber number, Time now) {
  if (!retries.take_transport_retry()) {
    ++shared.config.counters->retry_exceeded;
    fail_oldest(WorkStatus::retry_exceeded);
    return;
  }
  ack_timer.stop();  // until the packet is sent again
  recovery->missing(missing_from(number), now);
}

void Requester::Impl::ack_timeout(Time now) {
  ++shared.config.counters->local_ack_timeout;
  ack_timer.stop();
  if (!retries.take_transport_retry()) {
    ++shared.config.counters->retry_exceeded;
    fail_oldest(WorkStatus::retry_exceeded);
    return;
  }
  implied_nak_taken = false;
  recovery->timed_out(oldest_missing(), now);
  if (!recovery->keeps_out_of_order()) return;
  // The packet may have to wait for its turn: the interval begins anew when it leaves. What is sent again
  // later does not put the timer off.
  ack_timer.start(now);
  timed_out_packet_waits = true;
}

}  // namespace urnic::transport
