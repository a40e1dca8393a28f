// The messages that give a connection another alternate path (IBTA 12.8).
#pragma once

#include "wire/identifiers.hpp"
#include "wire/mad/cm_codes.hpp"
#include "wire/mad/cm_parts.hpp"

namespace urnic::wire::mad {

// Load alternate path (IBTA 12.8.1).
struct Lap {
  static constexpr CmAttribute kAttribute = CmAttribute::lap;
  CommunicationId local_id;
  CommunicationId remote_id;
  Qpn remote_qpn;                          // the QP of the message's receiver
  TimeoutCode remote_cm_response_timeout;  // within which the receiver shall answer
  PathParameters alternate;
  PrivateData<168> private_data{};
  friend bool operator==(const Lap&, const Lap&) = default;
};

// Alternate path response (IBTA 12.8.2).
struct Apr {
  static constexpr CmAttribute kAttribute = CmAttribute::apr;
  CommunicationId local_id;
  CommunicationId remote_id;
  AprStatus status{};
  AdditionalInformation information;
  PrivateData<148> private_data{};
  friend bool operator==(const Apr&, const Apr&) = default;
};

}  // namespace urnic::wire::mad
