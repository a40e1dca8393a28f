// SENDs to a QP on a tag-matching SRQ (rdma-core, Documentation/tag_matching.md): as any SEND, but for which
// receive they get and for which part of them is placed.
#include "device_model/transport/responder/responder.hpp"
#include "device_model/transport/tagged_receives.hpp"

namespace urnic::transport {

std::optional<TaggedReceives::Taken> ReceivePlacement::take_tagged(std::span<const std::byte> payload,
                                                                   bool whole) {
  const bool reads = shared_.parameters.max_reads != 0;
  auto taken = shared_.config.tagged_receives->take(payload, whole, reads, current_);
  if (taken) began();
  return taken;
}

bool ReceivePlacement::take_untagged() {
  TaggedReceives* const receives = shared_.config.tagged_receives;
  if (receives == nullptr || !receives->take_untagged(current_)) return false;
  began();
  return true;
}

void ReceivePlacement::announce_match() {
  Completion completion;
  completion.qpn = shared_.config.qpn;
  completion.source = shared_.parameters.destination;
  completion.receive = true;
  completion.wqe_index = current_.index;
  completion.opcode = CompletionOpcode::tagged_receive;
  shared_.config.host->complete(completion, Stream::responder);
}

// The first packet.
std::optional<Responder::Refusal> Responder::execute_tagged_send(const InboundPacket& packet) {
  const auto taken = receives_.take_tagged(packet.payload, wire::traits(packet.headers.bth.opcode).last);
  if (!taken) {
    receiver_not_ready();
    return std::nullopt;
  }
  ++shared_.config.counters->received_send_requests;
  if (taken->announce) receives_.announce_match();
  return place_send(packet, taken->data);
}

}  // namespace urnic::transport
