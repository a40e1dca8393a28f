// Which device has an IP address. What Linux asks of routes and net devices, urnic answers from the devices'
// GID tables (docs/rdma-cm.md).
#pragma once

#include <optional>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/rdma_cm/socket_address.hpp"

namespace urnic::control::rdma_cm {

// A device as an address names it.
struct LocalAddress {
  ServedDevice* device = nullptr;
  wire::Gid gid;  // of its table: what goes on the wire
};

// The device that `address` names: the one whose GID it is. 127.0.0.N is device N - 1; every other loopback
// address, and 127.0.0.N beyond the last device, is the first device. Empty: no device has it, or the device
// has no GID of that address family.
std::optional<LocalAddress> find_local(const Fabric& fabric, const SocketAddress& address);

// Whether any device has an address of the family.
bool has_address_of(const Fabric& fabric, Family family);

// 127.0.0.1 for the first device, 127.0.0.2 for the second one; ::1.
SocketAddress loopback_address(const ServedDevice& device, Family family);

// One connection's two ends.
struct Route {
  LocalAddress local;
  SocketAddress source;  // as the program sees it; the port is the caller's
  wire::Gid peer;
};

// The way to `destination`. An any-address as `source` leaves the choice of the device: the one that has the
// destination, else the first one with a suitable GID. Empty: no device and no neighbour has the destination.
std::optional<Route> find_route(const Fabric& fabric, const SocketAddress& source,
                                const SocketAddress& destination);

}  // namespace urnic::control::rdma_cm
