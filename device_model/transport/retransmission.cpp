// Progress of the oldest packet that is not acknowledged, and what happens when there is none.
#include <algorithm>

#include "device_model/transport/requester_impl.hpp"

namespace urnic::transport {

// A response acknowledges all packets before it, except that READs and atomics are done only with their own
// responses (IBTA 9.7.5.1.2). Moves on as far as that allows; false if a response is missing before `until`.
bool Requester::Impl::acknowledge_until(PacketNumber until, Time now) {
  PacketNumber reached = unacknowledged;
  for (std::uint32_t index = window.oldest(); index != window.taken() && reached < until; ++index) {
    const SendSlot& slot = window.at(index);
    if (slot.end() <= reached) continue;
    if (is_read_or_atomic(slot.request.opcode)) break;
    reached = std::min(slot.end(), until);
  }
  progress_to(reached, now);
  return reached == until;
}

void Requester::Impl::progress_to(PacketNumber until, Time now) {
  if (until <= unacknowledged) return;
  unacknowledged = until;
  // IBTA 9.7.6.1.3, 9.7.5.2.8: both counters start anew with every progress.
  retries.reload(shared.parameters);
  implied_nak_taken = false;
  recovery->acknowledged(until, now);
  if (rnr_until && rnr_packet < until) rnr_until.reset();
  if (response_expected() && !rnr_until) {
    ack_timer.start(now);
  } else {
    ack_timer.stop();
  }
  complete_finished();
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
  recovery->missing(number, now);
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
  recovery->timed_out(unacknowledged, now);
}

}  // namespace urnic::transport
