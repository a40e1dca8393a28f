#include "device_model/engine/management/management_queue_pair.hpp"

#include <algorithm>
#include <cstring>

#include "device_model/engine/device/port_egress.hpp"
#include "device_model/engine/management/management_traffic.hpp"
#include "device_model/engine/round/round.hpp"
#include "device_model/link/port.hpp"
#include "device_model/transport/counters.hpp"
#include "device_model/transport/partition_key.hpp"

namespace urnic::engine {

namespace {

// MADs of a device that may wait for its port.
constexpr std::uint32_t kLeaving = 256;
constexpr wire::Opcode kSendOnly(wire::Service::ud, wire::Operation::send_only);

std::size_t frame_bytes(const LeavingDatagram& datagram) {
  return datagram.header_bytes + kMadBytes + datagram.trailer_bytes;
}

}  // namespace

ManagementQueuePair::ManagementQueuePair(const DeviceResources& device, ManagementTraffic& traffic)
    : device_(device), traffic_(traffic), leaving_(kLeaving) {
  traffic.add(*this);
}

bool ManagementQueuePair::post(const wire::NetworkHeaders& network, wire::Qpn destination, wire::Pkey pkey,
                               std::span<const std::byte, kMadBytes> mad) {
  LeavingDatagram* const entry = leaving_.free_entry();
  if (entry == nullptr) return false;
  wire::TransportHeaders headers;
  headers.bth.opcode = kSendOnly;
  headers.bth.pkey = pkey;
  headers.bth.destination = destination;
  headers.bth.psn = wire::Psn(posted_++);
  headers.deth.qkey = kManagementQkey;
  headers.deth.source = kGeneralServicesQpn;
  std::copy(mad.begin(), mad.end(), entry->mad.begin());
  const wire::Frame frame = wire::encode(network, headers, entry->mad, entry->storage);
  entry->header_bytes = static_cast<std::uint32_t>(frame.headers.size());
  entry->trailer_bytes = static_cast<std::uint32_t>(frame.trailer.size());
  leaving_.publish();
  traffic_.ring();
  return true;
}

bool ManagementQueuePair::has_room() const { return leaving_.is_half_empty() && traffic_.has_room(); }

std::uint32_t ManagementQueuePair::send(std::uint32_t most) {
  std::uint32_t sent = 0;
  for (; sent < most; ++sent) {
    const LeavingDatagram* const datagram = leaving_.front();
    if (datagram == nullptr) break;
    Round& round = device_.round;
    const std::size_t bytes = frame_bytes(*datagram);
    if (device_.port.room(round.now(), round.filling().number, bytes) < bytes) break;
    std::byte* const payload = round.filling().arena->take(kMadBytes);
    if (payload == nullptr) break;
    transmit(*datagram, payload);
    leaving_.pop();
  }
  return sent;
}

// The frame's payload stays in `payload`, of the round's arena, until the batch ends.
void ManagementQueuePair::transmit(const LeavingDatagram& datagram, std::byte* payload) {
  std::copy(datagram.mad.begin(), datagram.mad.end(), payload);
  const wire::Frame frame{.headers = {datagram.storage.headers.data(), datagram.header_bytes},
                          .payload = {payload, kMadBytes},
                          .trailer = {datagram.storage.trailer.data(), datagram.trailer_bytes},
                          .link_layer = device_.link_layer};
  // No program's queue pair has the ordinal 0.
  const link::PacketOrigin origin{.identity = {device_.number, 0, ++counters_.sent},
                                  .queue_pair = kGeneralServicesQpn,
                                  .device = device_.mac};
  device_.port.transmit(frame, origin, device_.round.now());
}

transport::Time ManagementQueuePair::room_at() const {
  return device_.port.room_at(wire::kMaxHeaderBytes + kMadBytes + wire::kMaxTrailerBytes);
}

// A queue pair of its own has one P_Key; for QP1 any of the port's will do (IBTA 10.9.3).
std::optional<std::uint16_t> ManagementQueuePair::index_of(wire::Pkey pkey) const {
  const auto found = std::find_if(pkeys_.begin(), pkeys_.end(), [&](std::uint16_t own) {
    return transport::pkeys_match(pkey, wire::Pkey{own});
  });
  if (found == pkeys_.end()) return {};
  return static_cast<std::uint16_t>(found - pkeys_.begin());
}

// The index of the P_Key that lets it in. What does not check out is dropped silently (IBTA 9.6.1, 9.8.3.2).
std::optional<std::uint16_t> ManagementQueuePair::admit(const transport::InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  if (bth.opcode != kSendOnly || packet.payload.size() != kMadBytes) {
    ++counters_.malformed;
    return {};
  }
  const auto pkey_index = index_of(bth.pkey);
  if (!pkey_index) {
    ++device_.counters.pkey_violations;
    return {};
  }
  if (packet.headers.deth.qkey != kManagementQkey) {
    ++device_.counters.qkey_violations;
    return {};
  }
  return pkey_index;
}

void ManagementQueuePair::receive(const transport::InboundPacket& packet,
                                  const wire::NetworkHeaders& network) {
  const auto pkey_index = admit(packet);
  if (!pkey_index) return;
  ArrivedDatagram* const entry = traffic_.arrival_entry(*this);
  if (entry == nullptr) {
    ++counters_.no_room;
    return;
  }
  entry->queue_pair = this;
  entry->own = network.destination.bytes;
  entry->peer = network.source.bytes;
  entry->peer_mac = network.source_mac.bytes;
  entry->peer_qpn = packet.headers.deth.source.value;
  entry->flow_label = network.flow_label;
  entry->traffic_class = network.traffic_class;
  entry->service_level = network.local
                             ? network.local->service_level
                             : static_cast<std::uint8_t>(network.vlan_tag >> wire::kVlanPriorityShift);
  entry->peer_lid = network.local ? network.local->source.value : std::uint16_t{0};
  entry->pkey_index = *pkey_index;
  entry->hop_limit = network.hop_limit;
  std::copy(packet.payload.begin(), packet.payload.end(), entry->mad.begin());
  ++counters_.received;
  traffic_.publish_arrival(*this);
}

}  // namespace urnic::engine
