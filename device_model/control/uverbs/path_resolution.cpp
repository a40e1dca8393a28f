#include "device_model/control/uverbs/path_resolution.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/fabric/udp_source_port.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {
namespace {

constexpr std::uint8_t kRouteHopLimit = 64;  // Linux's default for IPv4 and IPv6 routes

// To a single device the hop limit is the route's, whatever the program asks: the kernel's
// ib_resolve_eth_dmac does this for connections and address handles. To a group it is the program's; IP
// forbids to send with 0 (RFC 1122, 3.2.1.7).
std::uint8_t hop_limit(const wire::Gid& destination, std::uint8_t wanted) {
  return wire::is_multicast(destination) && wanted != 0 ? wanted : kRouteHopLimit;
}

// On a UDP wire the kernel writes the source port: one of the port's own.
std::uint16_t source_port(const ServedDevice& device, const wire::Gid& source, std::uint16_t wanted) {
  return device.udp != nullptr ? device.udp->port.source_port(source, wanted) : wanted;
}

// Leaves the MAC addresses to `find_neighbour`.
int make_path(const ServedDevice& device, const abi::AddressVector& address, std::uint16_t udp_source,
              wire::NetworkHeaders& path) {
  if (address.is_global == 0 || address.port != limits::kPorts) return EINVAL;
  if (const int error = find_gid(device, address.source_gid_index, path.source)) return error;
  path.destination = wire::to_gid(address.destination_gid);
  path.source_mac = device.settings.mac;
  path.vlan_tag = wire::vlan_tag(vlan_of(device, address.source_gid_index), address.service_level);
  path.traffic_class = address.traffic_class;
  path.hop_limit = hop_limit(path.destination, address.hop_limit);
  path.flow_label = address.flow_label & kFlowLabelMask;
  path.udp_source = source_port(device, path.source, udp_source);
  return 0;
}

// The way in an InfiniBand subnet. Only a program that asks for it gets a GRH; a port's LID has as many spare
// bits as its LMC says.
int make_local_path(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                    wire::NetworkHeaders& path) {
  constexpr unsigned kServiceLevels = 16;
  const PortRecord port = port_record_when_up(fabric, device);
  if (address.port != limits::kPorts || address.service_level >= kServiceLevels) return EINVAL;
  if (port.lid == 0) {
    log::debug("{}: no path to LID {}: the port has no LID, for no subnet manager has given it one",
               device.settings.name, address.destination_lid);
    return EINVAL;
  }
  const unsigned path_bits = address.source_path_bits & ((1u << port.lmc) - 1);
  path.local = wire::LocalRoute{.destination = {address.destination_lid},
                                .source = {static_cast<std::uint16_t>(port.lid | path_bits)},
                                .service_level = address.service_level,
                                .with_grh = address.is_global != 0};
  if (address.is_global == 0) return 0;
  if (address.source_gid_index >= port.gids.size()) return EINVAL;
  path.source = port.gids[address.source_gid_index];
  if (path.source == wire::Gid{}) return ENODATA;
  path.destination = wire::to_gid(address.destination_gid);
  path.traffic_class = address.traffic_class;
  path.hop_limit = address.hop_limit;
  path.flow_label = address.flow_label & kFlowLabelMask;
  return 0;
}

// `path` has its GIDs already.
int find_neighbour(const Fabric& fabric, const ServedDevice& device, wire::NetworkHeaders& path) {
  if (wire::is_multicast(path.destination)) return EINVAL;
  if (wire::is_ipv4_mapped(path.source) != wire::is_ipv4_mapped(path.destination)) return EINVAL;
  const link::Neighbour peer = fabric.find(device, path.source, path.destination);
  if (peer.state == link::Neighbour::State::asked) return kNotYet;
  if (peer.state == link::Neighbour::State::unreachable) return ETIMEDOUT;
  path.destination_mac = peer.mac;
  return 0;
}

// A group has a GID, so packets to it have a GRH (IBTA 10.5.2).
int resolve_local_address(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                          wire::NetworkHeaders& path) {
  const wire::Lid destination{address.destination_lid};
  const bool to_group = wire::is_multicast(destination) && address.is_global != 0;
  if (!wire::is_unicast(destination) && !to_group) return EINVAL;
  return make_local_path(fabric, device, address, path);
}

}  // namespace

int resolve_path(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                 wire::Qpn own, wire::Qpn destination, wire::NetworkHeaders& path) {
  if (device.adapter) {
    if (!wire::is_unicast(wire::Lid{address.destination_lid})) return EINVAL;
    return make_local_path(fabric, device, address, path);
  }
  const int error = make_path(device, address, udp_source_port(address.flow_label, own, destination), path);
  return error != 0 ? error : find_neighbour(fabric, device, path);
}

int resolve_address(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                    wire::NetworkHeaders& path) {
  if (device.adapter) return resolve_local_address(fabric, device, address, path);
  const int error = make_path(device, address, udp_source_port(address.flow_label, {}, {}), path);
  if (error != 0) return error;
  if (!wire::is_multicast(path.destination)) return find_neighbour(fabric, device, path);
  if (wire::is_ipv4_mapped(path.destination) && !wire::is_ipv4_mapped(path.source)) return EINVAL;
  path.destination_mac = wire::multicast_mac(path.destination);
  return 0;
}

}  // namespace urnic::control
