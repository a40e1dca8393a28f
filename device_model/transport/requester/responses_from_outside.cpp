// Responses from outside of this process with another UDP source port than the peer's (peer_port.hpp).
#include "device_model/transport/requester/requester.hpp"
#include "wire/aeth.hpp"

namespace urnic::transport {
namespace {

// Copies of an answer, each behind another timeout, that show a port to be the peer's.
constexpr std::uint32_t kCopies = 3;

// What a responder says when it gets the oldest request again, `oldest`: what it expects next, or the
// response.
bool answers_repeat(const wire::TransportHeaders& headers, wire::Psn oldest) {
  if (headers.bth.opcode.operation() != wire::Operation::acknowledge) return headers.bth.psn == oldest;
  return wire::kind(headers.aeth.syndrome) == wire::AethKind::ack ||
         headers.aeth.syndrome == wire::nak_syndrome(wire::NakCode::psn_sequence_error);
}

}  // namespace

// A peer whose port has changed is not heard at first, so the oldest request is sent again after each
// timeout, and answered in the same way (IBTA 9.7.5.1). Equal answers behind several timeouts, while none
// comes from the port that is known: this is the peer's now. A NAK that ends the connection is not repeated;
// without it the requests end by their retries.
bool Requester::takes_from_other_port(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::Psn oldest = psn_of(unacknowledged_);
  const std::uint32_t offset = (bth.psn.value() - oldest.value()) & wire::Psn::kMask;
  PeerPort& port = shared_.peer_port;
  if (!running() || offset >= in_flight()) return !port.known();
  if (!port.known()) {
    port.learn(packet.source_port);
    return true;
  }
  if (!answers_repeat(packet.headers, oldest)) return false;
  const bool same = unconfirmed_ && unconfirmed_->at == unacknowledged_ &&
                    unconfirmed_->port == packet.source_port && unconfirmed_->bth.psn == bth.psn &&
                    unconfirmed_->bth.opcode == bth.opcode && unconfirmed_->aeth == packet.headers.aeth &&
                    unconfirmed_->length == packet.payload.size();
  const std::uint32_t retries = retries_.transport_used(shared_.parameters);
  if (!same) {
    unconfirmed_ = {
        packet.source_port, bth, packet.headers.aeth, packet.payload.size(), unacknowledged_, 1, retries};
    return false;
  }
  if (retries <= unconfirmed_->retries) return false;
  unconfirmed_->retries = retries;
  if (++unconfirmed_->copies < kCopies) return false;
  port.learn(packet.source_port);
  unconfirmed_.reset();
  return true;
}

}  // namespace urnic::transport
