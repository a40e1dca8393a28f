#include "device_model/control/rdma_cm/local_addresses.hpp"

#include <algorithm>

#include "wire/network_headers.hpp"

namespace urnic::control::rdma_cm {
namespace {

// The first of the device's GIDs that a loopback address of the family can stand for: of IPv6 rather one that
// other networks know, too.
std::optional<wire::Gid> first_gid(const ServedDevice& device, Family family) {
  std::optional<wire::Gid> link_local;
  for (const wire::Gid& gid : device.settings.gids) {
    if (gid == wire::Gid{} || wire::is_ipv4_mapped(gid) != (family == Family::ip4)) continue;
    if (!wire::is_link_local(gid)) return gid;
    if (!link_local) link_local = gid;
  }
  return link_local;
}

std::size_t loopback_device(const Fabric& fabric, const SocketAddress& address) {
  const auto& ip = address.ip.bytes;
  if (address.family != Family::ip4 || ip[13] != 0 || ip[14] != 0) return 0;
  return ip[15] >= 1 && ip[15] <= fabric.devices().size() ? ip[15] - 1u : 0;
}

std::optional<LocalAddress> with_first_gid(ServedDevice& device, Family family) {
  const auto gid = first_gid(device, family);
  if (!gid) return {};
  return LocalAddress{&device, *gid};
}

bool reaches(const Fabric& fabric, const ServedDevice& device, const wire::Gid& peer) {
  return wire::is_multicast(peer) || fabric.resolve(device, peer);
}

// The first device with an address of the family that reaches `peer`; rather one whose address has the scope
// of `peer`.
std::optional<LocalAddress> find_sender(const Fabric& fabric, Family family, const wire::Gid& peer) {
  std::optional<LocalAddress> other_scope;
  for (const auto& device : fabric.devices()) {
    if (!reaches(fabric, *device, peer)) continue;
    for (const wire::Gid& gid : device->settings.gids) {
      if (gid == wire::Gid{} || wire::is_ipv4_mapped(gid) != (family == Family::ip4)) continue;
      if (wire::is_link_local(gid) == wire::is_link_local(peer)) return LocalAddress{device.get(), gid};
      if (!other_scope) other_scope = LocalAddress{device.get(), gid};
    }
  }
  return other_scope;
}

// Among devices on UDP wires: the one with the address that the host's routing table chooses.
std::optional<LocalAddress> routed_sender(const Fabric& fabric, const SocketAddress& destination) {
  const auto source = fabric.host_source(destination.ip, destination.scope);
  if (!source) return {};
  for (const auto& device : fabric.devices()) {
    const auto& gids = device->settings.gids;
    if (device->udp != nullptr && std::find(gids.begin(), gids.end(), *source) != gids.end())
      return LocalAddress{device.get(), *source};
  }
  return {};
}

SocketAddress as_address(const wire::Gid& gid, Family family) { return {.family = family, .ip = gid}; }

// For a source that is not bound.
std::optional<Route> choose_source(const Fabric& fabric, const SocketAddress& destination) {
  if (const auto local = find_local(fabric, destination)) {
    SocketAddress source = as_address(destination.ip, destination.family);
    if (is_loopback(destination)) source = loopback_address(*local->device, destination.family);
    source.scope = destination.scope;
    return Route{*local, source, local->gid};
  }
  auto sender = find_sender(fabric, destination.family, destination.ip);
  if (!sender) return {};
  if (sender->device->udp != nullptr) sender = routed_sender(fabric, destination).value_or(*sender);
  return Route{*sender, as_address(sender->gid, destination.family), destination.ip};
}

}  // namespace

std::optional<LocalAddress> find_local(const Fabric& fabric, const SocketAddress& address) {
  if (is_loopback(address))
    return with_first_gid(*fabric.devices()[loopback_device(fabric, address)], address.family);
  if (is_any(address) || wire::is_ipv4_mapped(address.ip) != (address.family == Family::ip4)) return {};
  for (const auto& device : fabric.devices()) {
    const auto& gids = device->settings.gids;
    if (std::find(gids.begin(), gids.end(), address.ip) != gids.end())
      return LocalAddress{device.get(), address.ip};
  }
  return {};
}

bool has_address_of(const Fabric& fabric, Family family) {
  const auto& devices = fabric.devices();
  return std::any_of(devices.begin(), devices.end(),
                     [&](const auto& device) { return first_gid(*device, family).has_value(); });
}

SocketAddress loopback_address(const ServedDevice& device, Family family) {
  SocketAddress address = any_address(family);
  if (family == Family::ip4) address.ip.bytes[12] = 127;
  address.ip.bytes[15] = static_cast<std::uint8_t>(family == Family::ip4 ? device.index + 1 : 1);
  return address;
}

std::optional<Route> find_route(const Fabric& fabric, const SocketAddress& source,
                                const SocketAddress& destination) {
  if (is_any(source)) return choose_source(fabric, destination);
  const auto local = find_local(fabric, source);
  if (!local) return {};
  if (is_multicast(destination)) return Route{*local, source, destination.ip};
  const auto peer = find_local(fabric, destination);
  const wire::Gid gid = peer ? peer->gid : destination.ip;
  if (!fabric.resolve(*local->device, gid)) return {};
  return Route{*local, source, gid};
}

}  // namespace urnic::control::rdma_cm
