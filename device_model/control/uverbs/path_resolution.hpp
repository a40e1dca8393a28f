// From an address vector to the headers of the packets: what rdma_core's address resolution and the driver do
// on a real machine.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "wire/identifiers.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {

// 0 and `path`, or the errno that the kernel gives:
// EINVAL for an address vector that RoCE cannot use (no GRH, other port, source GID index that has no GID,
// multicast, two address families), ETIMEDOUT when nobody in the fabric has the destination GID (the kernel's
// neighbour discovery has then had no answer; here that is known at once).
int resolve_path(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                 wire::Qpn own, wire::Qpn destination, wire::NetworkHeaders& path);

// As resolve_path for datagrams, which may go to a multicast group: its Ethernet address follows from it, and
// an IPv6 group may be sent to from an IPv4-mapped GID, in an IPv6 packet.
int resolve_address(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                    wire::NetworkHeaders& path);

// UDP source port of a connection: from the flow label, or where that is 0 from the two QPNs, so that each
// connection takes one way through the network and different connections take different ones
// (IBTA A17.3.1.4; the kernel's rdma_get_udp_sport gives the same number).
std::uint16_t udp_source_port(std::uint32_t flow_label, wire::Qpn own, wire::Qpn destination);

}  // namespace urnic::control
