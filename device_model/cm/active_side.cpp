#include "device_model/cm/active_side.hpp"

#include "device_model/cm/messages.hpp"
#include "device_model/cm/timeouts.hpp"

namespace urnic::cm {
namespace {

// The QP of the message's sender. That of an XRC target is where other services have the EE context (IBTA
// A14.5).
wire::Qpn qpn_of(const wire::mad::Rep& message, ServiceType service) {
  return service == ServiceType::xrc_initiator ? wire::Qpn{message.local_eecn} : message.local_qpn;
}

// How long a REQ waits for its answer: the way there and back, and the peer's time (IBTA 12.9.8.5).
Nanoseconds request_wait(const ConnectParameters& parameters) {
  return 2 * waiting_time(parameters.path.packet_lifetime) + waiting_time(parameters.remote_response_timeout);
}

}  // namespace

Result ActiveSide::connect(const ConnectParameters& parameters, Time now, CommunicationId& id) {
  if (parameters.service == ServiceType::xrc_target) return Result::wrong_state;
  decltype(wire::mad::Req::private_data) private_data{};
  if (!fill(private_data, parameters.private_data)) return Result::too_long;
  if (!core_.has_room()) return Result::no_room;

  Connection& connection = core_.add_connection();
  id = connection.id;
  connection.state = State::request_sent;
  connection.device = parameters.device;
  connection.path = parameters.path;
  connection.service = parameters.service;
  connection.transaction = transaction_of(connection.id);
  connection.local_qpn = parameters.qpn;
  connection.responder_resources = parameters.responder_resources;
  connection.initiator_depth = parameters.initiator_depth;
  connection.retry_count = three_bits(parameters.retry_count);
  connection.ack_timeout = {static_cast<std::uint8_t>(parameters.path.packet_lifetime.value + 1)};
  connection.response_wait = request_wait(parameters);
  connection.max_retries = parameters.max_retries;

  wire::mad::Req message = make_req(connection, parameters, core_.host.describe(parameters.device));
  message.private_data = private_data;
  core_.send_until_answered(connection, message, now);
  return Result::ok;
}

Result ActiveSide::ready(CommunicationId id) {
  Connection* const connection = core_.connections.find(id);
  if (connection == nullptr) return Result::unknown_id;
  if (connection->state != State::reply_received) return Result::wrong_state;
  connection->state = State::established;
  core_.send(*connection, make_rtu(*connection));
  return Result::ok;
}

void ActiveSide::receive(const wire::mad::Rep& message, const Arrival& arrival) {
  Connection* const connection = core_.connections.find(message.remote_id);
  if (connection == nullptr || !waits_for_reply(*connection)) return repeated(message, arrival);
  const wire::Qpn qpn = qpn_of(message, connection->service);
  if (core_.connections.find(message.local_ca_guid, message.local_id) != nullptr) return;
  if (Connection* const stale = core_.connections.find(message.local_ca_guid, qpn)) {
    // The peer uses one QP for two connections: at least one of them is over there (IBTA 12.9.8.3.1).
    wire::mad::Rej reject;
    reject.local_id = message.remote_id;
    reject.remote_id = message.local_id;
    reject.rejected = wire::mad::RejectedMessage::rep;
    reject.reason = wire::mad::RejectReason::stale_connection;
    core_.answer(arrival, reject);
    return disconnection_.begin_if_established(*stale, arrival.now);
  }
  accept(*connection, message);
  core_.user.replied({connection->id, message});
}

void ActiveSide::accept(Connection& connection, const wire::mad::Rep& message) {
  core_.repetitions.end(connection.id);
  connection.state = State::reply_received;
  connection.remote_id = message.local_id;
  connection.remote_guid = message.local_ca_guid;
  connection.remote_qpn = qpn_of(message, connection.service);
  connection.send_psn = message.starting_psn;
  // What this side answers is what the peer will ask, and the other way round.
  connection.responder_resources = message.initiator_depth;
  connection.initiator_depth = message.responder_resources;
  connection.rnr_retry_count = message.rnr_retry_count;
  connection.ack_timeout = ack_timeout(message.target_ack_delay, connection.path.packet_lifetime);
  core_.connections.know_peer(connection);
}

// The peer has not got the RTU, or waits for the user here, of which an MRA tells it (IBTA 12.9.8.6).
void ActiveSide::repeated(const wire::mad::Rep& message, const Arrival& arrival) {
  const Connection* const connection = core_.connections.find(message.remote_id, message.local_id);
  if (connection == nullptr) return;
  core_.count_duplicate(arrival.device, Message::rep);
  if (connection->state == State::established) {
    core_.answer_again(arrival, make_rtu(*connection));
  } else if (connection->state == State::reply_received) {
    core_.answer_again(arrival, make_mra(*connection, wire::mad::AcknowledgedMessage::rep));
  }
}

void ActiveSide::request_spent(Connection& connection) {
  core_.send(connection, make_timeout_rej(connection, core_.host.describe(connection.device).ca_guid));
  const CommunicationId id = connection.id;
  core_.close(connection);
  core_.user.unanswered(id, Unanswered::request);
}

}  // namespace urnic::cm
