#include "device_model/cm/passive_side.hpp"

#include <utility>

#include "device_model/cm/messages.hpp"
#include "device_model/cm/timeouts.hpp"

namespace urnic::cm {
namespace {

using wire::mad::MtuCode;
using wire::mad::Rej;
using wire::mad::RejectReason;
using wire::mad::Req;
using wire::mad::TransportService;

// Empty: reliable datagram, or an extended service that nobody knows.
std::optional<ServiceType> service_of(const Req& message) {
  switch (message.transport_service) {
    case TransportService::rc:
      return ServiceType::reliable;
    case TransportService::uc:
      return ServiceType::unreliable;
    case TransportService::extended:
      if (message.extended_transport == wire::mad::ExtendedTransport::xrc) return ServiceType::xrc_target;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// The way back, as the REQ gives it. The hop limit is that of the packet, because routers have reduced it; on
// InfiniBand a packet within the subnet has none.
Path path_back(const Req& message, const GsiAddress& from) {
  Path path;
  path.own = message.primary.remote_gid;
  path.peer = message.primary.local_gid;
  path.flow_label = message.primary.flow_label;
  path.traffic_class = message.primary.traffic_class;
  const bool has_lids = from.peer_lid != wire::Lid{};
  path.hop_limit = has_lids ? message.primary.hop_limit : from.hop_limit;
  if (has_lids) {
    path.own_lid = message.primary.remote_lid;
    path.peer_lid = message.primary.local_lid;
  }
  path.service_level = message.primary.service_level;
  path.rate = message.primary.packet_rate;
  path.mtu = message.path_mtu;
  const std::uint8_t timeout = message.primary.local_ack_timeout.value;
  path.packet_lifetime = {static_cast<std::uint8_t>(timeout == 0 ? 0 : timeout - 1)};
  path.pkey = message.pkey;
  return path;
}

// A REJ of a request that has no connection here.
Rej reject(const Req& message, RejectReason reason) {
  Rej rej;
  rej.remote_id = message.local_id;
  rej.rejected = wire::mad::RejectedMessage::req;
  rej.reason = reason;
  return rej;
}

// The largest MTU possible (IBTA 12.6.7.2, reason 26).
Rej reject_mtu(const Req& message, MtuCode largest) {
  Rej rej = reject(message, RejectReason::invalid_mtu);
  rej.information.length = 1;
  rej.information.bytes[0] = static_cast<std::byte>(largest);
  return rej;
}

// A GID that the sender may use instead (reason 12).
Rej reject_gid(const Req& message, const wire::Gid& better) {
  Rej rej = reject(message, RejectReason::invalid_gid);
  rej.information.length = sizeof better.bytes;
  std::ranges::transform(better.bytes, rej.information.bytes.begin(),
                         [](std::uint8_t byte) { return std::byte{byte}; });
  return rej;
}

}  // namespace

void PassiveSide::receive(const Req& message, const Arrival& arrival) {
  if (known(message, arrival) || unacceptable(message, arrival)) return;
  std::optional<BacklogPlace> place = core_.listeners.take_place(message.service);
  if (!place || !core_.has_room()) {
    ++core_.sender.counters(arrival.device).dropped_requests;
    return;
  }
  Connection& connection = add(message, arrival);
  connection.backlog_place = std::move(*place);
  tell_user(connection, message, arrival);
}

bool PassiveSide::known(const Req& message, const Arrival& arrival) {
  // 0 is no communication id: nothing could be answered.
  if (message.local_id == CommunicationId{}) {
    ++core_.sender.counters(arrival.device).malformed;
    return true;
  }
  if (const Connection* const same = core_.connections.find(message.local_ca_guid, message.local_id)) {
    repeated(message, *same, arrival);
    return true;
  }
  if (Connection* const stale = core_.connections.find(message.local_ca_guid, message.local_qpn)) {
    // The peer has forgotten that connection, or else it would not use the QP again (IBTA 12.9.8.3.1).
    core_.answer(arrival, reject(message, RejectReason::stale_connection));
    disconnection_.begin_if_established(*stale, arrival.now);
    return true;
  }
  return false;
}

void PassiveSide::repeated(const Req& message, const Connection& connection, const Arrival& arrival) {
  core_.count_duplicate(arrival.device, Message::req);
  if (connection.state == State::request_pending) {
    core_.answer_again(arrival, make_mra(connection, wire::mad::AcknowledgedMessage::req));
  } else if (connection.state == State::time_wait) {
    // Without a local id: the peer's connection, which may wait for a DREP, is not meant.
    core_.answer_again(arrival, reject(message, RejectReason::stale_connection));
  }
}

bool PassiveSide::unacceptable(const Req& message, const Arrival& arrival) {
  const DeviceDescription device = core_.host.describe(arrival.device);
  const MtuCode mtu = message.path_mtu;
  if (!core_.listeners.has(message.service)) {
    core_.answer(arrival, reject(message, RejectReason::invalid_service_id));
  } else if (!service_of(message)) {
    core_.answer(arrival, reject(message, RejectReason::invalid_transport_service));
  } else if (mtu < MtuCode::bytes_256 || mtu > device.mtu) {
    core_.answer(arrival, reject_mtu(message, device.mtu));
  } else if (!core_.host.has_gid(arrival.device, message.primary.remote_gid)) {
    core_.answer(arrival, reject_gid(message, arrival.from.own));
  } else {
    return false;
  }
  return true;
}

Connection& PassiveSide::add(const Req& message, const Arrival& arrival) {
  Connection& connection = core_.add_connection();
  connection.state = State::request_received;
  connection.device = arrival.device;
  connection.path = path_back(message, arrival.from);
  connection.service = *service_of(message);
  connection.transaction = arrival.transaction;
  connection.remote_id = message.local_id;
  connection.remote_guid = message.local_ca_guid;
  connection.remote_qpn = message.local_qpn;
  connection.send_psn = message.starting_psn;
  // What this side answers is what the peer will ask, and the other way round.
  connection.responder_resources = message.initiator_depth;
  connection.initiator_depth = message.responder_resources;
  connection.retry_count = message.retry_count;
  connection.rnr_retry_count = message.rnr_retry_count;
  connection.ack_timeout = {static_cast<std::uint8_t>(connection.path.packet_lifetime.value + 1)};
  connection.response_wait = waiting_time(message.local_cm_response_timeout);
  connection.max_retries = message.max_cm_retries;
  core_.connections.know_peer(connection);
  return connection;
}

void PassiveSide::tell_user(Connection& connection, const Req& message, const Arrival& arrival) {
  const CommunicationId id = connection.id;
  const Path path = connection.path;
  const Decision decision = core_.user.requested({id, arrival.device, path, message});
  Connection* const after = core_.connections.find(id);
  // The user may have answered, or destroyed it.
  if (after == nullptr || after->state != State::request_received) return;
  if (decision == Decision::keep) {
    after->state = State::request_pending;
    return;
  }
  if (decision == Decision::drop) {
    ++core_.sender.counters(arrival.device).dropped_requests;
  } else {
    const bool refused = decision == Decision::refuse;
    core_.send(*after, make_rej(*after, refused ? RejectReason::consumer : RejectReason::invalid_service_id));
  }
  core_.connections.remove(id);
}

Result PassiveSide::reply(CommunicationId id, const ReplyParameters& parameters, Time now) {
  Connection* const connection = core_.connections.find(id);
  if (connection == nullptr) return Result::unknown_id;
  if (!waits_for_user(*connection)) return Result::wrong_state;
  wire::mad::Rep message = make_rep(*connection, parameters, core_.host.describe(connection->device));
  if (!fill(message.private_data, parameters.private_data)) return Result::too_long;
  connection->state = State::reply_sent;
  connection->backlog_place.give_back();
  connection->local_qpn = parameters.qpn;
  connection->responder_resources = parameters.responder_resources;
  connection->initiator_depth = parameters.initiator_depth;
  core_.send_until_answered(*connection, message, now);
  return Result::ok;
}

Result PassiveSide::establish(CommunicationId id) {
  Connection* const connection = core_.connections.find(id);
  if (connection == nullptr) return Result::unknown_id;
  if (connection->state == State::established) return Result::already_connected;
  if (!waits_for_ready(*connection)) return Result::wrong_state;
  core_.repetitions.end(id);
  connection->state = State::established;
  core_.user.established(id);
  return Result::ok;
}

void PassiveSide::receive(const wire::mad::Rtu& message, const Arrival& arrival) {
  const Connection* const connection = core_.connections.find(message.remote_id, message.local_id);
  if (connection == nullptr) return;
  if (establish(connection->id) != Result::ok) core_.count_duplicate(arrival.device, Message::rtu);
}

void PassiveSide::reply_spent(Connection& connection) {
  core_.send(connection, make_timeout_rej(connection, core_.host.describe(connection.device).ca_guid));
  const CommunicationId id = connection.id;
  core_.close(connection);
  core_.user.unanswered(id, Unanswered::reply);
}

}  // namespace urnic::cm
