// A connection at one of its ends: its state and what the handshake has said so far.
#pragma once

#include <cstdint>

#include "device_model/cm/backlog.hpp"
#include "device_model/cm/parameters.hpp"
#include "device_model/cm/path.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::cm {

using transport::Nanoseconds;
using transport::Time;
using wire::mad::CommunicationId;

// The states of IBTA 12.9.5 and 12.9.6.
enum class State : std::uint8_t {
  // Active side.
  request_sent,
  request_acknowledged,  // an MRA came for the REQ
  reply_received,        // the user has not answered the REP
  // Passive side.
  request_received,  // while the user is told
  request_pending,   // the user has not answered the REQ: a repeated one gets an MRA
  reply_sent,
  reply_acknowledged,  // an MRA came for the REP
  // Both.
  established,
  disconnect_sent,
  disconnect_received,  // the user has not answered the DREQ
  time_wait,
  closed,  // over: only the user's id is left
};

struct Connection {
  CommunicationId id;
  CommunicationId remote_id;  // 0: not known yet
  State state = State::closed;
  bool owned = true;  // false: the user has destroyed it, so events of it go nowhere
  DeviceIndex device;
  Path path;
  ServiceType service = ServiceType::reliable;
  wire::mad::TransactionId transaction;  // of the handshake, then of the peer's DREQ
  wire::mad::Guid remote_guid;
  wire::Qpn local_qpn;
  wire::Qpn remote_qpn;
  wire::Psn receive_psn;
  wire::Psn send_psn;
  std::uint8_t responder_resources = 0;  // of this side
  std::uint8_t initiator_depth = 0;
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry_count = 0;
  TimeoutCode ack_timeout;       // of the QP; the time wait, too
  Nanoseconds response_wait{};   // for the answer to a REQ, REP or DREQ, each time
  std::uint8_t max_retries = 0;  // of these messages
  BacklogPlace backlog_place;    // while the REQ has no answer
};

inline bool waits_for_reply(const Connection& connection) {
  return connection.state == State::request_sent || connection.state == State::request_acknowledged;
}

inline bool waits_for_ready(const Connection& connection) {
  return connection.state == State::reply_sent || connection.state == State::reply_acknowledged;
}

inline bool waits_for_user(const Connection& connection) {
  return connection.state == State::request_received || connection.state == State::request_pending;
}

}  // namespace urnic::cm
