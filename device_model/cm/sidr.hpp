// Service id resolution for UD: one request, one answer, no connection (IBTA 12.11).
#pragma once

#include <map>
#include <set>
#include <utility>

#include "device_model/cm/backlog.hpp"
#include "device_model/cm/core.hpp"
#include "wire/mad/cm_service_resolution.hpp"

namespace urnic::cm {

class Sidr {
 public:
  explicit Sidr(Core& core) : core_(core) {}

  Result request(const SidrRequestParameters& parameters, Time now, CommunicationId& id);
  Result reply(CommunicationId id, const SidrReplyParameters& parameters);
  // Does nothing if `id` is no SIDR request.
  void destroy(CommunicationId id);
  void receive(const wire::mad::SidrReq& message, const Arrival& arrival);
  void receive(const wire::mad::SidrRep& message);
  // The SIDR_REQ's last repetition has no answer. False: `id` is no SIDR request.
  bool request_spent(CommunicationId id);

 private:
  using PeerRequest = std::pair<wire::Gid, wire::mad::SidrRequestId>;
  // A request of a peer that the user has not answered.
  struct Received {
    Arrival arrival;
    wire::mad::SidrRequestId request_id;
    ServiceId service;
    BacklogPlace backlog_place;
  };
  CommunicationId add(const wire::mad::SidrReq& message, const Arrival& arrival, BacklogPlace place);
  void forget(CommunicationId id);

  Core& core_;
  std::set<CommunicationId> sent_;
  std::map<CommunicationId, Received> received_;
  std::map<PeerRequest, CommunicationId> by_peer_;
};

}  // namespace urnic::cm
