#include "device_model/control/rdma_cm/path_to_peer.hpp"

#include <algorithm>

#include "device_model/control/fabric/limits.hpp"

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

}  // namespace

cm::Path make_path(const Fabric& fabric, const Id& id) {
  cm::Path path;
  path.own = id.local->gid;
  path.peer = id.peer;
  path.flow_label = flow_label(id.endpoints);
  path.traffic_class = id.type_of_service;
  path.mtu = static_cast<wire::mad::MtuCode>(limits::mtu_code(path_mtu(fabric, id)));
  path.packet_lifetime = kPacketLifetime;
  // An ACK timeout is twice a packet's lifetime.
  if (id.ack_timeout && *id.ack_timeout > 0)
    path.packet_lifetime = {static_cast<std::uint8_t>(*id.ack_timeout - 1)};
  return path;
}

}  // namespace urnic::control::rdma_cm
