// Requests that came from outside of this process, where anybody can write the peer's address
// (docs/security.md). IBTA 9.7.5.2.2 has a responder drop what is out of sequence. To hold it is our own
// choice, so what may be held is, too: a packet of which more is right than the PSN. A held packet that turns
// out to be wrong counts as lost, and the peer's own one decides.
#include "device_model/transport/responder/responder.hpp"
#include "device_model/transport/responder/same_request.hpp"

namespace urnic::transport {
namespace {

// The message that is under way behind a packet with this opcode.
MessageUnderWay under_way_behind(wire::Operation operation) {
  if (wire::traits(wire::Opcode(wire::Service::rc, operation)).last) return MessageUnderWay::none;
  return request_kind(operation) == RequestKind::send ? MessageUnderWay::send : MessageUnderWay::write;
}

}  // namespace

// The packet with the expected PSN is taken if it comes twice, the second time after a NAK has asked for it:
// a peer that uses another port now sends it again (IBTA 9.7.5.2.2), and a stranger has to guess the PSN
// twice. Duplicates are taken from any port: the answer changes nothing here.
bool Responder::takes_from_other_port(const InboundPacket& packet) {
  if (stopped_) return true;
  const wire::Psn psn = packet.headers.bth.psn;
  const Arrival arrival = window_.arrival(psn);
  if (arrival == Arrival::duplicate) return true;
  PeerPort& port = shared_.peer_port;
  if (arrival != Arrival::in_order) {
    if (port.known()) return false;  // no NAK: a flood must not make the peer send anything again
    ++shared_.config.counters->held_discards;
    dropped_behind_ = true;
    ask_for_expected();
    return false;
  }
  if (port.known() && !came_before(packet)) return false;
  port.learn(packet.source_port);
  unconfirmed_.reset();
  return true;
}

bool Responder::came_before(const InboundPacket& packet) {
  if (owed_.kind() == OwedAcknowledge::Kind::rnr_nak) return false;
  const std::uint64_t hash = hash_of(packet.payload);
  const bool asked = owed_.kind() != OwedAcknowledge::Kind::sequence_nak;
  const bool same = unconfirmed_ && unconfirmed_->payload_hash == hash &&
                    same_headers(unconfirmed_->headers, packet.headers);
  if (same) return asked;
  unconfirmed_ = {packet.headers, hash};
  awaiting_expected_ = true;
  owed_.sequence_nak();
  return false;
}

// Right by itself, and beside those that are held next to it. An invalidation cannot be tried: it is not
// held.
bool Responder::may_be_held(const InboundPacket& packet, RequestKind kind) const {
  const wire::Operation operation = packet.headers.bth.opcode.operation();
  const wire::OpcodeTraits& traits = wire::traits(packet.headers.bth.opcode);
  if (shared_.peer_port.varies() || (traits.headers & wire::has_ieth) != 0) return false;
  if (!is_enabled(shared_.parameters.access, kind)) return false;
  if (!payload_fits(operation, packet.payload.size(), shared_.parameters.path_mtu)) return false;
  return fits_neighbours(packet.headers.bth.psn, operation) &&
         names_memory(packet, kind, shared_.config.xrc_receives == nullptr);
}

bool Responder::fits_neighbours(wire::Psn psn, wire::Operation operation) const {
  if (const HeldPacket* const before = window_.held(psn - 1)) {
    const wire::Operation earlier = before->packet().headers.bth.opcode.operation();
    if (!follows(under_way_behind(earlier), operation)) return false;
  }
  const RequestKind kind = request_kind(operation);
  if (kind == RequestKind::read) return true;  // what is held next is not what comes next
  if (const HeldPacket* const after = window_.held(psn + 1)) {
    const wire::Operation later = after->packet().headers.bth.opcode.operation();
    if (!follows(under_way_behind(operation), later)) return false;
  }
  return true;
}

// The R_Key is valid now, for all that the request names. A peer that uses a key has been given it before.
// Which domain an XRC request is executed in is known in its turn only.
bool Responder::names_memory(const InboundPacket& packet, RequestKind kind, bool domain_is_known) const {
  const QpConfig& config = shared_.config;
  const std::uint16_t has = wire::traits(packet.headers.bth.opcode).headers;
  MemoryRange range;
  if ((has & wire::has_reth) != 0) {
    const wire::Reth& reth = packet.headers.reth;
    if (reth.dma_length > kMaxRdmaLength) return false;
    if (kind != RequestKind::read) {
      const bool last = wire::traits(packet.headers.bth.opcode).last;
      const std::size_t payload = packet.payload.size();
      if (last ? payload != reth.dma_length : payload >= reth.dma_length) return false;
    }
    if (reth.dma_length == 0 || !domain_is_known) return true;
    const AccessRight right =
        kind == RequestKind::read ? AccessRight::remote_read : AccessRight::remote_write;
    return config.keys->check_remote(reth.rkey, pd_, config.qpn, reth.virtual_address, reth.dma_length, right,
                                     range) == KeyCheck::ok;
  }
  if ((has & wire::has_atomic_eth) == 0) return true;
  const wire::AtomicEth& eth = packet.headers.atomic_eth;
  if (eth.virtual_address % sizeof(std::uint64_t) != 0) return false;
  return !domain_is_known ||
         config.keys->check_remote(eth.rkey, pd_, config.qpn, eth.virtual_address, sizeof(std::uint64_t),
                                   AccessRight::remote_atomic, range) == KeyCheck::ok;
}

// Another copy of a held packet: if it differs, one of them is a stranger's. Neither is kept, so the peer
// sends its own once more.
bool Responder::contradicts_held(const InboundPacket& packet) {
  const wire::Psn psn = packet.headers.bth.psn;
  const HeldPacket* const held = window_.held(psn);
  if (!held->is_from_outside() || same_request(held->packet(), packet)) return false;
  ++shared_.config.counters->held_contradictions;
  window_.drop(psn);
  dropped_behind_ = true;
  ask_for_expected();
  return true;
}

// In its turn, before it takes a receive.
bool Responder::fits_its_turn(const InboundPacket& packet, RequestKind kind) {
  const wire::OpcodeTraits& traits = wire::traits(packet.headers.bth.opcode);
  if (!follows(message_, packet.headers.bth.opcode.operation()) || !in_domain(packet)) return false;
  if (kind == RequestKind::write && !traits.first) {
    const std::size_t payload = packet.payload.size();
    return traits.last ? payload == write_remaining_ : payload < write_remaining_;
  }
  return names_memory(packet, kind, true);
}

void Responder::execute_from_outside(const InboundPacket& packet, RequestKind kind) {
  if (!fits_its_turn(packet, kind)) {
    ++shared_.config.counters->held_contradictions;
    forgot_held_ = true;
    return;
  }
  executes_held_from_outside_ = true;
  execute(packet, kind);
  executes_held_from_outside_ = false;
}

// The turn of a held packet came, and it would be refused. True if it counts as lost instead, with a receive
// that it has taken kept for the next message. What this side's own memory refuses is not the packet's fault.
bool Responder::forgets_held(const Refusal& refusal) {
  if (!executes_held_from_outside_ || refusal.nak == wire::NakCode::remote_operational_error) return false;
  ++shared_.config.counters->held_contradictions;
  const QpConfig& config = shared_.config;
  const bool may_be_kept = config.xrc_receives == nullptr && config.tagged_receives == nullptr;
  if (receives_.under_way() && message_ != MessageUnderWay::send && !may_be_kept) {
    receives_.complete_in_error(WorkStatus::remote_invalid_request_error);
  }
  forgot_held_ = true;
  return true;
}

}  // namespace urnic::transport
