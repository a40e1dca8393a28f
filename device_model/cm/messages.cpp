#include "device_model/cm/messages.hpp"

#include "device_model/cm/timeouts.hpp"

namespace urnic::cm {
namespace {

using namespace wire::mad;

PathParameters path_parameters(const Path& path, TimeoutCode ack_delay) {
  PathParameters parameters;
  // RoCE has no LIDs (IBTA A17.6.1.1). Linux sends the permissive ones for a path that leaves the subnet.
  parameters.subnet_local = path.hop_limit <= 1;
  parameters.local_lid = parameters.subnet_local ? path.own_lid : wire::kPermissiveLid;
  parameters.remote_lid = parameters.subnet_local ? path.peer_lid : wire::kPermissiveLid;
  parameters.local_gid = path.own;
  parameters.remote_gid = path.peer;
  parameters.flow_label = path.flow_label;
  parameters.packet_rate = path.rate;
  parameters.traffic_class = path.traffic_class;
  parameters.hop_limit = path.hop_limit;
  parameters.service_level = path.service_level;
  parameters.local_ack_timeout = ack_timeout(ack_delay, path.packet_lifetime);
  return parameters;
}

void set_service(Req& message, ServiceType service) {
  switch (service) {
    case ServiceType::reliable:
      message.transport_service = TransportService::rc;
      break;
    case ServiceType::unreliable:
      message.transport_service = TransportService::uc;
      break;
    default:
      message.transport_service = TransportService::extended;
      message.extended_transport = ExtendedTransport::xrc;
  }
}

RejectedMessage rejected_message(State state) {
  switch (state) {
    case State::request_received:
    case State::request_pending:
      return RejectedMessage::req;
    case State::reply_received:
      return RejectedMessage::rep;
    default:
      return RejectedMessage::other;
  }
}

}  // namespace

Req make_req(const Connection& connection, const ConnectParameters& parameters,
             const DeviceDescription& device) {
  Req message;
  message.local_id = connection.id;
  message.ece = parameters.ece;
  message.service = parameters.service_id;
  message.local_ca_guid = device.ca_guid;
  message.local_qpn = parameters.qpn;
  message.initiator_depth = parameters.initiator_depth;
  message.remote_cm_response_timeout = parameters.remote_response_timeout;
  set_service(message, parameters.service);
  message.end_to_end_flow_control = parameters.flow_control;
  message.starting_psn = connection.receive_psn;
  message.local_cm_response_timeout = parameters.local_response_timeout;
  message.pkey = parameters.path.pkey;
  message.path_mtu = parameters.path.mtu;
  message.max_cm_retries = parameters.max_retries;
  // An XRC initiator answers nothing, so it has none of these (IBTA A14.5).
  if (parameters.service != ServiceType::xrc_initiator) {
    message.responder_resources = parameters.responder_resources;
    message.retry_count = three_bits(parameters.retry_count);
    message.rnr_retry_count = three_bits(parameters.rnr_retry_count);
    message.srq = parameters.srq;
  }
  message.primary = path_parameters(parameters.path, device.ack_delay);
  return message;
}

Rep make_rep(const Connection& connection, const ReplyParameters& parameters,
             const DeviceDescription& device) {
  Rep message;
  message.local_id = connection.id;
  message.remote_id = connection.remote_id;
  message.ece = parameters.ece;
  message.starting_psn = connection.receive_psn;
  message.responder_resources = parameters.responder_resources;
  message.target_ack_delay = device.ack_delay;
  message.rnr_retry_count = three_bits(parameters.rnr_retry_count);
  message.local_ca_guid = device.ca_guid;
  if (connection.service == ServiceType::xrc_target) {
    message.local_eecn = parameters.qpn.value;
    message.srq = true;
    return message;
  }
  message.local_qpn = parameters.qpn;
  message.initiator_depth = parameters.initiator_depth;
  message.end_to_end_flow_control = parameters.flow_control;
  message.srq = parameters.srq;
  return message;
}

Rtu make_rtu(const Connection& connection) {
  Rtu message;
  message.local_id = connection.id;
  message.remote_id = connection.remote_id;
  return message;
}

Mra make_mra(const Connection& connection, AcknowledgedMessage acknowledged) {
  Mra message;
  message.local_id = connection.id;
  message.remote_id = connection.remote_id;
  message.acknowledged = acknowledged;
  message.service_timeout = kServiceTimeout;
  return message;
}

Dreq make_dreq(const Connection& connection) {
  Dreq message;
  message.local_id = connection.id;
  message.remote_id = connection.remote_id;
  message.remote_qpn = connection.remote_qpn;
  return message;
}

Drep make_drep(const Connection& connection) {
  Drep message;
  message.local_id = connection.id;
  message.remote_id = connection.remote_id;
  return message;
}

Rej make_rej(const Connection& connection, RejectReason reason) {
  Rej message;
  // No local id before the user has the connection: then it has no number for the peer.
  if (connection.state != State::request_received) message.local_id = connection.id;
  message.remote_id = connection.remote_id;
  message.rejected = rejected_message(connection.state);
  message.reason = reason;
  return message;
}

Rej make_timeout_rej(const Connection& connection, Guid ca_guid) {
  Rej message = make_rej(connection, RejectReason::timeout);
  message.information.length = sizeof ca_guid.value;
  for (std::size_t i = 0; i < sizeof ca_guid.value; ++i) {
    message.information.bytes[i] = static_cast<std::byte>(ca_guid.value >> (56 - 8 * i));
  }
  return message;
}

}  // namespace urnic::cm
