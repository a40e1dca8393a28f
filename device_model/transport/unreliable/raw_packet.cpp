#include "device_model/transport/unreliable/raw_packet.hpp"

namespace urnic::transport {

WorkStatus RawPacket::check(const SendRequest& request) const {
  if (request.opcode != WorkOpcode::send) return WorkStatus::local_qp_operation_error;
  const bool fits = request.length >= kShortestRawFrame && request.length <= parameters().path_mtu;
  return fits ? WorkStatus::success : WorkStatus::local_length_error;
}

WorkStatus RawPacket::send_packet(const SendRequest& request, std::uint32_t, std::uint32_t, Time now) {
  OutboundPacket packet;  // its headers say nothing: the frame has its own
  packet.checksums = request.checksums;
  return send_with_payload(packet, request, 0, static_cast<std::uint32_t>(request.length), now);
}

void RawPacket::take_packet(const InboundPacket& packet) {
  if (!receive_whole({}, packet.payload, wire::Psn{})) return;
  Completion completion;
  completion.opcode = CompletionOpcode::receive;
  completion.byte_length = static_cast<std::uint32_t>(receives().placed());
  completion.facts = packet.facts;
  receives().complete(completion, wire::Qpn{});
}

}  // namespace urnic::transport
