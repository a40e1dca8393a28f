// RDMA READ, ATOMIC and ATOMIC WRITE at the responder, the first time that they arrive (IBTA 9.4.4, 9.4.5).
#include "device_model/transport/responder/responder.hpp"

namespace urnic::transport {

using wire::NakCode;
using wire::Operation;

std::optional<Responder::Refusal> Responder::execute_read(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::Reth& reth = packet.headers.reth;
  const QpConfig& config = shared_.config;
  ++config.counters->received_read_requests;
  if (!has_free_resource() || reth.dma_length > kMaxRdmaLength) return length_error();
  MemoryRange range;
  if (reth.dma_length > 0 &&
      config.keys->check_remote(reth.rkey, pd_, config.qpn, reth.virtual_address, reth.dma_length,
                                AccessRight::remote_read, range) != KeyCheck::ok) {
    return access_error();
  }
  ResponderResource& resource = resources_.take();
  resource = {.kind = RequestKind::read,
              .first = bth.psn,
              .packets = response_packets(reth.dma_length, shared_.parameters.path_mtu)};
  responses_.push({.next = bth.psn,
                   .last = bth.psn + (resource.packets - 1),
                   .rkey = reth.rkey,
                   .pd = pd_,
                   .address = reth.virtual_address,
                   .remaining = reth.dma_length});
  answered(resource);
  return std::nullopt;
}

// Executed at once, in the order of the requests (IBTA 9.5), even if responses to earlier READs are pending;
// its own response is sent behind those.
std::optional<Responder::Refusal> Responder::execute_atomic(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::AtomicEth& eth = packet.headers.atomic_eth;
  const QpConfig& config = shared_.config;
  ++config.counters->received_atomic_requests;
  if (!has_free_resource() || (eth.virtual_address & 7) != 0) return length_error();
  AtomicAction action;
  if (config.keys->check_remote(eth.rkey, pd_, config.qpn, eth.virtual_address, sizeof(std::uint64_t),
                                AccessRight::remote_atomic, action.target) != KeyCheck::ok) {
    return access_error();
  }
  ResponderResource& resource = resources_.take();
  resource = {.kind = RequestKind::atomic, .first = bth.psn, .packets = 1};
  answered(resource);
  action.kind =
      bth.opcode.operation() == Operation::compare_swap ? AtomicKind::compare_swap : AtomicKind::fetch_add;
  action.swap_or_add = eth.swap_or_add;
  action.compare = eth.compare;
  action.original = &resource.original;
  action.tag = tag(bth.psn);
  action.send_reply = responses_.empty();
  if (action.send_reply) {
    action.reply = response_headers(Operation::atomic_acknowledge, bth.psn, ack_syndrome());
  } else {
    responses_.push({.next = bth.psn, .last = bth.psn, .atomic_original = &resource.original});
  }
  config.host->atomic(action);
  return std::nullopt;
}

// Eight aligned bytes, written as one (IBTA A19): the host does so with the end of any message.
std::optional<Responder::Refusal> Responder::execute_atomic_write(const InboundPacket& packet) {
  constexpr std::uint32_t kLength = sizeof(std::uint64_t);
  const wire::Bth& bth = packet.headers.bth;
  const wire::Reth& reth = packet.headers.reth;
  const QpConfig& config = shared_.config;
  ++config.counters->received_write_requests;
  const bool fits = reth.dma_length == kLength && packet.payload.size() == kLength;
  if (!has_free_resource() || !fits || reth.virtual_address % kLength != 0) return length_error();
  MemoryRange range;
  if (config.keys->check_remote(reth.rkey, pd_, config.qpn, reth.virtual_address, kLength,
                                AccessRight::remote_write, range) != KeyCheck::ok) {
    return access_error();
  }
  ResponderResource& resource = resources_.take();
  resource = {.kind = RequestKind::atomic_write, .first = bth.psn, .packets = 1};
  responses_.push({.next = bth.psn, .last = bth.psn});
  answered(resource);
  config.host->write(range, packet.payload, true, tag(bth.psn));
  return std::nullopt;
}

// There is no room for the response to a requester that exceeds its limit (IBTA 9.7.4.1.4).
bool Responder::has_free_resource() const { return responses_.originals() < resources_.limit(); }

// The MSN counts a READ when it has been accepted (IBTA 9.7.7.1, C9-148).
void Responder::answered(const ResponderResource& resource) {
  window_.advance(resource.first + resource.packets);
  count_message();
  owed_.covered_by_response();
}

}  // namespace urnic::transport
