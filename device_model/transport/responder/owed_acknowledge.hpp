// The one ACK or NAK that a responder owes behind all read and atomic responses. ACKs are coalesced: an ACK
// is for its PSN and everything before it (IBTA 9.7.5.1.2), and so is a NAK for everything before its PSN.
#pragma once

#include <cstdint>

#include "wire/aeth.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

class OwedAcknowledge {
 public:
  enum class Kind : std::uint8_t { none, ack, sequence_nak, rnr_nak, fatal_nak };

  Kind kind() const { return kind_; }
  bool owed() const { return kind_ != Kind::none; }
  // Valid for ack and fatal_nak; the other two name the expected PSN when they are sent.
  wire::Psn psn() const { return psn_; }
  wire::NakCode nak() const { return nak_; }

  // Everything up to `psn` is done and the requester wants to know. A NAK that is owed says so already.
  void ack(wire::Psn psn) {
    if (kind_ == Kind::ack && before(psn, psn_)) return;
    if (kind_ != Kind::none && kind_ != Kind::ack) return;
    kind_ = Kind::ack;
    psn_ = psn;
  }
  // As `ack`, but only if an ACK is owed anyway.
  void coalesce(wire::Psn psn) {
    if (kind_ == Kind::ack) ack(psn);
  }
  // The responses to a READ or ATOMIC acknowledge all that came before it (IBTA 9.7.5.1.3).
  void covered_by_response() {
    if (kind_ == Kind::ack) kind_ = Kind::none;
  }
  void sequence_nak() { kind_ = Kind::sequence_nak; }
  // The packet that a sequence NAK was to ask for has arrived.
  void withdraw_sequence_nak() {
    if (kind_ == Kind::sequence_nak) kind_ = Kind::none;
  }
  void rnr_nak() { kind_ = Kind::rnr_nak; }
  void fatal_nak(wire::Psn psn, wire::NakCode nak) {
    kind_ = Kind::fatal_nak;
    psn_ = psn;
    nak_ = nak;
  }
  void clear() { kind_ = Kind::none; }

 private:
  Kind kind_ = Kind::none;
  wire::Psn psn_;
  wire::NakCode nak_ = wire::NakCode::psn_sequence_error;
};

}  // namespace urnic::transport
