// Responses: which packets one acknowledges or refuses, and the data that it brings.
#include "device_model/transport/message_memory.hpp"
#include "device_model/transport/requester/requester.hpp"
#include "wire/aeth.hpp"

namespace urnic::transport {

using wire::Operation;

void Requester::receive(const InboundPacket& packet, Time now) {
  if (!running()) return;
  const wire::Bth& bth = packet.headers.bth;
  const std::uint32_t offset = (bth.psn.value() - psn_of(unacknowledged_).value()) & wire::Psn::kMask;
  const PacketNumber number = unacknowledged_ + offset;
  if (offset >= in_flight()) {
    if (number >= cut_end_) {
      on_stale_response(packet, now);
    } else if (!acknowledge_until(next_new_, now)) {
      implied_nak(now);
    }
    return;
  }
  if (selective_acks_.learn(packet.selective_acks)) recovery_->peer_gives(packet.selective_acks);
  take_response(number, packet, now);
  if (selective_ != nullptr && running()) selective_->settle(now);
}

void Requester::take_response(PacketNumber number, const InboundPacket& packet, Time now) {
  if (packet.headers.bth.opcode == wire::kSelectiveAcknowledge && !is_agreed(packet.headers)) {
    shared_.offers.misunderstood();
    return;
  }
  switch (packet.headers.bth.opcode.operation()) {
    case Operation::acknowledge:
      on_acknowledge(number, packet.headers, now);
      break;
    case Operation::read_response_first:
    case Operation::read_response_middle:
    case Operation::read_response_last:
    case Operation::read_response_only:
      on_read_response(number, packet, now);
      break;
    case Operation::atomic_acknowledge:
      on_atomic_acknowledge(number, packet, now);
      break;
    default:
      break;  // not a response
  }
}

// A response to a packet that is acknowledged already is a duplicate, which may still bring new credits (IBTA
// 9.7.7.2.3). One to a packet that was never sent is a ghost. Neither changes anything else (IBTA 9.7.5.1.4).
void Requester::on_stale_response(const InboundPacket& packet, Time now) {
  const wire::Bth& bth = packet.headers.bth;
  if (!before(bth.psn, psn_of(unacknowledged_))) return;
  const std::uint32_t back = (psn_of(unacknowledged_).value() - bth.psn.value()) & wire::Psn::kMask;
  const bool repeats_last = back == 1;
  if (repeats_last && bth.opcode.operation() == Operation::acknowledge &&
      wire::kind(packet.headers.aeth.syndrome) == wire::AethKind::ack) {
    flow_control_.update(packet.headers.aeth);
  }
  ++shared_.config.counters->duplicate_acknowledgements;
  if (selective_ == nullptr || back > unacknowledged_.value()) return;
  selective_->answered_twice(PacketNumber(unacknowledged_.value() - back), now);
}

void Requester::on_acknowledge(PacketNumber number, const wire::TransportHeaders& headers, Time now) {
  const wire::Aeth& aeth = headers.aeth;
  switch (wire::kind(aeth.syndrome)) {
    case wire::AethKind::ack: {
      flow_control_.update(aeth);
      if (!acknowledge_until(number + 1, now)) implied_nak(now);
      // While no request waits, the program may post one message and its peer one receive at a time: the next
      // message is not delayed.
      const bool nothing_left = wire::code(aeth.syndrome) == 0 && in_flight() == 0 &&
                                (!window_.all_sent() || shared_.config.send_queue->pending());
      flow_control_.acknowledged(nothing_left, now);
      return;
    }
    case wire::AethKind::rnr_nak:
      on_rnr_nak(number, wire::code(aeth.syndrome), now);
      return;
    case wire::AethKind::nak:
      on_nak(number, headers, now);
      return;
    case wire::AethKind::reserved:
      break;
  }
  bad_response();
}

// A NAK acknowledges everything before its PSN (IBTA 9.7.5.2.8).
void Requester::on_nak(PacketNumber number, const wire::TransportHeaders& headers, Time now) {
  const auto nak = static_cast<wire::NakCode>(wire::code(headers.aeth.syndrome));
  if (nak == wire::NakCode::psn_sequence_error) {
    // A NAK that exceeds the retry limit counts as retry_exceeded instead.
    shared_.config.counters->packet_sequence_error += on_sequence_nak(number, headers, now);
    return;
  }
  if (!acknowledge_until(number, now)) {
    implied_nak(now);
    return;
  }
  if (shared_.failed) return;  // a request before it failed here
  switch (nak) {
    case wire::NakCode::invalid_request:
      refused(number, WorkStatus::remote_invalid_request_error);
      return;
    case wire::NakCode::remote_access_error:
      refused(number, WorkStatus::remote_access_error);
      return;
    case wire::NakCode::remote_operational_error:
      refused(number, WorkStatus::remote_operation_error);
      return;
    case wire::NakCode::psn_sequence_error:
    case wire::NakCode::invalid_rd_request:
      break;
  }
  bad_response();
}

// False if the retry limit is exceeded.
bool Requester::on_sequence_nak(PacketNumber number, const wire::TransportHeaders& headers, Time now) {
  if (!acknowledge_until(number, now)) return implied_nak(now);
  if (shared_.failed) return true;  // a request before it failed here
  if (selective_ == nullptr) {
    return rnr_wait_.is_on() || recover_from(number, now);
  } else if (headers.bth.opcode == wire::kSelectiveAcknowledge) {
    // A peer does not hold the packet that it expects. If it held this one before, the packet found no
    // receive in its turn and was dropped, and the RNR NAK was lost (IBTA 9.7.5.2.8).
    const bool was_kept = executed_until_ <= number && selective_->has_arrived(number);
    if (was_kept && !rnr_wait_.is_on()) selective_->refused(missing_from(number), now);
    take_selective_ack(headers.selective_ack_eth, now);
  } else if (!rnr_wait_.is_on()) {
    recovery_->missing(missing_from(number), now);
  }
  return true;
}

// Requests complete in order (IBTA 9.9.2.1), so the refusal is reported when all earlier ones are complete.
void Requester::refused(PacketNumber number, WorkStatus status) {
  SendSlot& slot = window_.at(window_.find(number));
  if (slot.status != WorkStatus::success) return;  // the same NAK twice
  Counters& counters = *shared_.config.counters;
  counters.requester_remote_invalid_request += status == WorkStatus::remote_invalid_request_error;
  counters.requester_remote_access_errors += status == WorkStatus::remote_access_error;
  slot.status = status;
  complete_finished();
}

// IBTA 9.7.5.2.8: wait at least as long as asked, then send the refused packet again and all behind it.
void Requester::on_rnr_nak(PacketNumber number, std::uint8_t code, Time now) {
  Counters& counters = *shared_.config.counters;
  if (!acknowledge_until(number, now)) {
    ++counters.rnr_nak_retry;
    implied_nak(now);
    return;
  }
  const bool already_waits = shared_.failed || rnr_wait_.is_on();  // a second NAK for the same packet
  if (!already_waits && !retries_.take_rnr_retry()) {
    ++counters.rnr_retry_exceeded;
    fail_oldest(WorkStatus::rnr_retry_exceeded);
    return;
  }
  ++counters.rnr_nak_retry;
  if (already_waits) return;
  retries_.reload_transport(shared_.parameters);  // the path works; RNR retries have their own counter
  rnr_wait_.begin(number, now + wire::rnr_timer(code));
  ack_timer_.stop();
  // The peer has dropped the packet, even if it had kept it.
  if (selective_ != nullptr) return selective_->refused(missing_from(number), now);
  recovery_->missing(missing_from(number), now);
}

void Requester::on_read_response(PacketNumber number, const InboundPacket& packet, Time now) {
  if (!acknowledge_until(number, now)) {
    implied_nak(now);
    return;
  }
  if (shared_.failed || has_arrived(number)) return;
  const std::uint32_t index = window_.find(number);
  SendSlot& slot = window_.at(index);
  const auto at = static_cast<std::uint32_t>(number - slot.first);
  if (!read_response_fits(slot, at, packet)) {
    bad_response();
    return;
  }
  if (!may_note_arrival(number)) return;  // too early: it will be asked for again
  slot.answered = true;
  const bool last = at + 1 == slot.packets;
  if (!packet.payload.empty() &&
      !scatter(index, std::uint64_t{at} * path_mtu_, packet.payload, last, number)) {
    fail_here(index, WorkStatus::local_protection_error);
    return;
  }
  if (packet.headers.bth.opcode.operation() != Operation::read_response_middle) {
    flow_control_.update(packet.headers.aeth);
  }
  answered(number, now);
  if (!last && slot.asked_again) repeat_what_was_put_off(slot, number);
}

void Requester::answered(PacketNumber number, Time now) {
  if (number == unacknowledged_) {
    progress_to(done_from(number + 1), LossRecovery::Source::response, now);
  } else {
    selective_->arrived({number, 1}, LossRecovery::Source::response, now);
    news(now);
  }
}

// The part of a READ that a stranger was asked for again is here: now it can be asked for what was put off
// (next_in_order).
void Requester::repeat_what_was_put_off(const SendSlot& slot, PacketNumber number) {
  if (number + 1 != slot.repeat_end || selective_ == nullptr || !selective_acks_.peer_is_stranger()) return;
  const PacketNumber begin = selective_->first_missing(number + 1, slot.end());
  if (begin == slot.end()) return;
  selective_->resume({begin, static_cast<std::uint32_t>(slot.end() - begin)});
}

// IBTA 9.7.5.1.3, 9.7.4.2: opcode by the packet's place, length by the opcode, a positive AETH where there is
// one. The response to a part of a READ that was asked for again begins and ends where that part does.
bool Requester::read_response_fits(const SendSlot& slot, std::uint32_t at,
                                   const InboundPacket& packet) const {
  if (!is_read_or_atomic(slot.request.opcode) || is_atomic(slot.request.opcode)) return false;
  const std::uint64_t length = slot.request.opcode == WorkOpcode::rdma_read ? slot.request.length : 0;
  const Operation operation = packet.headers.bth.opcode.operation();
  const bool begins =
      operation == Operation::read_response_first || operation == Operation::read_response_only;
  const bool ends = operation == Operation::read_response_last || operation == Operation::read_response_only;
  const bool last = at + 1 == slot.packets;
  if (ends != last && !(ends && slot.asked_again)) return false;
  if (begins != (at == 0) && !(begins && slot.asked_again)) return false;
  if (operation != Operation::read_response_middle &&
      wire::kind(packet.headers.aeth.syndrome) != wire::AethKind::ack) {
    return false;
  }
  const std::uint64_t expected = last ? length - std::uint64_t{at} * path_mtu_ : std::uint64_t{path_mtu_};
  return packet.payload.size() == expected;
}

void Requester::on_atomic_acknowledge(PacketNumber number, const InboundPacket& packet, Time now) {
  if (!acknowledge_until(number, now)) {
    implied_nak(now);
    return;
  }
  if (shared_.failed || has_arrived(number)) return;
  const std::uint32_t index = window_.find(number);
  SendSlot& slot = window_.at(index);
  if (!is_atomic(slot.request.opcode) || wire::kind(packet.headers.aeth.syndrome) != wire::AethKind::ack) {
    bad_response();
    return;
  }
  if (!may_note_arrival(number)) return;
  // Kept in the slot: the host reads it when its batch ends.
  slot.atomic_original = packet.headers.atomic_original;
  if (!scatter(index, 0, std::as_bytes(std::span(&slot.atomic_original, 1)), true, number)) {
    fail_here(index, WorkStatus::local_protection_error);
    return;
  }
  flow_control_.update(packet.headers.aeth);
  answered(number, now);
}

// Writes `data` to the request's memory at `offset` of its message; false if a key does not allow it.
bool Requester::scatter(std::uint32_t index, std::uint64_t offset, std::span<const std::byte> data,
                        bool message_end, PacketNumber number) {
  SendSlot& slot = window_.at(index);
  RangeList memory;
  if (!map_message(slot.request.sges, offset, static_cast<std::uint32_t>(data.size()),
                   AccessRight::local_write, *shared_.config.keys, shared_.config.pd, memory)) {
    return false;
  }
  for (const MemoryRange& range : memory.ranges()) {
    const std::span<const std::byte> piece = data.first(range.length);
    data = data.subspan(range.length);
    const AccessTag tag = next_tag(number, index);
    slot.last_write = tag.action;
    shared_.config.host->write(range, piece, message_end && data.empty(), tag);
  }
  return true;
}

// A response that no conforming responder sends ends the connection (IBTA 9.9.2.4).
void Requester::bad_response() {
  ++shared_.config.counters->bad_responses;
  fail_oldest(WorkStatus::bad_response_error);
}

}  // namespace urnic::transport
