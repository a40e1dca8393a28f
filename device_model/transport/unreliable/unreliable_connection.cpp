#include "device_model/transport/unreliable/unreliable_connection.hpp"

#include "device_model/transport/partition_key.hpp"
#include "device_model/transport/segmentation.hpp"

namespace urnic::transport {

void UnreliableConnection::start_receiving() {
  expected_psn_ = parameters().receive_psn;
  message_ = MessageUnderWay::none;
  established_ = false;
}

void UnreliableConnection::start_sending() { next_psn_ = parameters().send_psn; }

// The service has packets for SEND and RDMA WRITE alone, with immediate data or without (IBTA 9.2.1, table
// 38). Bind and local invalidate need no packet. SEND with invalidate, which ibv_post_send(3) lists, has no
// opcode.
WorkStatus UnreliableConnection::check(const SendRequest& request) const {
  switch (request.opcode) {
    case WorkOpcode::send:
    case WorkOpcode::send_with_immediate:
    case WorkOpcode::rdma_write:
    case WorkOpcode::rdma_write_with_immediate:
    case WorkOpcode::local_invalidate:
    case WorkOpcode::bind_memory_window:
      break;
    default:
      return WorkStatus::local_qp_operation_error;
  }
  return request.length > config().max_message_size ? WorkStatus::local_length_error : WorkStatus::success;
}

std::uint32_t UnreliableConnection::packets_of(const SendRequest& request) const {
  return packet_count(request, parameters().path_mtu);
}

WorkStatus UnreliableConnection::send_packet(const SendRequest& request, std::uint32_t at,
                                             std::uint32_t count, Time now) {
  OutboundPacket packet;
  wire::Bth& bth = packet.headers.bth;
  const Segment segment = build_unreliable_request(request, at, count, parameters().path_mtu, packet.headers);
  bth.pkey = parameters().pkey;
  bth.destination = parameters().destination;
  bth.psn = next_psn_;
  const WorkStatus status = send_with_payload(packet, request, segment.offset, segment.length, now);
  if (status == WorkStatus::success) next_psn_ = next_psn_ + 1;
  return status;
}

void UnreliableConnection::take_packet(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  if (!wire::traits(bth.opcode).known || bth.opcode.service() != wire::Service::uc) return;
  if (!is_in_partition(bth.pkey, parameters().pkey, counters())) return;
  if (state() == QpState::rtr && !established_) {
    config().host->event(AsyncEvent::communication_established);
  }
  established_ = true;
  if (!continues_message(bth)) {
    drop_message();
    if (!wire::traits(bth.opcode).first) return;
  }
  if (execute(packet) == Placed::drop_message) drop_message();
}

// A packet with an unexpected PSN, or that cannot follow the packet before, ends the message under way. If it
// begins a message it is executed all the same, and PSNs are counted from it (IBTA 9.8.2.2, 9.8.2.2.1).
bool UnreliableConnection::continues_message(const wire::Bth& bth) {
  const bool in_order = bth.psn == expected_psn_;
  if (!in_order) ++counters().out_of_sequence;
  expected_psn_ = bth.psn + 1;
  return in_order && follows(message_, bth.opcode.operation());
}

// Silently. The receive that the message had begun to fill serves the next message.
void UnreliableConnection::drop_message() {
  message_ = MessageUnderWay::none;
  if (receives().under_way()) receives().rewind();
}

UnreliableConnection::Placed UnreliableConnection::execute(const InboundPacket& packet) {
  const wire::Operation operation = packet.headers.bth.opcode.operation();
  const RequestKind kind = request_kind(operation);
  if (!is_enabled(parameters().access, kind)) return Placed::drop_message;
  if (!payload_fits(operation, packet.payload.size(), parameters().path_mtu)) return Placed::drop_message;
  return kind == RequestKind::send ? execute_send(packet) : execute_write(packet);
}

UnreliableConnection::Placed UnreliableConnection::execute_send(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  if (traits.first) {
    if (!have_receive()) return Placed::drop_message;
    ++counters().received_send_requests;
  }
  if (!traits.first || !traits.last || !receives().leave_to_completion(packet.payload)) {
    const WorkStatus status = receives().place(packet.payload, traits.last, bth.psn);
    if (status == WorkStatus::local_length_error) {
      ++counters().responder_local_length_errors;
      return Placed::drop_message;
    }
    if (status != WorkStatus::success) {
      fail_receive(status);
      return Placed::failed;
    }
  }
  message_ = traits.last ? MessageUnderWay::none : MessageUnderWay::send;
  if (!traits.last) return Placed::yes;
  Completion completion;
  completion.opcode = CompletionOpcode::receive;
  completion.byte_length = static_cast<std::uint32_t>(receives().placed());
  completion.with_immediate = (traits.headers & wire::has_immediate) != 0;
  completion.immediate = packet.headers.immediate;
  completion.solicited = bth.solicited;
  receives().complete(completion);
  return Placed::yes;
}

UnreliableConnection::Placed UnreliableConnection::execute_write(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  const bool immediate = is_write_with_immediate(bth.opcode.operation());
  // Nothing is written for a message that cannot be completed.
  if (immediate && !have_receive()) return Placed::drop_message;
  if (immediate && receives().malformed()) {
    fail_receive(WorkStatus::local_qp_operation_error);
    return Placed::failed;
  }
  if (traits.first) {
    write_address_ = packet.headers.reth.virtual_address;
    write_rkey_ = packet.headers.reth.rkey;
    write_length_ = write_remaining_ = packet.headers.reth.dma_length;
    ++counters().received_write_requests;
  }
  if (!place_write(packet)) return Placed::drop_message;
  message_ = traits.last ? MessageUnderWay::none : MessageUnderWay::write;
  if (!immediate) return Placed::yes;
  receives().complete_write(write_length_, packet.headers);
  return Placed::yes;
}

// As for a reliable connection (IBTA 9.7.4.1.5, 9.7.4.1.6), but a wrong key or length only drops the message
// (IBTA 9.9.3, class D).
bool UnreliableConnection::place_write(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const bool last = wire::traits(bth.opcode).last;
  const auto payload = static_cast<std::uint32_t>(packet.payload.size());
  MemoryRange range;
  if (write_length_ > kMaxRdmaLength) return false;
  if (write_length_ > 0 &&
      config().keys->check_remote(write_rkey_, config().pd, config().qpn, write_address_, write_remaining_,
                                  AccessRight::remote_write, range) != KeyCheck::ok) {
    ++counters().responder_access_errors;
    return false;
  }
  if (last ? payload != write_remaining_ : payload >= write_remaining_) return false;
  if (payload > 0) {
    range.length = payload;
    config().host->write(
        range, packet.payload, last,
        {.stream = Stream::responder, .psn = bth.psn, .wqe_index = receives().first_incomplete()});
  }
  write_address_ += payload;
  write_remaining_ -= payload;
  return true;
}

}  // namespace urnic::transport
