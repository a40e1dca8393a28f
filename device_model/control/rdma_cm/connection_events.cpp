#include "device_model/control/rdma_cm/connection_events.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>

#include "device_model/control/log/log.hpp"
#include "device_model/control/rdma_cm/address_vector.hpp"
#include "wire/mad/ip_cm_header.hpp"

namespace urnic::control::rdma_cm {
namespace {

using wire::mad::IpCmHeader;
using wire::mad::IpVersion;

rdma_ucm_event_resp new_event(EventType type, int status = 0) {
  rdma_ucm_event_resp answer{};
  answer.event = static_cast<std::uint32_t>(type);
  answer.status = static_cast<std::uint32_t>(status);
  return answer;
}

// The event's length is that of the field in the message; what the peer did not fill is zero.
template <class Parameters>
void set_private_data(std::span<const std::byte> data, Parameters& parameters) {
  std::memcpy(parameters.private_data, data.data(), data.size());
  parameters.private_data_len = static_cast<std::uint8_t>(data.size());
}

rdma_ucm_ece to_ece(const wire::mad::Ece& ece) { return {ece.vendor_id, ece.options}; }

// A request as its service's listeners look at it.
struct Request {
  cm::DeviceIndex device;
  wire::mad::ServiceId service;
  QpType qp_type;                           // that the passive side needs
  std::span<const std::byte> private_data;  // all of them
  const cm::Path* path = nullptr;           // null: of a datagram request
  bool has_ip_addresses = false;            // else it is one of AF_IB
  SocketAddress source{};
  SocketAddress destination{};
};

QpType passive_type(const wire::mad::Req& message) {
  switch (message.transport_service) {
    case wire::mad::TransportService::uc:
      return QpType::uc;
    case wire::mad::TransportService::extended:
      return QpType::xrc_receive;
    case wire::mad::TransportService::rc:
    case wire::mad::TransportService::rd:
      break;
  }
  return QpType::rc;
}

// The addresses in the IP header of the private data, if they have one that can be used (annex A11.4).
void read_ip_header(Request& request) {
  IpCmHeader header;
  if (wire::mad::decode(request.private_data, header) != wire::mad::IpCmError::none) return;
  const Family family = header.ip_version == IpVersion::v4 ? Family::ip4 : Family::ip6;
  request.source = {.family = family, .port = header.source_port, .ip = header.source};
  request.destination = {
      .family = family, .port = static_cast<std::uint16_t>(request.service.value), .ip = header.destination};
  request.has_ip_addresses = !is_any(request.source) && !is_multicast(request.source);
}

// A listener of AF_IB looks at no private data (cma_match_private_data). Linux refuses those whose first byte
// is not 0 before it looks for a listener, and so now and then rsockets of librdmacm 44, whose first bytes
// are what was in memory there: they are served here.
bool listens_to(const Id& listener, const Request& request) {
  const SocketAddress& bound = listener.endpoints.source;
  if (listener.qp_type != request.qp_type) return false;
  if (bound.family == Family::ib)
    return !listener.local || listener.local->device->index == request.device.value;
  if (!request.has_ip_addresses) return false;
  if (is_any(bound))
    return !listener.endpoints.address_family_only || bound.family == request.destination.family;
  return same_address(bound, request.destination);
}

// The listener for the request: one of its address rather than one of all.
Id* choose_listener(std::span<Id* const> listeners, const Request& request) {
  Id* chosen = nullptr;
  for (Id* const listener : listeners) {
    if (!listens_to(*listener, request)) continue;
    if (!is_any(listener->endpoints.source)) return listener;
    if (chosen == nullptr) chosen = listener;
  }
  return chosen;
}

// A listener's family says what the addresses of its requests are (cma_save_net_info). Those of AF_IB are in
// the path, and a datagram's has none: then the listener's own one stands for it.
void name_ends(const Id& listener, const Request& request, Endpoints& endpoints) {
  endpoints.source = request.destination;
  endpoints.destination = request.source;
  if (listener.endpoints.source.family != Family::ib) return;
  endpoints.destination = {.family = Family::ib};
  endpoints.source = listener.endpoints.source;
  if (request.path != nullptr) {
    endpoints.source.ip = request.path->own;
    endpoints.destination.ip = request.path->peer;
    endpoints.source.pkey = endpoints.destination.pkey = request.path->pkey.value;
    endpoints.source.flow_info = endpoints.destination.flow_info = request.path->flow_label;
    endpoints.source.service_id = request.service.value;
  }
  endpoints.source.service_mask = ~std::uint64_t{0};
}

// What the program gets of the private data.
std::span<const std::byte> data_for(const Id& listener, const Request& request) {
  const bool has_header = listener.endpoints.source.family != Family::ib;
  return request.private_data.subspan(has_header ? wire::mad::kIpCmHeaderBytes : 0);
}

// Makes the request's identifier. Null: the program has as many as it may have.
Id* make_identifier(Identifiers& identifiers, Id& listener, const Request& request, const wire::Gid& own,
                    const wire::Gid& peer) {
  if (request.device.value >= identifiers.fabric().devices().size()) return nullptr;
  try {
    Id& id = identifiers.create(*listener.channel, listener.space, request.qp_type);
    id.state = IdState::connect;
    id.is_request = true;
    name_ends(listener, request, id.endpoints);
    id.local = LocalAddress{identifiers.fabric().devices()[request.device.value].get(), own};
    id.peer = peer;
    id.type_of_service = listener.type_of_service;
    return &id;
  } catch (const std::system_error& error) {
    log::warn("{}: a request for {} is dropped: {}", listener.channel->opener().name,
              to_text(listener.endpoints.source), error.what());
    return nullptr;
  }
}

// The listener, if it has room for the request; else the decision.
struct Admission {
  Id* listener = nullptr;
  cm::Decision decision = cm::Decision::refuse;
};

Admission admit(Identifiers& identifiers, Request& request) {
  read_ip_header(request);
  Id* const listener = choose_listener(identifiers.listeners(request.service), request);
  if (listener == nullptr) return {};
  if (listener->backlog == 0) identifiers.settle(*listener->channel);
  // The program cannot be told, or has enough to read: the peer asks again.
  if (listener->backlog == 0) return {nullptr, cm::Decision::drop};
  return {listener, cm::Decision::keep};
}

}  // namespace

Id* ConnectionEvents::find(cm::CommunicationId connection, IdState state) {
  Id* const id = identifiers_.find(connection);
  if (id != nullptr) identifiers_.changes().note(id->number);
  return id != nullptr && id->state == state ? id : nullptr;
}

cm::Decision ConnectionEvents::requested(const cm::RequestEvent& event) {
  const wire::mad::Req& message = event.message;
  Request request{event.device, message.service, passive_type(message), message.private_data, &event.path};
  const Admission admission = admit(identifiers_, request);
  if (admission.listener == nullptr) return admission.decision;
  Id* const id = make_identifier(identifiers_, *admission.listener, request, event.path.own, event.path.peer);
  if (id == nullptr) return cm::Decision::drop;
  id->path = event.path;
  identifiers_.connect(*id, event.id);

  rdma_ucm_event_resp answer = new_event(EventType::connect_request);
  rdma_ucm_conn_param& parameters = answer.param.conn;
  set_private_data(data_for(*admission.listener, request), parameters);
  // As this side sees them.
  parameters.responder_resources = message.initiator_depth;
  parameters.initiator_depth = message.responder_resources;
  parameters.flow_control = message.end_to_end_flow_control;
  parameters.retry_count = message.retry_count;
  parameters.rnr_retry_count = message.rnr_retry_count;
  parameters.srq = message.srq;
  parameters.qp_num = message.local_qpn.value;
  answer.ece = to_ece(message.ece);
  identifiers_.post_request(*admission.listener, *id, answer);
  return cm::Decision::keep;
}

cm::Decision ConnectionEvents::sidr_requested(const cm::SidrRequestEvent& event) {
  Request request{event.device, event.message.service, QpType::ud, event.message.private_data};
  const Admission admission = admit(identifiers_, request);
  if (admission.listener == nullptr) return admission.decision;
  if (admission.listener->space == PortSpace::ipoib &&
      event.device.value < identifiers_.fabric().devices().size()) {
    const ServedDevice& device = *identifiers_.fabric().devices()[event.device.value];
    // RoCE has no IP over InfiniBand (Linux's cma_ib_acquire_dev).
    if (!device.adapter) return cm::Decision::refuse;
    // The program would get no Q_Key yet: the peer asks again. The manager may have come, or made the group,
    // since the program has listened.
    if (broadcast_.find(device) == nullptr) {
      broadcast_.join(device);
      return cm::Decision::drop;
    }
  }
  Id* const id = make_identifier(identifiers_, *admission.listener, request, event.from.own, event.from.peer);
  if (id == nullptr) return cm::Decision::drop;
  identifiers_.connect(*id, event.id);

  rdma_ucm_event_resp answer = new_event(EventType::connect_request);
  set_private_data(data_for(*admission.listener, request), answer.param.ud);
  identifiers_.post_request(*admission.listener, *id, answer);
  return cm::Decision::keep;
}

void ConnectionEvents::replied(const cm::ReplyEvent& event) {
  Id* const id = find(event.id, IdState::connect);
  if (id == nullptr) return;
  const wire::mad::Rep& message = event.message;
  rdma_ucm_event_resp answer = new_event(EventType::connect_response);
  rdma_ucm_conn_param& parameters = answer.param.conn;
  set_private_data(std::span(message.private_data), parameters);
  parameters.responder_resources = message.initiator_depth;
  parameters.initiator_depth = message.responder_resources;
  parameters.flow_control = message.end_to_end_flow_control;
  parameters.rnr_retry_count = message.rnr_retry_count;
  parameters.srq = message.srq;
  parameters.qp_num = message.local_qpn.value;
  answer.ece = to_ece(message.ece);
  identifiers_.post(*id, answer);
}

void ConnectionEvents::established(cm::CommunicationId connection) {
  if (Id* const id = find(connection, IdState::connect)) identifiers_.post(*id, EventType::established);
}

void ConnectionEvents::rejected(const cm::RejectEvent& event) {
  Id* const id = find(event.id, IdState::connect);
  if (id == nullptr) return;
  rdma_ucm_event_resp answer = new_event(EventType::rejected, static_cast<int>(event.message.reason));
  set_private_data(std::span(event.message.private_data), answer.param.conn);
  identifiers_.post(*id, answer);
}

void ConnectionEvents::unanswered(cm::CommunicationId connection, cm::Unanswered message) {
  Id* const id = find(connection, IdState::connect);
  if (id == nullptr) return;
  if (message == cm::Unanswered::sidr_request) identifiers_.forget_connection(*id);
  identifiers_.post(*id, EventType::unreachable, -ETIMEDOUT);
}

void ConnectionEvents::end_connection(cm::CommunicationId connection, int status) {
  Id* const id = find(connection, IdState::connect);
  if (id == nullptr) return;
  id->state = IdState::disconnect;
  identifiers_.post(*id, EventType::disconnected, status);
}

void ConnectionEvents::disconnect_requested(cm::CommunicationId connection) { end_connection(connection, 0); }

void ConnectionEvents::disconnected(cm::CommunicationId connection, cm::Disconnected how) {
  end_connection(connection, how == cm::Disconnected::timed_out ? -ETIMEDOUT : 0);
}

void ConnectionEvents::time_wait_over(cm::CommunicationId connection) {
  if (Id* const id = find(connection, IdState::disconnect)) identifiers_.post(*id, EventType::time_wait_exit);
}

void ConnectionEvents::sidr_replied(const cm::SidrReplyEvent& event) {
  Id* const id = find(event.id, IdState::connect);
  if (id == nullptr) return;
  identifiers_.forget_connection(*id);
  const wire::mad::SidrRep& message = event.message;
  const bool accepted = message.status == wire::mad::SidrStatus::ok;
  rdma_ucm_event_resp answer =
      new_event(accepted ? EventType::established : EventType::unreachable, static_cast<int>(message.status));
  rdma_ucm_ud_param& parameters = answer.param.ud;
  set_private_data(std::span(message.private_data), parameters);
  if (accepted) {
    parameters.qp_num = message.qpn.value;
    parameters.qkey = message.qkey.value;
    parameters.ah_attr = address_vector(*id->local, *id->path);
  }
  answer.ece = to_ece(message.ece);
  identifiers_.post(*id, answer);
}

}  // namespace urnic::control::rdma_cm
