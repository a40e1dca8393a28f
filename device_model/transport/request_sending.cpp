// What the requester sends next: first what must be sent again, then new packets while nothing holds them
// back.
#include <algorithm>

#include "device_model/transport/message_memory.hpp"
#include "device_model/transport/requester_impl.hpp"

namespace urnic::transport {

std::uint32_t Requester::Impl::pump(Time now, std::uint32_t packets) {
  take_next_recovery();
  std::uint32_t sent = pump_again(now, packets);
  while (sent < packets && running() && !rnr_until) {
    if (window.all_sent() && !take_request()) break;
    const SendSlot& slot = window.at(window.sending());
    if (slot.status != WorkStatus::success) {
      complete_finished();
      break;
    }
    if (!may_send_new(slot)) break;
    if (send_new(now)) ++sent;
  }
  return sent;
}

bool Requester::Impl::must_send_again() const { return running() && !rnr_until && recovery->resend(1); }

std::uint32_t Requester::Impl::pump_again(Time now, std::uint32_t packets) {
  std::uint32_t sent = 0;
  while (sent < packets && must_send_again()) {
    if (send_again(recovery->resend(1)->first, now)) ++sent;
  }
  return sent;
}

bool Requester::Impl::wants_pump() const {
  if (!running() || rnr_until) return false;
  if (recovery->resend(1)) return true;
  if (window.all_sent()) return may_take() && shared.config.send_queue->pending();
  const SendSlot& slot = window.at(window.sending());
  return slot.status == WorkStatus::success && may_send_new(slot);
}

// In SQD nothing new is begun (IBTA 10.3.1.5). A request is taken only when its first packet would find room,
// so that one that has not begun does not keep the queue from draining.
bool Requester::Impl::may_take() const {
  return shared.state == QpState::rts && !window.full() && in_flight() < window_packets &&
         recovery->may_send_new(in_flight());
}

bool Requester::Impl::take_request() {
  if (!may_take()) return false;
  SendSlot* const taken = window.take(*shared.config.send_queue);
  if (taken == nullptr) return false;
  SendSlot& slot = *taken;
  slot.first = next_new;
  slot.status = check_request(slot.request);
  if (slot.status != WorkStatus::success || is_local(slot.request.opcode)) return true;
  slot.packets = packet_count(slot.request, path_mtu);
  slot.message = last_message = last_message.next();
  return true;
}

// Errors of the request itself, found before anything of it is sent (IBTA 9.9.2.1, 11.6.2).
WorkStatus Requester::Impl::check_request(const SendRequest& request) const {
  if (request.malformed || !known(request.opcode) || request.sges.size() > kMaxSges) {
    return WorkStatus::local_qp_operation_error;
  }
  if (is_read_or_atomic(request.opcode)) {
    if (request.is_inline || shared.parameters.max_reads == 0) return WorkStatus::local_qp_operation_error;
    if (is_atomic(request.opcode) && request.length != sizeof(std::uint64_t)) {
      return WorkStatus::local_length_error;
    }
  }
  if (request.length > shared.config.max_message_size) return WorkStatus::local_length_error;
  return WorkStatus::success;
}

bool Requester::Impl::may_send_new(const SendSlot& slot) const {
  if (is_local(slot.request.opcode)) return may_execute_local(slot);
  if (!has_room_for(slot) || !recovery->may_send_new(in_flight())) return false;
  if (probing()) return false;
  if (next_new != slot.first) return true;
  // Fence: reads and atomics before it are done (IBTA 10.8.3.3).
  if (slot.request.fence && reads_under_way != 0) return false;
  return !is_read_or_atomic(slot.request.opcode) || reads_under_way < shared.parameters.max_reads;
}

// With the fence bit an invalidation waits for all requests before it, a bind for reads and atomics (IBTA
// 10.8.3.3). Requests behind either begin only after it, as type 2 windows need (IBTA 10.6.7.2).
bool Requester::Impl::may_execute_local(const SendSlot& slot) const {
  if (!slot.request.fence) return true;
  if (slot.request.opcode == WorkOpcode::local_invalidate) return window.oldest() == window.sending();
  return reads_under_way == 0;
}

// A READ is one packet but takes as many PSNs as its response has packets; it may reach beyond the window.
bool Requester::Impl::has_room_for(const SendSlot& slot) const {
  if (in_flight() >= window_packets) return false;
  const std::uint64_t psns = slot.request.opcode == WorkOpcode::rdma_read ? slot.packets : 1;
  return in_flight() + psns <= kMaxOutstandingPsns;
}

// A receive WQE is taken by the first packet of a SEND and by the last of a WRITE with immediate data (IBTA
// 9.7.7.2.1).
bool Requester::Impl::lacks_credit(const SendSlot& slot, std::uint32_t at) const {
  if (!consumes_receive(slot.request.opcode) || credits.allow(slot.message)) return false;
  const bool write = slot.request.opcode == WorkOpcode::rdma_write_with_immediate;
  return at == (write ? slot.packets - 1 : 0);
}

bool Requester::Impl::probing() const {
  return probe && unacknowledged <= probe->packet && !credits.allow(probe->message);
}

bool Requester::Impl::send_new(Time now) {
  const std::uint32_t index = window.sending();
  SendSlot& slot = window.at(index);
  if (is_local(slot.request.opcode)) {
    execute_local(slot);
    return false;
  }
  const auto at = static_cast<std::uint32_t>(next_new - slot.first);
  // Without a credit one packet is sent, and it asks for an acknowledgement (IBTA 9.7.7.2.5).
  if (lacks_credit(slot, at)) probe = Probe{next_new, slot.message};
  const std::uint32_t packets = emit_packet(index, at, slot.packets, now);
  if (packets == 0) return false;
  if (at == 0 && is_read_or_atomic(slot.request.opcode)) ++reads_under_way;
  next_new = next_new + packets;
  if (next_new == slot.end()) window.sent_whole();
  return true;
}

bool Requester::Impl::send_again(PacketNumber first, Time now) {
  const std::uint32_t index = window.find(first);
  SendSlot& slot = window.at(index);
  PacketRange packets{first, 1};
  if (slot.request.opcode == WorkOpcode::rdma_read) {
    packets = *recovery->resend(static_cast<std::uint32_t>(slot.end() - first));
  }
  // Part of a READ may be asked for only when the peer has executed it: else it would take the part for a
  // request of its own, with a message number and a responder resource of its own.
  if (slot.request.opcode == WorkOpcode::rdma_read && !slot.answered && executed_until <= slot.first) {
    packets = {slot.first, slot.packets};
  }
  const auto at = static_cast<std::uint32_t>(packets.first - slot.first);
  slot.asked_again = true;
  slot.reached_peer = false;
  if (emit_packet(index, at, packets.count, now) == 0) return false;
  ++shared.config.counters->retransmitted_packets;
  return true;
}

// The last packet of every message asks for an acknowledgement, and enough between, and a probe for credits
// (IBTA 9.7.7.2.5).
bool Requester::Impl::wants_ack(const SendSlot& slot, std::uint32_t at) const {
  const PacketNumber number = slot.first + at;
  const std::uint32_t interval = recovery->ack_interval() != 0 ? recovery->ack_interval() : ack_interval;
  return at + 1 == slot.packets || is_read_or_atomic(slot.request.opcode) ||
         (probe && probe->packet == number) || (number.value() + 1) % interval == 0;
}

std::uint32_t Requester::Impl::emit_packet(std::uint32_t index, std::uint32_t at, std::uint32_t wanted,
                                           Time now) {
  const SendSlot& held = window.at(index);
  const PacketNumber number = held.first + at;
  OutboundPacket packet;
  const Segment segment = build_request(held.request, at, held.packets, wanted, path_mtu, packet.headers);
  RangeList memory;
  if (held.request.is_inline) {
    packet.bytes = held.request.inline_data.subspan(segment.offset, segment.length);
  } else if (!map_message(held.request.sges, segment.offset, segment.length, AccessRight::local_read,
                          *shared.config.keys, shared.config.pd, memory)) {
    fail_here(index, WorkStatus::local_protection_error);
    return 0;
  }
  packet.gather = memory.ranges();
  wire::Bth& bth = packet.headers.bth;
  bth.psn = psn_of(number);
  bth.pkey = shared.parameters.pkey;
  bth.destination = shared.parameters.destination;
  // A packet that fills a hole may be the last that is missing: nothing else would have it acknowledged.
  const bool fills_hole = number < next_new && recovery->keeps_out_of_order();
  bth.ack_request = fills_hole || wants_ack(held, at);
  bth.selective_ack = offering;
  packet.tag = next_tag(number, index);
  window.at(index).last_send = packet.tag.action;
  shared.config.host->send(packet);

  const PacketRange covered{number, segment.packets};
  recovery->sent(covered, bth.ack_request, now);
  if (bth.ack_request) {
    response_expected_until = std::max(response_expected_until, covered.end());
    if (!ack_timer.running() || timed_out_packet_waits) ack_timer.start(now);
    timed_out_packet_waits = false;
  }
  return segment.packets;
}

void Requester::Impl::execute_local(SendSlot& slot) {
  MemoryKeys& keys = *shared.config.keys;
  const SendRequest& request = slot.request;
  const KeyCheck result = request.opcode == WorkOpcode::local_invalidate
                              ? keys.invalidate(request.invalidate, shared.config.pd, shared.config.qpn)
                              : keys.bind(request.binding, shared.config.pd, shared.config.qpn);
  if (result == KeyCheck::ok) {
    window.sent_whole();
  } else {
    slot.status = WorkStatus::memory_window_bind_error;
  }
  complete_finished();
}

}  // namespace urnic::transport
