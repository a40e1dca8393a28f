// The requester sends lost packets again first, then new packets while nothing holds them back.
#include <algorithm>

#include "device_model/transport/local_operation.hpp"
#include "device_model/transport/message_memory.hpp"
#include "device_model/transport/requester/requester.hpp"

namespace urnic::transport {

std::uint32_t Requester::pump(Time now, std::uint32_t packets) {
  take_next_recovery();
  std::uint32_t sent = pump_again(now, packets);
  while (sent < packets && running() && !rnr_wait_.is_on() && pace_.may_send(now)) {
    if (window_.all_sent() && !take_request()) break;
    const SendSlot& slot = window_.at(window_.sending());
    if (slot.status != WorkStatus::success) {
      complete_finished();
      break;
    }
    if (!may_send_new(slot)) break;
    if (send_new(now)) ++sent;
  }
  while (sent < packets && may_guess() && pace_.may_send(now)) sent += send_guess(now);
  return sent;
}

bool Requester::must_send_again() const {
  return running() && in_flight() != 0 && !rnr_wait_.is_on() && recovery_->resend(1);
}

std::uint32_t Requester::pump_again(Time now, std::uint32_t packets) {
  std::uint32_t sent = 0;
  while (sent < packets && must_send_again() && pace_.may_send(now)) {
    sent += send_again(recovery_->resend(1)->first, now);
  }
  return sent;
}

bool Requester::wants_pump() const {
  if (!running() || rnr_wait_.is_on()) return false;
  if (in_flight() != 0 && recovery_->resend(1)) return true;
  return may_send_new() || may_guess();
}

bool Requester::may_send_new() const {
  if (window_.all_sent()) return may_take() && shared_.config.send_queue->pending();
  const SendSlot& slot = window_.at(window_.sending());
  return slot.status == WorkStatus::success && may_send_new(slot);
}

// In SQD no request begins (IBTA 10.3.1.5). A request is taken only when the window has room for its first
// packet: a request that is taken and cannot begin would keep the queue from draining.
bool Requester::may_take() const {
  return shared_.state == QpState::rts && !window_.full() && window_has_room() && recovery_lets_send_new();
}

bool Requester::take_request() {
  if (!may_take()) return false;
  SendSlot* const taken = window_.take(*shared_.config.send_queue);
  if (taken == nullptr) return false;
  SendSlot& slot = *taken;
  slot.first = next_new_;
  slot.status = check_request(slot.request);
  if (slot.status != WorkStatus::success || is_local(slot.request.opcode)) return true;
  slot.packets = packet_count(slot.request, path_mtu_);
  slot.message = last_message_ = last_message_.next();
  return true;
}

// Errors of the request itself, found before anything of it is sent (IBTA 9.9.2.1, 11.6.2).
WorkStatus Requester::check_request(const SendRequest& request) const {
  if (request.malformed || !known(request.opcode) || request.sges.size() > kMaxSges) {
    return WorkStatus::local_qp_operation_error;
  }
  if (is_read_or_atomic(request.opcode)) {
    const bool has_data = request.opcode == WorkOpcode::atomic_write;
    if (request.is_inline != has_data || shared_.parameters.max_reads == 0) {
      return WorkStatus::local_qp_operation_error;
    }
    if (request.opcode != WorkOpcode::rdma_read && request.length != sizeof(std::uint64_t)) {
      return WorkStatus::local_length_error;
    }
  }
  if (request.length > shared_.config.max_message_size) return WorkStatus::local_length_error;
  return WorkStatus::success;
}

bool Requester::may_send_new(const SendSlot& slot) const {
  if (is_local(slot.request.opcode)) return may_execute_local(slot);
  if (!has_room_for(slot) || !recovery_lets_send_new()) return false;
  if (flow_control_.holds_back(slot, next_new_, unacknowledged_, response_expected())) return false;
  if (next_new_ != slot.first) return true;
  // Fence: reads and atomics before it are done (IBTA 10.8.3.3).
  if (slot.request.fence && !reads_.none()) return false;
  return !is_read_or_atomic(slot.request.opcode) || reads_.has_room(shared_.parameters.max_reads);
}

// With the fence bit, an invalidation waits for all earlier requests, a bind for earlier READs and atomics
// (IBTA 10.8.3.3). Later requests begin after either of them, as type 2 windows need (IBTA 10.6.7.2).
bool Requester::may_execute_local(const SendSlot& slot) const {
  if (!slot.request.fence) return true;
  if (slot.request.opcode == WorkOpcode::local_invalidate) return window_.oldest() == window_.sending();
  return reads_.none();
}

// A READ is one packet, but takes one PSN for each packet of its response; they may lie beyond the window.
bool Requester::has_room_for(const SendSlot& slot) const {
  if (!window_has_room()) return false;
  const std::uint64_t psns = slot.request.opcode == WorkOpcode::rdma_read ? slot.packets : 1;
  return in_flight() + psns <= kMaxOutstandingPsns;
}

bool Requester::send_new(Time now) {
  const std::uint32_t index = window_.sending();
  SendSlot& slot = window_.at(index);
  if (is_local(slot.request.opcode)) {
    execute_local(slot);
    return false;
  }
  const auto at = static_cast<std::uint32_t>(next_new_ - slot.first);
  flow_control_.sending(slot, next_new_);
  const std::uint32_t packets = emit_packet(index, at, slot.packets, now);
  if (packets == 0) return false;
  if (at == 0) reads_.sent(slot.request);
  next_new_ = next_new_ + packets;
  if (next_new_ == slot.end()) window_.sent_whole();
  return true;
}

std::uint32_t Requester::send_again(PacketNumber first, Time now) {
  const std::uint32_t index = window_.find(first);
  SendSlot& slot = window_.at(index);
  PacketRange packets{first, 1};
  if (slot.request.opcode == WorkOpcode::rdma_read) {
    const std::optional<PacketRange> part = part_to_repeat(slot, first, now);
    if (!part) return 0;
    packets = *part;
  }
  if (control_ != nullptr && !timed_out_packet_waits_) {
    control_->lost(now);
    obey_control(now);
  }
  const auto at = static_cast<std::uint32_t>(packets.first - slot.first);
  slot.asked_again = true;
  slot.repeat_end = packets.end();
  slot.reached_peer = false;
  std::uint32_t sent = 0;
  for (const std::uint32_t copies = copies_of(slot, first); sent < copies; ++sent) {
    if (emit_packet(index, at, packets.count, now) == 0) break;
  }
  shared_.config.counters->retransmitted_packets += sent;
  return sent;
}

// A READ or atomic is not sent on a guess: its repeat would be answered, which costs the peer more.
std::uint32_t Requester::send_guess(Time now) {
  const PacketNumber number = *selective_->guess();
  const std::uint32_t index = window_.find(number);
  const SendSlot& slot = window_.at(index);
  if (is_read_or_atomic(slot.request.opcode)) {
    selective_->end_guesses();
    return 0;
  }
  const auto at = static_cast<std::uint32_t>(number - slot.first);
  if (emit_packet(index, at, 1, now, true) == 0) return 0;
  selective_->guessed(now);
  ++shared_.config.counters->retransmitted_packets;
  return 1;
}

// The part of a READ to request again, of which `first` is lost; empty if it is put off.
std::optional<PacketRange> Requester::part_to_repeat(const SendSlot& slot, PacketNumber first, Time now) {
  // Only a READ that the peer has executed may be repeated in part. Another peer would take the part for a
  // new request, with its own message number and responder resource.
  if (!slot.answered && executed_until_ <= slot.first) return PacketRange{slot.first, slot.packets};
  if (selective_ != nullptr && selective_acks_.peer_is_stranger()) return next_in_order(slot, first, now);
  return recovery_->resend(static_cast<std::uint32_t>(slot.end() - first));
}

// A repeated READ may only be a part of what the responder still has to give (IBTA 9.7.5.1), and a responder
// that knows only the specification's go-back-N may forget what lies before the part that was requested last:
// Soft-RoCE does. So a stranger is asked from the first missing response on, and asked again only when those
// have come. One request takes holes together that are close: a round trip costs more than a few responses
// that are here already.
std::optional<PacketRange> Requester::next_in_order(const SendSlot& slot, PacketNumber first, Time now) {
  constexpr std::uint64_t kClose = 16;  // packets
  if (selective_acks_.recovery_reads()) shared_.offers.missed_packet();
  const PacketRange hole = *recovery_->resend(static_cast<std::uint32_t>(slot.end() - first));
  const PacketNumber begin = selective_->first_missing(std::max(slot.first, unacknowledged_), slot.end());
  if (begin < first && !selective_->is_lost(begin)) {
    selective_->put_off(hole, now);
    return std::nullopt;
  }
  PacketNumber end = begin == first ? hole.end() : begin + 1;
  for (PacketNumber next = end; next < slot.end() && next - end < kClose; next = next + 1) {
    if (selective_->covers(next) && selective_->is_lost(next)) end = next + 1;
  }
  return PacketRange{begin, static_cast<std::uint32_t>(end - begin)};
}

// A burst of losses counted in packets outlasts all retries if each retry is one packet. So the packet for
// which the local ACK timer expires is sent in twice as many copies at each expiry without an answer. NAKs
// cause no copies: each copy may bring a NAK, and the copies would multiply. Of the copies of a READ that
// reach the peer together, one is answered (response_queue.hpp). A stranger answers each of them, whole.
std::uint32_t Requester::copies_of(const SendSlot& slot, PacketNumber packet) const {
  if (!timed_out_packet_waits_ && (selective_ == nullptr || selective_->copies_of_oldest() == 1)) return 1;
  if (slot.request.opcode == WorkOpcode::rdma_read && selective_acks_.peer_is_stranger()) return 1;
  const unsigned retries = retries_.transport_used(shared_.parameters);
  if (packet != first_missing(unacknowledged_, next_new_)) return 1;
  if (!timed_out_packet_waits_) return selective_->copies_of_oldest();
  return retries < 4 ? 1u << retries : kMostCopies;
}

// An acknowledgement is requested by the last packet of a message, by one packet in each interval, and by a
// probe for credits (IBTA 9.7.7.2.5).
bool Requester::wants_ack(const SendSlot& slot, std::uint32_t at) const {
  const PacketNumber number = slot.first + at;
  const std::uint32_t chosen = recovery_->ack_interval();
  std::uint32_t interval = chosen != 0 ? std::min(chosen, ack_interval_) : ack_interval_;
  if (control_ != nullptr) {
    if (control_->is_last_in_window(arrived_ahead())) return true;
    interval = std::min(interval, control_->ack_interval());
  }
  return at + 1 == slot.packets || is_read_or_atomic(slot.request.opcode) || flow_control_.is_probe(number) ||
         (number.value() + 1) % interval == 0;
}

// A packet that fills a hole may be the last one missing: no later packet would request its acknowledgement.
// In a run it is not.
bool Requester::fills_last_hole(PacketNumber number) const {
  if (number >= next_new_ || selective_ == nullptr) return false;
  if (!selective_->goes_back()) return true;
  const std::optional<PacketRange> run = selective_->resend(2);
  return !run || run->first != number || run->count == 1;
}

std::uint32_t Requester::emit_packet(std::uint32_t index, std::uint32_t at, std::uint32_t wanted, Time now,
                                     bool is_guess) {
  const SendSlot& held = window_.at(index);
  const PacketNumber number = held.first + at;
  OutboundPacket packet;
  const Segment segment = build_request(held.request, at, held.packets, wanted, path_mtu_, packet.headers,
                                        shared_.config.packets);
  RangeList memory;
  const SendRequest& request = held.request;
  const MemoryKeys& keys = *shared_.config.keys;
  const PdId pd = shared_.config.pd;
  bool mapped = true;
  if (!request.is_inline) {
    mapped =
        map_message(request.sges, segment.offset, segment.length, AccessRight::local_read, keys, pd, memory);
  } else if (request.sges.empty()) {
    packet.bytes = request.inline_data.subspan(segment.offset, segment.length);
  } else {
    mapped = map_both(request, segment.offset, segment.length, keys, pd, packet.bytes, memory);
  }
  if (!mapped) {
    fail_here(index, WorkStatus::local_protection_error);
    return 0;
  }
  packet.gather = memory.ranges();
  wire::Bth& bth = packet.headers.bth;
  bth.psn = psn_of(number);
  bth.pkey = shared_.parameters.pkey;
  bth.destination = shared_.parameters.destination;
  bth.ack_request = (!is_guess && fills_last_hole(number)) || wants_ack(held, at);
  packet.tag = next_tag(number, index);
  window_.at(index).last_send = packet.tag.action;
  shared_.config.host->send(packet);
  const PacketRange covered{number, segment.packets};
  if (pace_.is_limited() || control_ != nullptr) [[unlikely]]
    pace_departure(packet, covered, now);
  if (is_guess) return segment.packets;
  recovery_->sent(covered, bth.ack_request, now);
  if (bth.ack_request) {
    response_expected_until_ = std::max(response_expected_until_, covered.end());
    if (!ack_timer_.running() || timed_out_packet_waits_) ack_timer_.start(now);
    timed_out_packet_waits_ = false;
  }
  return segment.packets;
}

void Requester::execute_local(SendSlot& slot) {
  if (carry_out_locally(slot.request, shared_.config) == KeyCheck::ok) {
    window_.sent_whole();
  } else {
    slot.status = WorkStatus::memory_window_bind_error;
  }
  complete_finished();
}

}  // namespace urnic::transport
