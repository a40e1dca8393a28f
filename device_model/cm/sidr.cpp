#include "device_model/cm/sidr.hpp"

#include "device_model/cm/messages.hpp"
#include "device_model/cm/timeouts.hpp"

namespace urnic::cm {

using wire::mad::SidrRep;
using wire::mad::SidrReq;
using wire::mad::SidrRequestId;
using wire::mad::SidrStatus;

namespace {

SidrRep refuse(SidrRequestId request_id, ServiceId service, SidrStatus status) {
  SidrRep message;
  message.request_id = request_id;
  message.status = status;
  message.service = service;
  return message;
}

}  // namespace

Result Sidr::request(const SidrRequestParameters& parameters, Time now, CommunicationId& id) {
  SidrReq message;
  if (!fill(message.private_data, parameters.private_data)) return Result::too_long;
  if (!core_.has_room()) return Result::no_room;
  id = core_.new_id();
  core_.sidr_requests.insert(id);
  sent_.insert(id);
  message.request_id = {id.value};
  message.pkey = parameters.path.pkey;
  message.service = parameters.service_id;
  core_.repetitions.begin(id,
                          {parameters.device, gsi_address(parameters.path), Message::sidr_req,
                           wire::mad::encode(message, transaction_of(id)),
                           waiting_time(parameters.response_timeout), parameters.max_retries},
                          now);
  return Result::ok;
}

void Sidr::receive(const SidrRep& message) {
  const CommunicationId id{message.request_id.value};
  if (!sent_.contains(id)) return;
  forget(id);
  core_.user.sidr_replied({id, message});
}

bool Sidr::request_spent(CommunicationId id) {
  if (!sent_.contains(id)) return false;
  forget(id);
  core_.user.unanswered(id, Unanswered::sidr_request);
  return true;
}

void Sidr::receive(const SidrReq& message, const Arrival& arrival) {
  if (by_peer_.contains({arrival.from.peer, message.request_id})) {
    return core_.count_duplicate(arrival.device, Message::sidr_req);
  }
  if (!core_.listeners.has(message.service)) {
    return core_.answer(arrival,
                        refuse(message.request_id, message.service, SidrStatus::unsupported_service));
  }
  std::optional<BacklogPlace> place = core_.listeners.take_place(message.service);
  if (!place || !core_.has_room()) {
    ++core_.sender.counters(arrival.device).dropped_requests;
    return;
  }
  const CommunicationId id = add(message, arrival, std::move(*place));
  const Decision decision = core_.user.sidr_requested({id, arrival.device, arrival.from, message});
  // The user may have answered, or destroyed it.
  if (decision == Decision::keep || !received_.contains(id)) return;
  if (decision == Decision::drop) {
    ++core_.sender.counters(arrival.device).dropped_requests;
  } else {
    const bool refused = decision == Decision::refuse;
    core_.answer(arrival, refuse(message.request_id, message.service,
                                 refused ? SidrStatus::rejected : SidrStatus::unsupported_service));
  }
  forget(id);
}

CommunicationId Sidr::add(const SidrReq& message, const Arrival& arrival, BacklogPlace place) {
  const CommunicationId id = core_.new_id();
  core_.sidr_requests.insert(id);
  received_.emplace(id, Received{arrival, message.request_id, message.service, std::move(place)});
  by_peer_.emplace(PeerRequest{arrival.from.peer, message.request_id}, id);
  return id;
}

Result Sidr::reply(CommunicationId id, const SidrReplyParameters& parameters) {
  const auto found = received_.find(id);
  if (found == received_.end()) return Result::unknown_id;
  const Received& request = found->second;
  SidrRep message = refuse(request.request_id, request.service, parameters.status);
  if (!fill(message.private_data, parameters.private_data)) return Result::too_long;
  message.ece = parameters.ece;
  message.qpn = parameters.qpn;
  message.qkey = parameters.qkey;
  core_.answer(request.arrival, message);
  forget(id);
  return Result::ok;
}

void Sidr::destroy(CommunicationId id) {
  if (received_.contains(id)) {
    SidrReplyParameters refusal;
    refusal.status = SidrStatus::rejected;
    reply(id, refusal);
  } else if (sent_.contains(id)) {
    forget(id);
  }
}

void Sidr::forget(CommunicationId id) {
  core_.repetitions.end(id);
  sent_.erase(id);
  if (const auto found = received_.find(id); found != received_.end()) {
    by_peer_.erase({found->second.arrival.from.peer, found->second.request_id});
    received_.erase(found);
  }
  core_.sidr_requests.erase(id);
}

}  // namespace urnic::cm
