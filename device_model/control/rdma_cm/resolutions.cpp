#include "device_model/control/rdma_cm/resolutions.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "device_model/control/log/log.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"

namespace urnic::control::rdma_cm {
namespace {

RouteAnswer route_of(const Fabric& fabric, const Endpoints& endpoints) {
  if (endpoints.destination.family == Family::ib)
    return find_gid_route(fabric, endpoints.source, endpoints.destination);
  return find_route(fabric, endpoints.source, endpoints.destination);
}

const link::LocalInterface* interface_with(const ServedDevice& device, const wire::Gid& gid) {
  const auto& gids = device.settings.gids;
  const auto found = std::find(gids.begin(), gids.end(), gid);
  if (found == gids.end()) return nullptr;
  return interface_of(device, static_cast<std::size_t>(found - gids.begin()));
}

// In Linux it is the kernel's neighbour table that gives rdma_cm the peer's Ethernet address
// (addr_resolve_neigh), so the peer is there when an address is resolved. The devices here find each other
// otherwise, but programs look there (libvma). Without the right to change that table it stays as it is.
void look_for_neighbour(const Fabric& fabric, const Route& route) {
  const NeighbourSearch& search = fabric.interface_neighbours();
  if (!search || route.local.device->adapter || wire::is_multicast(route.peer)) return;
  const link::LocalInterface* const interface = interface_with(*route.local.device, route.local.gid);
  if (interface == nullptr || route.peer == route.local.gid) return;
  if (const int error = search(route.peer, interface->index))
    log::debug("{}: the host does not look for {}: {}", interface->name, control::to_text(route.peer),
               std::generic_category().message(error));
}

}  // namespace

// What a program does next with an identifier of IPOIB needs the group's Q_Key. A manager that refuses is
// asked once, and there is no reason to wait then.
bool Resolutions::waits_for_broadcast(Id& id, const ServedDevice& device) {
  if (!std::exchange(id.has_asked_broadcast, true)) broadcast_.join(device);
  return broadcast_.is_asked(device);
}

// 0: it is resolved, or has failed. ENODATA: not yet. Else there is no way.
int Resolutions::resolve(Id& id) {
  Endpoints& endpoints = id.endpoints;
  const auto [route, error] = route_of(identifiers_.fabric(), endpoints);
  if (!route) return error != 0 ? error : ENODATA;
  if (id.space == PortSpace::ipoib) {
    // RoCE has no such groups, which Linux sees when it has the route (cma_ib_acquire_dev).
    if (!route->local.device->adapter) {
      fail(id, EINVAL);
      return 0;
    }
    if (waits_for_broadcast(id, *route->local.device)) return ENODATA;
  }
  identifiers_.changes().note(id.number);
  endpoints.source = with_port(route->source, endpoints.source.port);
  id.local = route->local;
  id.peer = route->peer;
  id.state = IdState::address_resolved;
  look_for_neighbour(identifiers_.fabric(), *route);
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
  id.has_asked_broadcast = false;
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
