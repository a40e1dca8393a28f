// Requests behind a hole. Under gbn they are dropped; otherwise they are held, and executed in order
// once the hole is filled.
//
// A peer that reads selective acks is told of every arrival (arrival_reports.hpp). Any other peer gets the
// specification's NAK: one for each hole, the next one as soon as the hole before it is filled.
#include "device_model/transport/responder/responder.hpp"

namespace urnic::transport {

void Responder::out_of_sequence(const InboundPacket& packet, RequestKind kind) {
  if (!keeps()) return ask_for_expected();
  if (!hold(packet, kind)) {
    ++shared_.config.counters->held_discards;
    dropped_behind_ = true;
    return ask_for_expected();
  }
  ++shared_.config.counters->held_packets;
  if (peer_reads_) {
    reports_.arrived(packet.headers.bth.psn);
  } else {
    if (!awaiting_expected_ && packet.selective_acks == SelectiveAcks::outside)
      shared_.offers.missed_packet();
    ask_for_expected();
  }
}

// What is held already was never reported: by the next report the peer would take it for lost.
void Responder::peer_offers(bool reads) {
  if (reads && !peer_reads_ && keeps()) {
    window_.for_each_held([this](wire::Psn first, std::uint32_t) { reports_.arrived(first); });
  }
  peer_reads_ = reads;
}

bool Responder::hold(const InboundPacket& packet, RequestKind kind) {
  if (window_.arrival(packet.headers.bth.psn) == Arrival::beyond) return false;
  if (packet.is_from_outside() && !may_be_held(packet, kind)) return false;
  const std::uint32_t length = packet.headers.reth.dma_length;
  // A READ that is too long will be refused when its turn comes.
  const bool is_read = kind == RequestKind::read && length <= kMaxRdmaLength;
  return window_.hold(packet, is_read ? response_packets(length, shared_.parameters.path_mtu) : 1);
}

// One NAK until the expected PSN arrives: a second one would make the requester go back twice
// (IBTA 9.7.5.2.2). None while the expected packet was refused with an RNR NAK.
void Responder::ask_for_expected() {
  if (awaiting_expected_) return;
  awaiting_expected_ = true;
  owed_.sequence_nak();
}

void Responder::in_sequence(const InboundPacket& packet, RequestKind kind) {
  const bool was_hole = window_.has_hole();
  const wire::Psn expected = window_.expected();
  execute(packet, kind);
  if (!was_hole || stopped_ || window_.expected() == expected) return;
  const bool up_to_hole = execute_held();
  if (window_.has_hole()) {
    reports_.forget_before(window_.expected());
  } else {
    reports_.clear();
  }
  if (up_to_hole) after_hole();
  if (forgot_held_) ask_for_forgotten();
}

// A packet that was held counts as lost: a report may have said that it is here, so nothing less than a NAK
// for it makes the peer send it again.
void Responder::ask_for_forgotten() {
  forgot_held_ = false;
  dropped_behind_ = true;
  awaiting_expected_ = true;
  owed_.sequence_nak();
}

// False if no further request can be executed now: one was refused, or found no receive.
bool Responder::execute_held() {
  while (const HeldPacket* const held = window_.take_expected()) {
    const InboundPacket packet = held->packet();
    const RequestKind kind = request_kind(packet.headers.bth.opcode.operation());
    held->is_from_outside() ? execute_from_outside(packet, kind) : execute(packet, kind);
    // Even if it found no receive: it will be sent again (IBTA 9.7.5.2.8).
    window_.retire(*held);
    if (stopped_ || owed_.kind() == OwedAcknowledge::Kind::rnr_nak) return false;
    if (forgot_held_) return true;
  }
  return true;
}

// The hole at the expected PSN is filled, and everything up to the next hole is executed.
void Responder::after_hole() {
  if (window_.has_hole() && !gives_selective_acks()) {
    awaiting_expected_ = true;
    owed_.sequence_nak();
  } else if (!dropped_behind_) {
    owed_.withdraw_sequence_nak();
    awaiting_expected_ = false;
  }
  // The peer is told that the hole is filled; the response to a READ or ATOMIC says so too (IBTA 9.7.5.1.3).
  const wire::Psn latest = window_.expected() - 1;
  if (resources_.find(latest) == nullptr) owed_.ack(latest);
}

// A peer that reads selective acks is told which held packet has come again: the peer may be waiting for this
// retransmission.
void Responder::held_again(wire::Psn psn) {
  if (gives_selective_acks()) reports_.arrived_again(psn);
}

}  // namespace urnic::transport
