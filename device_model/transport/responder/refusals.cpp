// Which NAK, which completion and which event an error of a request becomes (IBTA 9.9.3, 11.6.2, 11.6.3).
#include "device_model/transport/responder/responder.hpp"

namespace urnic::transport {

// The application learns of the error by the receive in use, or by an event if there is none.
Responder::Refusal Responder::reported(wire::NakCode nak, WorkStatus receive_status, AsyncEvent event) const {
  if (receives_.under_way()) return {nak, receive_status, std::nullopt};
  return {nak, WorkStatus::success, event};
}

Responder::Refusal Responder::length_error() const {
  return reported(wire::NakCode::invalid_request, WorkStatus::remote_invalid_request_error,
                  AsyncEvent::qp_access_error);
}

// A receive is in use here for an RDMA WRITE with immediate data, or where an XRC message changes its SRQ.
Responder::Refusal Responder::access_error() const {
  return reported(wire::NakCode::remote_access_error, WorkStatus::local_access_error,
                  AsyncEvent::qp_access_error);
}

// Opcodes that are reserved or out of sequence, and operations that the QP's attributes do not allow
// (IBTA 9.7.5.2.3; 9.9.3, class C).
Responder::Refusal Responder::opcode_violation() const {
  return reported(wire::NakCode::invalid_request, WorkStatus::remote_invalid_request_error,
                  AsyncEvent::qp_request_error);
}

// An SRQ number is checked as a key is: a peer does not learn whether the SRQ is missing or in another domain
// (IBTA A14.3).
Responder::Refusal Responder::domain_violation() const { return access_error(); }

}  // namespace urnic::transport
