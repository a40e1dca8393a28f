// Translates an address vector into packet headers, as rdma_core's address resolution and the driver do on a
// real machine.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "wire/identifiers.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {

// 0 and `path`, or the kernel's errno. On InfiniBand: EINVAL for a LID that is no port's, and while the
// device's own port has none; ENODATA as below. On RoCE: EINVAL for an address vector that RoCE cannot use
// (no GRH, another port, a source GID index beyond the table, multicast, two address families); ENODATA for a
// place of the GID table without a GID; ETIMEDOUT when no device has the destination GID in the source's
// VLAN, as when the kernel's neighbour discovery gets no answer; kNotYet while the network is asked. On a UDP
// wire every address is one to send to.
int resolve_path(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                 wire::Qpn own, wire::Qpn destination, wire::NetworkHeaders& path);

// As resolve_path, for datagrams, which may go to a multicast group: the group gives the Ethernet address,
// and an IPv4-mapped GID may send to an IPv6 group, in an IPv6 packet.
int resolve_address(const Fabric& fabric, const ServedDevice& device, const abi::AddressVector& address,
                    wire::NetworkHeaders& path);

}  // namespace urnic::control
