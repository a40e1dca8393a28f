#include "device_model/control/rdma_cm/resolutions.hpp"

#include <cerrno>

namespace urnic::control::rdma_cm {

bool Resolutions::resolve(Id& id) {
  Endpoints& endpoints = id.endpoints;
  const auto route = find_route(identifiers_.fabric(), endpoints.source, endpoints.destination);
  if (!route) return false;
  identifiers_.changes().note(id.number);
  endpoints.source = with_port(route->source, endpoints.source.port);
  id.local = route->local;
  id.peer = route->peer;
  id.state = IdState::address_resolved;
  identifiers_.post(id, EventType::address_resolved);
  return true;
}

void Resolutions::start(Id& id, std::chrono::milliseconds patience) {
  if (resolve(id)) return;
  id.resolve_until = identifiers_.now() + patience;
  waiting_.insert(id.number);
}

void Resolutions::look_again() {
  const cm::Time now = identifiers_.now();
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    Id* const id = identifiers_.find(*waiting);
    const bool waits = id != nullptr && id->state == IdState::address_query;
    if (waits && !resolve(*id)) {
      if (now < id->resolve_until) continue;
      identifiers_.changes().note(id->number);
      id->state = IdState::address_bound;
      identifiers_.post(*id, EventType::address_error, -ETIMEDOUT);
    }
    waiting_.erase(waiting);
  }
}

}  // namespace urnic::control::rdma_cm
