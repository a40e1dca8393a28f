// What selective acks say (docs/selective-acks.md).
#include <algorithm>

#include "device_model/transport/requester/requester.hpp"
#include "wire/aeth.hpp"

namespace urnic::transport {

// Only a peer that gives selective acks means one by this opcode.
bool Requester::is_agreed(const wire::TransportHeaders& selective_acknowledge) const {
  return selective_acks_.agreed() &&
         selective_acknowledge.aeth.syndrome == wire::nak_syndrome(wire::NakCode::psn_sequence_error);
}

void Requester::take_selective_ack(const wire::SelectiveAckEth& header, Time now) {
  const std::uint32_t offset = (header.latest.value() - psn_of(unacknowledged_).value()) & wire::Psn::kMask;
  if (offset >= in_flight()) return;  // everything that it reports is acknowledged, or was never sent
  std::uint32_t back = std::min(offset, 64u);
  PacketRange run{unacknowledged_ + (offset - back), 0};
  while (back-- > 0) {
    if ((header.earlier >> back & 1) != 0) {
      ++run.count;
    } else {
      take_early_arrivals(run, now);
      run = {run.end() + 1, 0};
    }
  }
  ++run.count;  // the latest
  const PacketNumber latest(run.end().value() - 1);
  if (control_ != nullptr && !has_arrived(latest)) {
    control_->arrived(latest, now);
    obey_control(now);
  }
  take_early_arrivals(run, now);
}

// The peer holds these packets, whose turn has not come.
void Requester::take_early_arrivals(PacketRange run, Time now) {
  const PacketNumber end = std::min(run.end(), selective_->covered_end());
  bool any = false;
  for (PacketNumber number = selective_->first_missing(run.first, end); number < end;) {
    SendSlot& slot = window_.at(window_.find(number));
    const PacketNumber next = std::min(slot.end(), end);
    if (is_read_or_atomic(slot.request.opcode)) {
      any |= number == slot.first && take_early_read(slot);
    } else {
      const PacketRange packets{number, static_cast<std::uint32_t>(next - number)};
      any |= selective_->arrived(packets, LossRecovery::Source::selective_ack, now);
    }
    number = next;
  }
  if (any) news(now);
}

// The peer holds a READ or atomic. False if that is known, or may have been so before: no progress.
bool Requester::take_early_read(SendSlot& slot) {
  if (slot.reached_peer || selective_->has_arrived(slot.first)) return false;
  slot.reached_peer = true;
  selective_->reached({slot.first, slot.packets});
  return !slot.asked_again;
}

}  // namespace urnic::transport
