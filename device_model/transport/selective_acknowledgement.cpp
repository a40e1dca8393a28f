// Selective acks at the requester (docs/selective-acks.md): whether the peer gives them, and what they say.
#include "device_model/transport/requester_impl.hpp"

namespace urnic::transport {

// The first response shows it: by then the peer has seen the offer.
void Requester::Impl::learn_participation(const wire::Bth& bth) {
  if (!offering || participation != Participation::unknown) return;
  participation = bth.selective_ack ? Participation::yes : Participation::no;
  if (participation == Participation::yes) return;
  offering = false;
  recovery->peer_takes_no_part();
}

void Requester::Impl::take_selective_ack(const wire::SelectiveAckEth& header, Time now) {
  const std::uint32_t offset = (header.latest.value() - psn_of(unacknowledged).value()) & wire::Psn::kMask;
  if (offset >= in_flight()) return;  // everything that it reports is acknowledged, or was never sent
  const PacketNumber latest = unacknowledged + offset;
  for (std::uint32_t i = 64; i-- > 0;) {
    if ((header.earlier >> i & 1) == 0 || latest - unacknowledged <= i) continue;
    take_early_arrival(unacknowledged + (latest - unacknowledged - 1 - i), now);
  }
  take_early_arrival(latest, now);
}

// The peer has a packet whose turn has not come.
void Requester::Impl::take_early_arrival(PacketNumber number, Time now) {
  if (!recovery->covers(number) || recovery->has_arrived(number)) return;
  SendSlot& slot = window.at(window.find(number));
  if (!is_read_or_atomic(slot.request.opcode)) {
    recovery->arrived(number, LossRecovery::Source::selective_ack, now);
  } else if (number == slot.first && !slot.reached_peer) {
    slot.reached_peer = true;
    recovery->reached({slot.first, slot.packets}, now);
    if (slot.asked_again) return;  // it may have been there before: no progress
  } else {
    return;
  }
  news(now);
}

}  // namespace urnic::transport
