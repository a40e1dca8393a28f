#include "device_model/transport/responder/responder.hpp"

namespace urnic::transport {

Responder::Responder(SharedState& shared)
    : shared_(shared),
      pd_(shared.config.pd),
      window_(shared.config.reorder_pool, shared.config.window_packets),
      responses_(shared.config.responder_resources),
      receives_(shared),
      resources_(shared.config.responder_resources) {}

void Responder::reset() {
  receives_.reset();
  resources_.reset(0);
  responses_.clear();
  owed_.clear();
  reports_.clear();
  window_.drop_held();
  peer_reads_ = false;
  msn_ = {};
  message_ = MessageUnderWay::none;
  awaiting_expected_ = false;
  dropped_behind_ = false;
  stopped_ = false;
  unconfirmed_.reset();
}

void Responder::start() {
  window_.start(shared_.parameters.receive_psn);
  resources_.reset(shared_.parameters.max_destination_reads);
}

void Responder::parameters_changed() { resources_.set_limit(shared_.parameters.max_destination_reads); }

void Responder::receive(const InboundPacket& packet) {
  if (stopped_) return;
  const wire::Bth& bth = packet.headers.bth;
  const RequestKind kind = request_kind(bth.opcode.operation());
  if (packet.selective_acks < SelectiveAcks::unknown) {  // `outside` says nothing either: peer_offers does
    peer_reads_ = packet.selective_acks == SelectiveAcks::yes;
  }
  switch (window_.arrival(bth.psn)) {
    case Arrival::in_order:
      // An RNR NAK that is owed says that this packet has not been executed.
      if (owed_.kind() != OwedAcknowledge::Kind::rnr_nak) in_sequence(packet, kind);
      return;
    case Arrival::duplicate:
      ++shared_.config.counters->duplicate_request;
      repeat(packet, kind);
      return;
    case Arrival::held_already:
      if (packet.is_from_outside() && contradicts_held(packet)) return;
      ++shared_.config.counters->held_duplicates;
      held_again(bth.psn);
      return;
    case Arrival::out_of_order:
    case Arrival::beyond:
      out_of_sequence(packet, kind);
      return;
  }
}

void Responder::execute(const InboundPacket& packet, RequestKind kind) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::Operation operation = bth.opcode.operation();
  if (owed_.kind() != OwedAcknowledge::Kind::sequence_nak) awaiting_expected_ = false;
  if (!follows(message_, operation)) return refuse(opcode_violation(), bth.psn);
  if (!is_enabled(shared_.parameters.access, kind)) return refuse(opcode_violation(), bth.psn);
  if (!in_domain(packet)) return refuse(domain_violation(), bth.psn);
  if (!payload_fits(operation, packet.payload.size(), shared_.parameters.path_mtu)) {
    return refuse(length_error(), bth.psn);
  }
  std::optional<Refusal> verdict;
  switch (kind) {
    case RequestKind::send:
      verdict = execute_send(packet);
      break;
    case RequestKind::write:
      verdict = execute_write(packet);
      break;
    case RequestKind::read:
      verdict = execute_read(packet);
      break;
    case RequestKind::atomic:
      verdict = execute_atomic(packet);
      break;
    case RequestKind::atomic_write:
      verdict = execute_atomic_write(packet);
      break;
    case RequestKind::unsupported:
      break;  // refused above
  }
  if (verdict) refuse(*verdict, bth.psn);
}

// An XRC target has no protection domain of its own: every request names an SRQ, which must be of the
// target's XRC domain, and is executed in the protection domain of that (IBTA A14.3).
bool Responder::select_domain(const InboundPacket& packet) {
  const std::optional<PdId> pd = shared_.config.xrc_receives->select(packet.headers.xrceth.srq_number);
  if (pd) pd_ = *pd;
  return pd.has_value();
}

// The packet of a SEND or WRITE has had its effect.
void Responder::executed(const wire::Bth& bth, const wire::OpcodeTraits& traits, MessageUnderWay message) {
  window_.advance(bth.psn + 1);
  message_ = traits.last ? MessageUnderWay::none : message;
  if (traits.last) count_message();
  if (bth.ack_request) {
    owed_.ack(bth.psn);
  } else {
    owed_.coalesce(bth.psn);
  }
}

// IBTA 9.7.5.2.8: the expected PSN stays, and the requester tries again after the RNR timer. Later packets
// are dropped, or held if the QP holds packets.
void Responder::receiver_not_ready() {
  ++shared_.config.counters->rnr_nak_sent;
  awaiting_expected_ = true;
  owed_.rnr_nak();
}

// Class A and C errors (IBTA 9.9.3): a NAK that cannot be retried, and the QP goes to the error state. A
// receive that is in use completes in error; otherwise the application gets an event.
void Responder::refuse(const Refusal& refusal, wire::Psn psn) {
  if (forgets_held(refusal)) return;
  Counters& counters = *shared_.config.counters;
  switch (refusal.nak) {
    case wire::NakCode::remote_access_error:
      ++counters.responder_access_errors;
      break;
    case wire::NakCode::remote_operational_error:
      ++counters.responder_operation_errors;
      break;
    default:
      ++counters.responder_invalid_requests;
  }
  if (refusal.receive_status == WorkStatus::local_length_error) ++counters.responder_local_length_errors;
  if (refusal.receive_status != WorkStatus::success) receives_.complete_in_error(refusal.receive_status);
  if (refusal.event) shared_.config.host->event(*refusal.event);
  owed_.fatal_nak(psn, refusal.nak);
  stop();
}

void Responder::stop() {
  stopped_ = true;
  reports_.clear();
  window_.drop_held();
  // `pump` sends the responses to earlier requests first; a QP in error sends none.
  if (responses_.empty() || shared_.state == QpState::error) send_owed();
}

// The host could not carry an access out and has discarded everything behind it. The key allowed the access,
// so the fault is this side's (IBTA 9.7.5.2.5).
void Responder::memory_failed(const AccessTag& tag) {
  if (shared_.state == QpState::reset || shared_.state == QpState::init) return;
  receives_.complete_discarded(tag.wqe_index,
                               tag.places_send ? WorkStatus::local_protection_error : WorkStatus::flushed);
  // A receive of an XRC target tells one of the programs that have the target open; an event tells all.
  const bool tells_all = !tag.places_send || shared_.config.xrc_receives != nullptr;
  if (tells_all) shared_.config.host->event(AsyncEvent::qp_access_error);
  ++shared_.config.counters->responder_operation_errors;
  responses_.drop_from(tag.psn);
  owed_.fatal_nak(tag.psn, wire::NakCode::remote_operational_error);
  stop();
}

ResponderSnapshot Responder::snapshot() const {
  return {.expected_psn = window_.expected(),
          .msn = msn_,
          .has_hole = window_.has_hole(),
          .owes_responses = wants_pump()};
}

void Responder::flush() {
  responses_.clear();
  owed_.clear();
  reports_.clear();
  window_.drop_held();
  receives_.flush();
}

}  // namespace urnic::transport
