#include "device_model/control/rdma_cm/infiniband_addresses.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "device_model/control/fabric/partition_table.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control::rdma_cm {
namespace {

constexpr std::uint64_t kPortMask = 0xFFFF;
constexpr std::uint64_t kSpaceMask = ~kPortMask;  // RDMA_IB_IP_PS_MASK

bool has_connections(const ServedDevice& device) {
  return device.adapter.has_value() && device.settings.connection_manager;
}

const subnet::Port& port_of(const Fabric& fabric, const ServedDevice& device) {
  return fabric.subnet().node(*device.adapter).ports[1];
}

bool is_active(const Fabric& fabric, const ServedDevice& device) {
  return port_of(fabric, device).info.state == wire::mad::PortState::active;
}

bool has_prefix_of(const wire::Gid& gid, const wire::Gid& other) {
  constexpr std::size_t kPrefixBytes = 8;
  return std::memcmp(gid.bytes.data(), other.bytes.data(), kPrefixBytes) == 0;
}

// The GID of the device from which it reaches `destination`.
std::optional<wire::Gid> gid_towards(const Fabric& fabric, const ServedDevice& device,
                                     const SocketAddress& destination) {
  const bool active = is_active(fabric, device);
  for (const wire::Gid& gid : gids_of(fabric.subnet().node(*device.adapter))) {
    if (gid == wire::Gid{}) continue;
    if (gid == destination.ip || (active && (is_any(destination) || has_prefix_of(gid, destination.ip))))
      return gid;
  }
  return {};
}

std::optional<LocalAddress> choose_device(const Fabric& fabric, const SocketAddress& destination) {
  for (const auto& device : fabric.devices()) {
    if (!has_connections(*device)) continue;
    const bool is_member = is_any(destination) || pkey_index(fabric, *device, {destination.pkey});
    const auto gid = is_member ? gid_towards(fabric, *device, destination) : std::nullopt;
    if (gid) return LocalAddress{device.get(), *gid};
  }
  return {};
}

}  // namespace

std::optional<PortSpace> select_port_space(PortSpace asked, SocketAddress& address) {
  const std::uint64_t mask = address.service_mask & kSpaceMask;
  for (const PortSpace space : {PortSpace::ib, PortSpace::tcp, PortSpace::udp}) {
    const std::uint64_t base = wire::mad::service_id({space, 0}).value;
    if ((asked != PortSpace::ib && asked != space) || ((address.service_id ^ base) & mask) != 0) continue;
    address.service_id = base | address.port;
    address.service_mask |= kSpaceMask;
    return space;
  }
  return {};
}

std::optional<LocalAddress> find_by_gid(const Fabric& fabric, const wire::Gid& gid) {
  for (const auto& device : fabric.devices()) {
    if (!has_connections(*device)) continue;
    const auto gids = gids_of(fabric.subnet().node(*device->adapter));
    if (gid != wire::Gid{} && std::find(gids.begin(), gids.end(), gid) != gids.end())
      return LocalAddress{device.get(), gid};
  }
  return {};
}

RouteAnswer find_gid_route(const Fabric& fabric, const SocketAddress& source,
                           const SocketAddress& destination) {
  const auto local = is_any(source) ? choose_device(fabric, destination) : find_by_gid(fabric, source.ip);
  if (!local) return {{}, ENODEV};
  SocketAddress named = source;
  named.ip = local->gid;
  // A destination without a GID is the device itself (Linux's cma_resolve_loopback).
  return {Route{*local, named, is_any(destination) ? local->gid : destination.ip}, 0};
}

wire::Pkey partition_of(const Id& id) {
  if (id.path) return id.path->pkey;
  if (id.endpoints.source.family == Family::ib) return {id.endpoints.source.pkey};
  return {};
}

}  // namespace urnic::control::rdma_cm
