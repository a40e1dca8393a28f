#include "device_model/control/rdma_cm/resolutions.hpp"

#include <cerrno>

#include "device_model/control/rdma_cm/infiniband_addresses.hpp"

namespace urnic::control::rdma_cm {
namespace {

RouteAnswer route_of(const Fabric& fabric, const Endpoints& endpoints) {
  if (endpoints.destination.family == Family::ib)
    return find_gid_route(fabric, endpoints.source, endpoints.destination);
  return find_route(fabric, endpoints.source, endpoints.destination);
}

}  // namespace

// 0: it is resolved. ENODATA: nobody has the address, so far. Else there is no way.
int Resolutions::resolve(Id& id) {
  Endpoints& endpoints = id.endpoints;
  const auto [route, error] = route_of(identifiers_.fabric(), endpoints);
  if (!route) return error != 0 ? error : ENODATA;
  identifiers_.changes().note(id.number);
  endpoints.source = with_port(route->source, endpoints.source.port);
  id.local = route->local;
  id.peer = route->peer;
  id.state = IdState::address_resolved;
  identifiers_.post(id, EventType::address_resolved);
  return 0;
}

void Resolutions::fail(Id& id, int error) {
  identifiers_.changes().note(id.number);
  id.state = IdState::address_bound;
  identifiers_.post(id, EventType::address_error, -error);
}

// Of an IP address Linux asks for the route during the call, and looks for its RDMA device afterwards
// (rdma_resolve_ip, addr_handler). Of a GID it looks for the device during the call (cma_resolve_ib_addr).
int Resolutions::start(Id& id, std::chrono::milliseconds patience) {
  const int error = resolve(id);
  if (error == ENODATA) {
    id.resolve_until = identifiers_.now() + patience;
    waiting_.insert(id.number);
  } else if (error == ENODEV && id.endpoints.destination.family != Family::ib) {
    fail(id, error);
  } else if (error != 0) {
    id.state = IdState::address_bound;
    return error;
  }
  return 0;
}

void Resolutions::look_again() {
  const cm::Time now = identifiers_.now();
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    Id* const id = identifiers_.find(*waiting);
    if (id != nullptr && id->state == IdState::address_query) {
      const bool is_there = is_reached(identifiers_.fabric(), id->endpoints.destination);
      const int error = is_there ? resolve(*id) : ENODATA;
      if (error == ENODATA && now < id->resolve_until) continue;
      if (error != 0) fail(*id, now < id->resolve_until ? error : ETIMEDOUT);
    }
    waiting_.erase(waiting);
  }
}

}  // namespace urnic::control::rdma_cm
