#include "device_model/control/rdma_cm/path_to_peer.hpp"

#include <algorithm>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/port_rate.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control::rdma_cm {
namespace {

// Linux's for RoCE (CMA_IBOE_PACKET_LIFETIME): 268 ms.
constexpr cm::TimeoutCode kPacketLifetime{16};
constexpr std::uint32_t kFlowLabelMask = 0xFFFFF;

std::uint32_t flow_label(const Endpoints& endpoints) {
  const std::uint32_t chosen = endpoints.source.flow_info & kFlowLabelMask;
  if (chosen != 0) return chosen;
  return (endpoints.source.port * 31u + endpoints.destination.port) & kFlowLabelMask;
}

// The smaller of both ends', where the other end is known.
std::uint32_t path_mtu(const Fabric& fabric, const Id& id) {
  const std::uint32_t own = id.local->device->settings.mtu;
  const auto peer = find_local(fabric, id.endpoints.destination);
  return peer ? std::min(own, peer->device->settings.mtu) : own;
}

const subnet::Node* adapter_with(const Fabric& fabric, const wire::Gid& gid) {
  for (const subnet::Node& node : fabric.subnet().nodes())
    if (!node.is_switch()) {
      const auto gids = gids_of(node);
      if (std::find(gids.begin(), gids.end(), gid) != gids.end()) return &node;
    }
  return nullptr;
}

// What a path record of the subnet manager would say of two ports of its subnet, without quality of service.
std::optional<cm::Path> local_path(const Fabric& fabric, const Id& id) {
  const subnet::Node* const peer = adapter_with(fabric, id.peer);
  if (peer == nullptr) return {};
  const wire::mad::PortInfo& own_port = fabric.subnet().port(*id.local->device->adapter);
  const wire::mad::PortInfo& peer_port = peer->ports[1].info;
  if (own_port.lid == wire::Lid{} || peer_port.lid == wire::Lid{}) return {};
  cm::Path path;
  path.own_lid = own_port.lid;
  path.peer_lid = peer_port.lid;
  path.rate = path_rate(slower(subnet::active_rate(own_port), subnet::active_rate(peer_port)));
  path.hop_limit = 0;
  path.mtu = static_cast<wire::mad::MtuCode>(std::min(own_port.neighbor_mtu, peer_port.neighbor_mtu));
  return path;
}

cm::Path ethernet_path(const Fabric& fabric, const Id& id) {
  cm::Path path;
  path.flow_label = flow_label(id.endpoints);
  path.mtu = static_cast<wire::mad::MtuCode>(limits::mtu_code(path_mtu(fabric, id)));
  return path;
}

}  // namespace

std::optional<cm::Path> make_path(const Fabric& fabric, const Id& id) {
  std::optional<cm::Path> found =
      id.local->device->adapter ? local_path(fabric, id) : ethernet_path(fabric, id);
  if (!found) return {};
  cm::Path& path = *found;
  path.own = id.local->gid;
  path.peer = id.peer;
  path.traffic_class = id.type_of_service;
  path.pkey = partition_of(id);
  path.packet_lifetime = kPacketLifetime;
  // An ACK timeout is twice a packet's lifetime.
  if (id.ack_timeout && *id.ack_timeout > 0)
    path.packet_lifetime = {static_cast<std::uint8_t>(*id.ack_timeout - 1)};
  return found;
}

}  // namespace urnic::control::rdma_cm
