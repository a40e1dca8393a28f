// CONNECT, ACCEPT, REJECT, DISCONNECT, NOTIFY.
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "device_model/control/rdma_cm/commands.hpp"
#include "wire/mad/ip_cm_header.hpp"

namespace urnic::control::rdma_cm {
namespace {

using wire::mad::kIpCmHeaderBytes;

constexpr std::size_t kMostPrivateData = 216;  // of a SIDR_REQ
constexpr std::size_t kMostPrivateDataOfReq = 92;
constexpr std::uint8_t kMostRetries = 7;  // 3 bits

std::span<const std::byte> private_data(const rdma_ucm_conn_param& parameters) {
  return std::as_bytes(std::span(parameters.private_data)).first(parameters.private_data_len);
}

// The IP header of annex A11 and behind it the program's data; with addresses of AF_IB the data alone.
class RequestData {
 public:
  RequestData(const Endpoints& endpoints, std::span<const std::byte> data)
      : length_(header_bytes(endpoints) + data.size()) {
    std::copy(data.begin(), data.end(), bytes_.begin() + header_bytes(endpoints));
    if (header_bytes(endpoints) == 0) return;
    const bool ip4 = endpoints.source.family == Family::ip4;
    const wire::mad::IpCmHeader header{
        .ip_version = ip4 ? wire::mad::IpVersion::v4 : wire::mad::IpVersion::v6,
        .source_port = endpoints.source.port,
        .source = endpoints.source.ip,
        .destination = endpoints.destination.ip};
    wire::mad::encode(header, bytes_);
  }
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(length_); }

 private:
  static std::size_t header_bytes(const Endpoints& endpoints) {
    return endpoints.source.family == Family::ib ? 0 : kIpCmHeaderBytes;
  }

  std::array<std::byte, kIpCmHeaderBytes + RDMA_MAX_PRIVATE_DATA> bytes_{};
  std::size_t length_;
};

cm::DeviceIndex device_index(const Id& id) { return {id.local->device->index}; }

wire::Qpn qpn_of(const rdma_ucm_conn_param& parameters) { return {parameters.qp_num & 0xFFFFFF}; }

cm::ServiceType service_type(const Id& id) {
  switch (id.qp_type) {
    case QpType::uc:
      return cm::ServiceType::unreliable;
    case QpType::xrc_send:
      return cm::ServiceType::xrc_initiator;
    case QpType::xrc_receive:
      return cm::ServiceType::xrc_target;
    case QpType::rc:
    case QpType::ud:
      break;
  }
  return cm::ServiceType::reliable;
}

cm::Started send_request(Session& session, const Id& id, const rdma_ucm_connect& command,
                         std::span<const std::byte> data) {
  const rdma_ucm_conn_param& parameters = command.conn_param;
  cm::ConnectParameters request;
  request.device = device_index(id);
  request.path = *id.path;
  request.service_id = service_of(id, id.endpoints.destination);
  request.service = service_type(id);
  request.qpn = qpn_of(parameters);
  request.srq = parameters.srq != 0;
  request.flow_control = parameters.flow_control != 0;
  request.responder_resources = parameters.responder_resources;
  request.initiator_depth = parameters.initiator_depth;
  request.retry_count = std::min(parameters.retry_count, kMostRetries);
  request.rnr_retry_count = std::min(parameters.rnr_retry_count, kMostRetries);
  request.private_data = data;
  request.ece = {command.ece.vendor_id, command.ece.attr_mod};
  return session.identifiers.connections().connect(request, session.identifiers.now());
}

cm::Started send_sidr_request(Session& session, const Id& id, std::span<const std::byte> data) {
  cm::SidrRequestParameters request;
  request.device = device_index(id);
  request.path = *id.path;
  request.service_id = service_of(id, id.endpoints.destination);
  request.private_data = data;
  return session.identifiers.connections().sidr_request(request, session.identifiers.now());
}

cm::Result send_sidr_reply(Session& session, Id& id, const cm::SidrReplyParameters& reply) {
  const cm::Result result = session.identifiers.connections().sidr_reply(*id.connection, reply);
  if (result == cm::Result::ok) session.identifiers.forget_connection(id);
  return result;
}

// The Q_Key of the answer to a request. Empty: none that this side could have.
std::optional<wire::mad::Qkey> answered_qkey(const Session& session, const Id& id,
                                             const rdma_ucm_accept& command) {
  if (command.conn_param.valid != 0 && command.conn_param.qkey != 0)
    return wire::mad::Qkey{command.conn_param.qkey};
  return default_qkey(session.administration.broadcast, id);
}

cm::Result answer_datagram_request(Session& session, Id& id, const rdma_ucm_accept& command,
                                   wire::mad::Qkey qkey) {
  cm::SidrReplyParameters reply;
  reply.qkey = qkey;
  if (command.conn_param.valid != 0) {
    reply.qpn = qpn_of(command.conn_param);
    reply.private_data = private_data(command.conn_param);
    reply.ece = {command.ece.vendor_id, command.ece.attr_mod};
  }
  return send_sidr_reply(session, id, reply);
}

cm::Result send_reply(Session& session, const Id& id, const rdma_ucm_accept& command) {
  const rdma_ucm_conn_param& parameters = command.conn_param;
  cm::ReplyParameters reply;
  reply.qpn = qpn_of(parameters);
  reply.srq = parameters.srq != 0;
  reply.flow_control = parameters.flow_control != 0;
  reply.responder_resources = parameters.responder_resources;
  reply.initiator_depth = parameters.initiator_depth;
  reply.rnr_retry_count = std::min(parameters.rnr_retry_count, kMostRetries);
  reply.private_data = private_data(parameters);
  reply.ece = {command.ece.vendor_id, command.ece.attr_mod};
  return session.identifiers.connections().reply(*id.connection, reply, session.identifiers.now());
}

cm::Result answer(Session& session, Id& id, const rdma_ucm_accept& command, wire::mad::Qkey qkey) {
  if (is_datagram(id)) return answer_datagram_request(session, id, command, qkey);
  if (command.conn_param.valid != 0) return send_reply(session, id, command);
  return session.identifiers.connections().ready(*id.connection);
}

cm::Result refuse(Session& session, Id& id, wire::mad::RejectReason reason, std::span<const std::byte> data) {
  cm::ConnectionManager& connections = session.identifiers.connections();
  if (!is_datagram(id)) return connections.reject(*id.connection, {reason, data}, session.identifiers.now());
  cm::SidrReplyParameters reply;
  reply.status = wire::mad::SidrStatus::rejected;
  reply.private_data = data;
  return send_sidr_reply(session, id, reply);
}

}  // namespace

