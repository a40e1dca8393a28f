// Requests that have been executed before: their responses were lost or are late (IBTA 9.7.5.1,
// C9-105, C9-110). Only a READ is executed twice. They are answered even while there is a hole: an ACK tells
// a peer that reads selective acks as much as a report does, and arrives where NAKs are lost.
#include "device_model/transport/responder/responder.hpp"

namespace urnic::transport {

void Responder::repeat(const InboundPacket& packet, RequestKind kind) {
  switch (kind) {
    case RequestKind::send:
    case RequestKind::write:
      owed_.ack(resources_.last_before_response(packet.headers.bth.psn, window_.expected() - 1));
      return;
    case RequestKind::read:
      repeat_read(packet);
      return;
    case RequestKind::atomic:
      repeat_atomic(packet);
      return;
    case RequestKind::atomic_write:
      repeat_atomic_write(packet);
      return;
    case RequestKind::unsupported:
      return;  // no such request was ever executed
  }
}

// Executed again, from any of its PSNs: a requester that has received the first part asks for the rest, with
// another address, length and PSN.
void Responder::repeat_read(const InboundPacket& packet) {
  const wire::Psn first = packet.headers.bth.psn;
  const wire::Reth& reth = packet.headers.reth;
  const ResponderResource* resource = resources_.find(first);
  if (resource == nullptr || resource->kind != RequestKind::read || reth.dma_length > kMaxRdmaLength) return;
  const std::uint32_t packets = response_packets(reth.dma_length, shared_.parameters.path_mtu);
  const auto skipped = static_cast<std::uint32_t>(distance(resource->first, first));
  if (packets > resource->packets - skipped || !in_domain(packet)) return;
  const PendingResponse response{.next = first,
                                 .last = first + (packets - 1),
                                 .rkey = reth.rkey,
                                 .pd = pd_,
                                 .address = reth.virtual_address,
                                 .remaining = reth.dma_length};
  // A requester that keeps to the specification gets the response from its First packet on.
  const bool there_is_room = gives_selective_acks()
                                 ? responses_.repeat_missing(response, shared_.parameters.path_mtu)
                                 : responses_.repeat(response);
  if (!there_is_room) ++shared_.config.counters->read_repeat_discards;
}

// Answered with the saved result, never executed again. Dropped if it is not remembered any more.
void Responder::repeat_atomic(const InboundPacket& packet) {
  const wire::Psn psn = packet.headers.bth.psn;
  const ResponderResource* resource = resources_.find(psn);
  if (resource == nullptr || resource->kind != RequestKind::atomic) return;
  responses_.repeat({.next = psn, .last = psn, .atomic_original = &resource->original});
}

// Not written again: the value may have been changed since.
void Responder::repeat_atomic_write(const InboundPacket& packet) {
  const wire::Psn psn = packet.headers.bth.psn;
  const ResponderResource* resource = resources_.find(psn);
  if (resource == nullptr || resource->kind != RequestKind::atomic_write) return;
  responses_.repeat({.next = psn, .last = psn});
}

}  // namespace urnic::transport
