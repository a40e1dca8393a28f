#include "device_model/transport/raw_packet.hpp"

namespace urnic::transport {

WorkStatus RawPacket::check(const SendRequest& request) const {
  if (request.opcode != WorkOpcode::send) return WorkStatus::local_qp_operation_error;
  const bool fits = request.length >= kShortestRawFrame && request.length <= parameters().path_mtu;
  return fits ? WorkStatus::success : WorkStatus::local_length_error;
}

WorkStatus RawPacket::send_packet(const SendRequest& request, std::uint32_t, std::uint32_t) {
  OutboundPacket packet;  // its headers say nothing: the frame has its own
  return send_with_payload(packet, request, 0, static_cast<std::uint32_t>(request.length));
}

void RawPacket::take_packet(const InboundPacket& packet) {
  if (!receives().under_way() && !receives().take()) {
    ++counters().datagrams_without_receive;
    return;
  }
  const WorkStatus status = place(packet.payload);
  if (status == WorkStatus::local_length_error) {
    // Nothing was placed: the receive stays for a frame that fits.
    ++counters().responder_local_length_errors;
    return;
  }
  if (status != WorkStatus::success) return fail_receive(status);
  ++counters().received_send_requests;
  Completion completion;
  completion.opcode = CompletionOpcode::receive;
  completion.byte_length = static_cast<std::uint32_t>(receives().placed());
  receives().complete(completion, wire::Qpn{});
}

WorkStatus RawPacket::place(std::span<const std::byte> frame) {
  if (receives().malformed()) return WorkStatus::local_qp_operation_error;
  if (frame.size() > receives().length()) return WorkStatus::local_length_error;
  return receives().place(frame, true, wire::Psn{});
}

}  // namespace urnic::transport
