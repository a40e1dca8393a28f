#include "device_model/subnet/datagram.hpp"

#include <algorithm>

#include "wire/headers.hpp"
#include "wire/mad/smp.hpp"
#include "wire/network_headers.hpp"

namespace urnic::subnet {
namespace {

constexpr std::uint8_t kManagementLane = 15;  // IBTA 7.6.4
constexpr wire::Opcode kSendOnly(wire::Service::ud, wire::Operation::send_only);
constexpr std::uint32_t kNoQkey = 0;  // of QP0 nobody checks it (IBTA 3.5.3)

// Both ends of a route that is directed all the way are the permissive LID (IBTA 14.2.2).
wire::LocalRoute local_route_of(const Datagram& datagram) {
  if (datagram.destination_qpn != 0)
    return {.destination = datagram.destination,
            .source = datagram.source,
            .service_level = datagram.service_level};
  if (is_directed(datagram))
    return {
        .destination = wire::kPermissiveLid, .source = wire::kPermissiveLid, .virtual_lane = kManagementLane};
  return {.destination = datagram.destination, .source = datagram.source, .virtual_lane = kManagementLane};
}

// Queue pair 0 has the classes of subnet management, queue pair 1 all others (IBTA 13.5.1).
bool is_for_its_queue_pair(const Datagram& datagram, std::uint32_t qkey) {
  wire::mad::MadHeader header;
  if (decode(datagram.mad, header) != wire::mad::MadError::none) return false;
  const std::uint32_t qpn = is_subnet_management(header.management_class) ? 0 : 1;
  const bool is_keyed = qpn == 0 || qkey == wire::mad::kManagementQkey.value;
  return is_keyed && datagram.destination_qpn == qpn && datagram.source_qpn == qpn;
}

}  // namespace

bool is_directed(const Datagram& datagram) {
  wire::mad::MadHeader header;
  decode(datagram.mad, header);
  return header.management_class == wire::mad::ManagementClass::subnet_directed_route;
}

std::optional<Datagram> datagram_of(const wire::ParsedFrame& packet) {
  const wire::TransportHeaders& headers = packet.transport;
  Datagram datagram;
  if (!packet.network.local || headers.bth.opcode != kSendOnly ||
      packet.payload.size() != datagram.mad.size())
    return {};
  datagram.source = packet.network.local->source;
  datagram.destination = packet.network.local->destination;
  datagram.source_qpn = headers.deth.source.value;
  datagram.destination_qpn = headers.bth.destination.value;
  datagram.service_level = packet.network.local->service_level;
  datagram.pkey = headers.bth.pkey;
  std::copy(packet.payload.begin(), packet.payload.end(), datagram.mad.begin());
  if (!is_for_its_queue_pair(datagram, headers.deth.qkey)) return {};
  return datagram;
}

wire::Frame packet_of(const Datagram& datagram, wire::Psn psn, wire::FrameStorage& storage) {
  wire::NetworkHeaders network;
  network.local = local_route_of(datagram);
  wire::TransportHeaders headers;
  headers.bth.opcode = kSendOnly;
  headers.bth.pkey = datagram.pkey;
  headers.bth.destination = wire::Qpn{datagram.destination_qpn};
  headers.bth.psn = psn;
  headers.deth.qkey = datagram.destination_qpn == 0 ? kNoQkey : wire::mad::kManagementQkey.value;
  headers.deth.source = wire::Qpn{datagram.source_qpn};
  return wire::encode(network, headers, datagram.mad, storage);
}

}  // namespace urnic::subnet
