#include "device_model/cm/disconnection.hpp"

#include "device_model/cm/messages.hpp"

namespace urnic::cm {

using wire::mad::Drep;
using wire::mad::Dreq;
using wire::mad::RejectReason;

Result Disconnection::disconnect(CommunicationId id, Time now) {
  Connection* const connection = core_.connections.find(id);
  if (connection == nullptr) return Result::unknown_id;
  if (connection->state == State::established) {
    begin_if_established(*connection, now);
  } else if (connection->state == State::disconnect_received) {
    answer(*connection, now);
  } else {
    return Result::wrong_state;
  }
  return Result::ok;
}

void Disconnection::begin_if_established(Connection& connection, Time now) {
  if (connection.state != State::established) return;
  connection.state = State::disconnect_sent;
  connection.transaction = transaction_of(connection.id);
  core_.send_until_answered(connection, make_dreq(connection), now);
}

// Answers the peer's DREQ, whose transaction the connection has.
void Disconnection::answer(Connection& connection, Time now) {
  core_.send(connection, make_drep(connection));
  core_.enter_time_wait(connection, now);
}

void Disconnection::receive(const Dreq& message, const Arrival& arrival) {
  Connection* const connection = core_.connections.find(message.remote_id, message.local_id);
  if (connection == nullptr || connection->state == State::closed) {
    // The connection has ended here, and the DREP is lost (IBTA 12.9.8.3).
    core_.count_duplicate(arrival.device, Message::dreq);
    Drep drep;
    drep.local_id = message.remote_id;
    drep.remote_id = message.local_id;
    return core_.answer_again(arrival, drep);
  }
  if (connection->local_qpn != message.remote_qpn) return;
  switch (connection->state) {
    case State::reply_sent:
    case State::reply_acknowledged:
    case State::established:
      core_.repetitions.end(connection->id);
      connection->state = State::disconnect_received;
      connection->transaction = arrival.transaction;
      return core_.user.disconnect_requested(connection->id);
    case State::disconnect_sent:  // both at once: the user has asked for the end already
      connection->transaction = arrival.transaction;
      core_.send(*connection, make_drep(*connection));
      return disconnected(*connection, Disconnected::answered, arrival.now);
    case State::time_wait:
      core_.count_duplicate(arrival.device, Message::dreq);
      return core_.answer_again(arrival, make_drep(*connection));
    case State::disconnect_received:
      return core_.count_duplicate(arrival.device, Message::dreq);
    default:  // the RTU has not left, or there is no REP: the peer asks again
      return;
  }
}

void Disconnection::receive(const Drep& message, const Arrival& arrival) {
  Connection* const connection = core_.connections.find(message.remote_id, message.local_id);
  if (connection == nullptr || connection->state != State::disconnect_sent) return;
  disconnected(*connection, Disconnected::answered, arrival.now);
}

void Disconnection::request_spent(Connection& connection, Time now) {
  disconnected(connection, Disconnected::timed_out, now);
}

void Disconnection::disconnected(Connection& connection, Disconnected how, Time now) {
  core_.enter_time_wait(connection, now);
  if (connection.owned) core_.user.disconnected(connection.id, how);
}

void Disconnection::destroy(Connection& connection, Time now) {
  connection.owned = false;
  switch (connection.state) {
    case State::request_sent:
    case State::request_acknowledged:
      core_.send(connection, make_timeout_rej(connection, core_.host.describe(connection.device).ca_guid));
      return core_.close(connection);
    case State::request_received:
    case State::request_pending:
    case State::reply_received:
      core_.send(connection, make_rej(connection, RejectReason::consumer));
      return core_.close(connection);
    case State::reply_sent:
    case State::reply_acknowledged:
      core_.send(connection, make_rej(connection, RejectReason::consumer));
      return core_.enter_time_wait(connection, now);
    case State::established:
      begin_if_established(connection, now);
      return core_.connections.release_qpn(connection);
    case State::disconnect_sent:  // goes on until it is answered
      return core_.connections.release_qpn(connection);
    case State::disconnect_received:
      return answer(connection, now);
    case State::time_wait:  // goes on
      return;
    case State::closed:
      return core_.close(connection);
  }
}

}  // namespace urnic::cm
