#include "device_model/subnet/datagram.hpp"

#include "wire/headers.hpp"
#include "wire/mad/smp.hpp"
#include "wire/network_headers.hpp"

namespace urnic::subnet {
namespace {

constexpr std::uint8_t kManagementLane = 15;  // IBTA 7.6.4
constexpr std::uint32_t kNoQkey = 0;          // of QP0 nobody checks it (IBTA 3.5.3)

bool is_directed(const Datagram& datagram) {
  wire::mad::MadHeader header;
  wire::mad::decode(datagram.mad, header);
  return header.management_class == wire::mad::ManagementClass::subnet_directed_route;
}

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

}  // namespace

wire::Frame packet_of(const Datagram& datagram, wire::Psn psn, wire::FrameStorage& storage) {
  wire::NetworkHeaders network;
  network.local = local_route_of(datagram);
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::ud, wire::Operation::send_only);
  headers.bth.pkey = datagram.pkey;
  headers.bth.destination = wire::Qpn{datagram.destination_qpn};
  headers.bth.psn = psn;
  headers.deth.qkey = datagram.destination_qpn == 0 ? kNoQkey : wire::mad::kManagementQkey.value;
  headers.deth.source = wire::Qpn{datagram.source_qpn};
  return wire::encode(network, headers, datagram.mad, storage);
}

}  // namespace urnic::subnet
