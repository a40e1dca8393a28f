#include "device_model/cm/rejection.hpp"

#include "device_model/cm/messages.hpp"
#include "device_model/cm/timeouts.hpp"
#include "wire/mad/guid_bytes.hpp"

namespace urnic::cm {

using wire::mad::AcknowledgedMessage;
using wire::mad::Mra;
using wire::mad::Rej;
using wire::mad::RejectReason;

namespace {

// The CA GUID that a REJ with RejectReason::timeout has; 0: it has none.
wire::mad::Guid guid_of(const Rej& message) {
  const auto information = message.information.used();
  if (information.size() < wire::mad::kGuidBytes) return {};
  return wire::mad::to_guid(information.first<wire::mad::kGuidBytes>());
}

}  // namespace

Result Rejection::reject(CommunicationId id, const RejectParameters& parameters, Time now) {
  Connection* const connection = core_.connections.find(id);
  if (connection == nullptr) return Result::unknown_id;
  const bool replied = waits_for_ready(*connection);
  if (!replied && !waits_for_user(*connection) && !waits_for_reply(*connection) &&
      connection->state != State::reply_received) {
    return Result::wrong_state;
  }
  Rej message = make_rej(*connection, parameters.reason);
  if (!fill(message.private_data, parameters.private_data)) return Result::too_long;
  core_.send(*connection, message);
  if (replied) {
    core_.enter_time_wait(*connection, now);  // the peer may have sent packets to the QP
  } else {
    core_.close(*connection);
  }
  return Result::ok;
}

// A REJ of a REQ may come from a peer that has given the connection no id, but only before a REP has.
Connection* Rejection::rejected(const Rej& message) {
  if (message.reason == RejectReason::timeout) {
    return core_.connections.find(guid_of(message), message.local_id);
  }
  if (message.rejected == wire::mad::RejectedMessage::req) {
    return core_.connections.find(message.remote_id, CommunicationId{});
  }
  return core_.connections.find(message.remote_id, message.local_id);
}

void Rejection::receive(const Rej& message, const Arrival& arrival) {
  Connection* const connection = rejected(message);
  if (connection == nullptr) return;
  const CommunicationId id = connection->id;
  const bool owned = connection->owned;
  switch (connection->state) {
    case State::request_sent:
    case State::request_acknowledged:
    case State::request_received:
    case State::request_pending:
    case State::reply_sent:
    case State::reply_acknowledged:
      if (message.reason == RejectReason::stale_connection) {
        core_.enter_time_wait(*connection, arrival.now);
      } else {
        core_.close(*connection);
      }
      break;
    case State::reply_received:
    case State::established:
    case State::disconnect_sent:
      core_.enter_time_wait(*connection, arrival.now);
      break;
    default:
      return;
  }
  if (owned) core_.user.rejected({id, message});
}

void Rejection::receive(const Mra& message, const Arrival& arrival) {
  const bool of_request = message.acknowledged == AcknowledgedMessage::req;
  Connection* const connection =
      core_.connections.find(message.remote_id, of_request ? CommunicationId{} : message.local_id);
  if (connection == nullptr) return;
  if (of_request && connection->state == State::request_sent) {
    connection->state = State::request_acknowledged;
  } else if (message.acknowledged == AcknowledgedMessage::rep && connection->state == State::reply_sent) {
    connection->state = State::reply_acknowledged;
  } else {
    return core_.count_duplicate(arrival.device, Message::mra);
  }
  const Nanoseconds wait = waiting_time(message.service_timeout) + waiting_time(connection->ack_timeout);
  core_.repetitions.postpone(connection->id, wait, arrival.now);
}

}  // namespace urnic::cm
