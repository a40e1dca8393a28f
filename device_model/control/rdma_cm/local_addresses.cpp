#include "device_model/control/rdma_cm/local_addresses.hpp"

#include <algorithm>
#include <cerrno>

#include "device_model/control/fabric/port_record.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control::rdma_cm {
namespace {

// Devices without connection management are none for rdma_cm.
bool is_used(const ServedDevice& device) { return device.settings.connection_manager; }

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

// On InfiniBand an IP address stands for the port, as that of an IPoIB interface does; packets have its GID.
wire::Gid on_wire(const Fabric& fabric, const ServedDevice& device, const wire::Gid& address) {
  return device.adapter ? first_gid_of(fabric.subnet().node(*device.adapter)) : address;
}

std::optional<LocalAddress> with_first_gid(const Fabric& fabric, ServedDevice& device, Family family) {
  if (!is_used(device)) return {};
  const auto gid = first_gid(device, family);
  if (!gid) return {};
  return LocalAddress{&device, on_wire(fabric, device, *gid)};
}

bool reaches(const Fabric& fabric, const LocalAddress& from, const wire::Gid& peer) {
  return wire::is_multicast(peer) || fabric.resolve(*from.device, from.gid, peer);
}

// The first device with an address of the family that reaches `peer`; rather one whose address has the scope
// of `peer`.
std::optional<LocalAddress> find_sender(const Fabric& fabric, Family family, const wire::Gid& peer) {
  std::optional<LocalAddress> other_scope;
  for (const auto& device : fabric.devices()) {
    if (!is_used(*device)) continue;
    for (const wire::Gid& gid : device->settings.gids) {
      if (gid == wire::Gid{} || wire::is_ipv4_mapped(gid) != (family == Family::ip4)) continue;
      const LocalAddress from{device.get(), gid};
      if ((other_scope && wire::is_link_local(gid) != wire::is_link_local(peer)) ||
          !reaches(fabric, from, peer))
        continue;
      if (wire::is_link_local(gid) == wire::is_link_local(peer)) return from;
      other_scope = from;
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
    if (is_used(*device) && device->udp != nullptr &&
        std::find(gids.begin(), gids.end(), *source) != gids.end())
      return LocalAddress{device.get(), *source};
  }
  return {};
}

SocketAddress as_address(const wire::Gid& gid, Family family) { return {.family = family, .ip = gid}; }

// By the device that has the destination, to itself.
std::optional<Route> to_itself(const Fabric& fabric, const SocketAddress& destination) {
  const auto local = find_local(fabric, destination);
  if (!local) return {};
  SocketAddress source = as_address(destination.ip, destination.family);
  if (is_loopback(destination)) source = loopback_address(*local->device, destination.family);
  source.scope = destination.scope;
  return Route{*local, source, local->gid};
}

// By the GID tables.
std::optional<Route> first_suitable(const Fabric& fabric, const SocketAddress& destination) {
  if (const auto itself = to_itself(fabric, destination)) return itself;
  auto sender = find_sender(fabric, destination.family, destination.ip);
  if (!sender) return {};
  if (sender->device->udp != nullptr) sender = routed_sender(fabric, destination).value_or(*sender);
  return Route{*sender, as_address(sender->gid, destination.family), destination.ip};
}

// The GID of a device that belongs to this interface, as Linux looks for it (rdma_find_gid_by_port).
std::optional<LocalAddress> find_on_interface(const Fabric& fabric, const wire::Gid& gid,
                                              std::uint32_t interface) {
  for (const auto& device : fabric.devices()) {
    const auto& gids = device->settings.gids;
    for (std::size_t i = 0; i < gids.size(); ++i) {
      const link::LocalInterface* const own = interface_of(*device, i);
      if (gids[i] == gid && own != nullptr && own->index == interface && is_used(*device))
        return LocalAddress{device.get(), gid};
    }
  }
  return {};
}

// What the routes of the devices' network say, as Linux's rdma_cm asks them (addr_resolve): a local
// destination is the device's that has it. A gateway makes no difference, because the switch knows GIDs.
RouteAnswer by_routes(const Fabric& fabric, const SocketAddress& destination) {
  const HostRoute way = fabric.interface_routes()(destination.ip, destination.scope);
  if (way.error != 0) return {{}, way.error};
  if (way.is_local) {
    const auto itself = to_itself(fabric, destination);
    return {itself, itself ? 0 : ENODEV};
  }
  const auto sender = find_on_interface(fabric, way.source, way.interface);
  if (!sender) return {{}, ENODEV};
  if (!reaches(fabric, *sender, destination.ip)) return {};
  SocketAddress source = as_address(sender->gid, destination.family);
  if (is_link_local(source)) source.scope = destination.scope;
  return {Route{*sender, source, destination.ip}, 0};
}

// Loopback addresses name devices here. A link-local one without an interface has no route, but a GID is of
// one device only.
bool has_routes(const SocketAddress& destination) {
  if (is_loopback(destination) || (is_link_local(destination) && destination.scope == 0)) return false;
  return wire::is_ipv4_mapped(destination.ip) == (destination.family == Family::ip4);
}

// Devices on UDP wires are in the host's own network.
bool all_have_interfaces(const Fabric& fabric) {
  const auto& devices = fabric.devices();
  return std::all_of(devices.begin(), devices.end(),
                     [](const auto& device) { return device->interface.has_value(); });
}

// For a source that is not bound. A group has a route seldom, and needs none: all devices reach it.
RouteAnswer choose_source(const Fabric& fabric, const SocketAddress& destination) {
  if (fabric.interface_routes() && has_routes(destination)) {
    const RouteAnswer answer = by_routes(fabric, destination);
    const bool is_final = all_have_interfaces(fabric) && !is_multicast(destination);
    if (answer.route || is_final) return answer;
  }
  return {first_suitable(fabric, destination), 0};
}

}  // namespace

std::optional<LocalAddress> find_local(const Fabric& fabric, const SocketAddress& address) {
  if (is_loopback(address))
    return with_first_gid(fabric, *fabric.devices()[loopback_device(fabric, address)], address.family);
  if (is_any(address) || wire::is_ipv4_mapped(address.ip) != (address.family == Family::ip4)) return {};
  for (const auto& device : fabric.devices()) {
    const auto& gids = device->settings.gids;
    if (is_used(*device) && std::find(gids.begin(), gids.end(), address.ip) != gids.end())
      return LocalAddress{device.get(), on_wire(fabric, *device, address.ip)};
  }
  return {};
}

bool is_reached(const Fabric& fabric, const SocketAddress& destination) {
  if (is_loopback(destination)) return true;
  const auto& devices = fabric.devices();
  return std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
    const auto& gids = device->settings.gids;
    return is_used(*device) && std::any_of(gids.begin(), gids.end(), [&](const wire::Gid& gid) {
             return gid != wire::Gid{} && reaches(fabric, {device.get(), gid}, destination.ip);
           });
  });
}

bool has_address_of(const Fabric& fabric, Family family) {
  const auto& devices = fabric.devices();
  return std::any_of(devices.begin(), devices.end(),
                     [&](const auto& device) { return is_used(*device) && first_gid(*device, family); });
}

SocketAddress loopback_address(const ServedDevice& device, Family family) {
  SocketAddress address = any_address(family);
  if (family == Family::ip4) address.ip.bytes[12] = 127;
  address.ip.bytes[15] = static_cast<std::uint8_t>(family == Family::ip4 ? device.index + 1 : 1);
  return address;
}

RouteAnswer find_route(const Fabric& fabric, const SocketAddress& source, const SocketAddress& destination) {
  if (is_any(source)) return choose_source(fabric, destination);
  const auto local = find_local(fabric, source);
  if (!local) return {};
  if (is_multicast(destination)) return {Route{*local, source, destination.ip}, 0};
  const auto peer = find_local(fabric, destination);
  const wire::Gid gid = peer ? peer->gid : destination.ip;
  if (!fabric.resolve(*local->device, local->gid, gid)) return {};
  return {Route{*local, source, gid}, 0};
}

}  // namespace urnic::control::rdma_cm
