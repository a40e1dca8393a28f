// What selective acks say (docs/selective-acks.md).
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
  const PacketNumber latest = unacknowledged_ + offset;
  for (std::uint32_t i = 64; i-- > 0;) {
    if ((header.earlier >> i & 1) == 0 || latest - unacknowledged_ <= i) continue;
    take_early_arrival(unacknowledged_ + (latest - unacknowledged_ - 1 - i), now);
  }
  take_early_arrival(latest, now);
}

// The peer holds a packet whose turn has not come.
void Requester::take_early_arrival(PacketNumber number, Time now) {
  if (!selective_->covers(number) || selective_->has_arrived(number)) return;
  SendSlot& slot = window_.at(window_.find(number));
  if (!is_read_or_atomic(slot.request.opcode)) {
    selective_->arrived(number, LossRecovery::Source::selective_ack, now);
  } else if (number == slot.first && !slot.reached_peer) {
    slot.reached_peer = true;
    selective_->reached({slot.first, slot.packets});
    if (slot.asked_again) return;  // it may have been there before: no progress
  } else {
    return;
  }
  news(now);
}

}  // namespace urnic::transport
