#include "device_model/cm/attributes.hpp"

#include "device_model/cm/connection.hpp"

namespace urnic::cm {
namespace {

bool knows_peer(State state) {
  switch (state) {
    case State::reply_received:
    case State::request_received:
    case State::request_pending:
    case State::reply_sent:
    case State::reply_acknowledged:
    case State::established:
      return true;
    default:
      return false;
  }
}

RtrAttributes rtr_attributes(const Connection& connection) {
  RtrAttributes rtr;
  rtr.path = connection.path;
  rtr.destination = connection.remote_qpn;
  rtr.receive_psn = connection.receive_psn;
  rtr.responder_resources = connection.responder_resources;
  return rtr;
}

RtsAttributes rts_attributes(const Connection& connection) {
  RtsAttributes rts;
  rts.send_psn = connection.send_psn;
  rts.timeout = connection.ack_timeout;
  rts.initiator_depth = connection.initiator_depth;
  rts.retry_count = connection.retry_count;
  rts.rnr_retry = connection.rnr_retry_count;
  return rts;
}

}  // namespace

// The passive side may take its QP to RTS before it sends the REP.
Attributes attributes_of(const Connection& connection) {
  Attributes attributes;
  attributes.service = connection.service;
  const bool known = knows_peer(connection.state);
  if (known || waits_for_reply(connection)) {
    attributes.init = InitAttributes{true, connection.responder_resources > 0};
  }
  if (known) {
    attributes.rtr = rtr_attributes(connection);
    attributes.rts = rts_attributes(connection);
  }
  return attributes;
}

}  // namespace urnic::cm
