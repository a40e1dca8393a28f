// The messages that make and end a connection (IBTA 12.6). `local` and `remote` are in the view of the
// message's sender.
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"
#include "wire/mad/cm_codes.hpp"
#include "wire/mad/cm_parts.hpp"
#include "wire/mad/service_id.hpp"
#include "wire/psn.hpp"

namespace urnic::wire::mad {

// Request for communication: the active side's first message (IBTA 12.6.5).
struct Req {
  static constexpr CmAttribute kAttribute = CmAttribute::req;
  CommunicationId local_id;
  Ece ece;
  ServiceId service;
  Guid local_ca_guid;
  Qkey local_qkey;  // RD only
  Qpn local_qpn;
  std::uint8_t responder_resources = 0;    // RDMA READs and atomics that the sender answers at once
  std::uint32_t local_eecn = 0;            // 24 bits, RD only
  std::uint8_t initiator_depth = 0;        // RDMA READs and atomics that the sender wants to have outstanding
  std::uint32_t remote_eecn = 0;           // 24 bits, RD only
  TimeoutCode remote_cm_response_timeout;  // within which the receiver shall answer
  TransportService transport_service{};
  bool end_to_end_flow_control = false;
  Psn starting_psn;                       // the PSN with which the receiver of this message begins to send
  TimeoutCode local_cm_response_timeout;  // within which the sender answers a REP
  std::uint8_t retry_count = 0;           // 3 bits
  Pkey pkey;
  MtuCode path_mtu{};
  bool rdc_exists = false;           // RD only
  std::uint8_t rnr_retry_count = 0;  // 3 bits; 7: without end
  std::uint8_t max_cm_retries = 0;   // 4 bits
  bool srq = false;                  // the sender's QP has an SRQ
  ExtendedTransport extended_transport{};
  PathParameters primary;
  PathParameters alternate;    // all zero: none
  bool sap_supported = false;  // suggested alternate path
  PrivateData<92> private_data{};
  friend bool operator==(const Req&, const Req&) = default;
};

// Message receipt acknowledgement: the answer will take longer than the other side waits (IBTA 12.6.6).
struct Mra {
  static constexpr CmAttribute kAttribute = CmAttribute::mra;
  CommunicationId local_id;
  CommunicationId remote_id;
  AcknowledgedMessage acknowledged{};
  TimeoutCode service_timeout;  // within which the answer will be sent
  PrivateData<222> private_data{};
  friend bool operator==(const Mra&, const Mra&) = default;
};

// Reject (IBTA 12.6.7).
struct Rej {
  static constexpr CmAttribute kAttribute = CmAttribute::rej;
  CommunicationId local_id;   // 0: the sender has given the connection no number
  CommunicationId remote_id;  // 0: the sender knows none, as with RejectReason::timeout of a REQ
  RejectedMessage rejected{};
  RejectReason reason{};
  AdditionalInformation information;  // its length has 7 bits
  PrivateData<148> private_data{};
  friend bool operator==(const Rej&, const Rej&) = default;
};

// Reply: the passive side accepts (IBTA 12.6.8).
struct Rep {
  static constexpr CmAttribute kAttribute = CmAttribute::rep;
  CommunicationId local_id;
  CommunicationId remote_id;
  Qkey local_qkey;  // RD only
  Qpn local_qpn;
  Ece ece;
  std::uint32_t local_eecn = 0;          // 24 bits, RD only
  Psn starting_psn;                      // as in Req
  std::uint8_t responder_resources = 0;  // as in Req, of this message's sender
  std::uint8_t initiator_depth = 0;
  TimeoutCode target_ack_delay;
  std::uint8_t failover_accepted = 0;  // 2 bits; 0: the alternate path is accepted
  bool end_to_end_flow_control = false;
  std::uint8_t rnr_retry_count = 0;  // 3 bits; 7: without end
  bool srq = false;
  Guid local_ca_guid;
  PrivateData<196> private_data{};
  friend bool operator==(const Rep&, const Rep&) = default;
};

// Ready to use: the active side has the REP (IBTA 12.6.9).
struct Rtu {
  static constexpr CmAttribute kAttribute = CmAttribute::rtu;
  CommunicationId local_id;
  CommunicationId remote_id;
  PrivateData<224> private_data{};
  friend bool operator==(const Rtu&, const Rtu&) = default;
};

// Request for disconnection (IBTA 12.6.10).
struct Dreq {
  static constexpr CmAttribute kAttribute = CmAttribute::dreq;
  CommunicationId local_id;
  CommunicationId remote_id;
  Qpn remote_qpn;  // the QP of the message's receiver
  PrivateData<220> private_data{};
  friend bool operator==(const Dreq&, const Dreq&) = default;
};

// Reply to a request for disconnection (IBTA 12.6.11).
struct Drep {
  static constexpr CmAttribute kAttribute = CmAttribute::drep;
  CommunicationId local_id;
  CommunicationId remote_id;
  PrivateData<224> private_data{};
  friend bool operator==(const Drep&, const Drep&) = default;
};

}  // namespace urnic::wire::mad