int connect(Session& session, const rdma_ucm_connect& command, NoAnswer&) {
  if (command.conn_param.valid == 0) return EINVAL;
  Id* id = nullptr;
  if (const int error = find_id_with_device(session, command.id, id)) return error;
  if (id->state != IdState::route_resolved) return EINVAL;
  const RequestData data(id->endpoints, private_data(command.conn_param));
  if (data.bytes().size() > (is_datagram(*id) ? kMostPrivateData : kMostPrivateDataOfReq)) return EINVAL;
  const cm::Started started = is_datagram(*id) ? send_sidr_request(session, *id, data.bytes())
                                               : send_request(session, *id, command, data.bytes());
  if (started.result != cm::Result::ok) return to_errno(started.result);
  session.identifiers.connect(*id, started.id);
  id->qpn = qpn_of(command.conn_param);
  id->state = IdState::connect;
  return 0;
}

int accept(Session& session, const rdma_ucm_accept& command, NoAnswer&) {
  Id* id = nullptr;
  if (const int error = find_id_with_device(session, command.id, id)) return error;
  if (id->state != IdState::connect || !id->connection) return EINVAL;
  const auto qkey = answered_qkey(session, *id, command);
  if (!qkey) {
    refuse(session, *id, wire::mad::RejectReason::consumer, {});
    return EADDRNOTAVAIL;
  }
  const std::uint64_t uid_before = id->uid;
  // Before the answer goes out: an event may follow it at once.
  if (command.conn_param.valid != 0) {
    id->uid = command.uid;
    id->qpn = qpn_of(command.conn_param);
  }
  const cm::Result result = answer(session, *id, command, *qkey);
  if (result == cm::Result::ok) return 0;
  id->uid = uid_before;
  refuse(session, *id, wire::mad::RejectReason::consumer, {});
  return to_errno(result);
}

int reject(Session& session, const rdma_ucm_reject& command, NoAnswer&) {
  auto reason = static_cast<wire::mad::RejectReason>(command.reason);
  if (command.reason == 0) reason = wire::mad::RejectReason::consumer;
  if (reason != wire::mad::RejectReason::consumer &&
      reason != wire::mad::RejectReason::vendor_option_not_supported)
    return EINVAL;
  Id* id = nullptr;
  if (const int error = find_id_with_device(session, command.id, id)) return error;
  if (!id->connection) return EINVAL;
  const auto data = std::as_bytes(std::span(command.private_data)).first(command.private_data_len);
  return to_errno(refuse(session, *id, reason, data));
}

// Linux answers 0 whatever the connection's state is.
int disconnect(Session& session, const rdma_ucm_disconnect& command, NoAnswer&) {
  Id* id = nullptr;
  if (const int error = find_id_with_device(session, command.id, id)) return error;
  if (id->state < IdState::connect) return EINVAL;
  if (id->connection && !is_datagram(*id))
    session.identifiers.connections().disconnect(*id->connection, session.identifiers.now());
  return 0;
}

int notify(Session& session, const rdma_ucm_notify& command, NoAnswer&) {
  Id* id = nullptr;
  if (const int error = find_id_with_device(session, command.id, id)) return error;
  if (!id->connection || command.event != IBV_EVENT_COMM_EST) return EINVAL;
  return to_errno(session.identifiers.connections().establish(*id->connection));
}

}  // namespace urnic::control::rdma_cm
