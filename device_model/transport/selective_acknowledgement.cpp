// Selective acks at the requester (docs/selective-acks.md): whether the peer gives them, and what they say.
#include "device_model/transport/requester.hpp"

namespace urnic::transport {

// The first response shows it: by then the peer has seen the offer.
void Requester::learn_participation(const wire::Bth& bth) {
  if (!offering_ || participation_ != Participation::unknown) return;
  participation_ = bth.selective_ack ? Participation::yes : Participation::no;
  if (participation_ == Participation::yes) return;
  offering_ = false;
  recovery_->peer_takes_no_part();
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

// The peer has a packet whose turn has not come.
void Requester::take_early_arrival(PacketNumber number, Time now) {
  if (!recovery_->covers(number) || recovery_->has_arrived(number)) return;
  SendSlot& slot = window_.at(window_.find(number));
  if (!is_read_or_atomic(slot.request.opcode)) {
    recovery_->arrived(number, LossRecovery::Source::selective_ack, now);
  } else if (number == slot.first && !slot.reached_peer) {
    slot.reached_peer = true;
    recovery_->reached({slot.first, slot.packets}, now);
    if (slot.asked_again) return;  // it may have been there before: no progress
  } else {
    return;
  }
  news(now);
}

}  // namespace urnic::transport
