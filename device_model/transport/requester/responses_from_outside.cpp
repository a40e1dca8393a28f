// Responses from outside of this process with another UDP source port than the peer's (peer_port.hpp).
#include "device_model/transport/requester/requester.hpp"
#include "wire/aeth.hpp"

namespace urnic::transport {
namespace {

bool is_fatal_nak(const wire::TransportHeaders& headers) {
  return headers.bth.opcode.operation() == wire::Operation::acknowledge &&
         wire::kind(headers.aeth.syndrome) == wire::AethKind::nak &&
         headers.aeth.syndrome != wire::nak_syndrome(wire::NakCode::psn_sequence_error);
}

}  // namespace

// A peer whose port has changed answers the same way once more, when a timeout has sent the oldest request
// again (IBTA 9.7.5.1). Two equal answers while none comes from the port that is known: this is the peer's
// now. A NAK that ends the connection is not repeated; without it the requests end by their retries.
bool Requester::takes_from_other_port(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const std::uint32_t offset = (bth.psn.value() - psn_of(unacknowledged_).value()) & wire::Psn::kMask;
  PeerPort& port = shared_.peer_port;
  if (!running() || offset >= in_flight()) return !port.known();
  if (!port.known()) {
    port.learn(packet.source_port);
    return true;
  }
  if (is_fatal_nak(packet.headers)) return false;
  const bool again = unconfirmed_ && unconfirmed_->at == unacknowledged_ &&
                     unconfirmed_->port == packet.source_port && unconfirmed_->bth.psn == bth.psn &&
                     unconfirmed_->bth.opcode == bth.opcode && unconfirmed_->aeth == packet.headers.aeth &&
                     unconfirmed_->length == packet.payload.size();
  if (!again) {
    unconfirmed_ = {packet.source_port, bth, packet.headers.aeth, packet.payload.size(), unacknowledged_};
    return false;
  }
  port.learn(packet.source_port);
  unconfirmed_.reset();
  return true;
}

}  // namespace urnic::transport
