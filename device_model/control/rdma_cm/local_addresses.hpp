// Which device has an IP address, and by which one packets to an address leave. Where devices have network
// interfaces, the routes of their network say that, as on Linux; else the devices' GID tables do
// (docs/rdma-cm.md).
#pragma once

#include <optional>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/rdma_cm/socket_address.hpp"

namespace urnic::control::rdma_cm {

// A device as an address names it.
struct LocalAddress {
  ServedDevice* device = nullptr;
  wire::Gid gid;  // what goes on the wire: of its table, on InfiniBand the port's first one
};

// The device that `address` names: the one whose GID it is. 127.0.0.N is device N - 1; every other loopback
// address, and 127.0.0.N beyond the last device, is the first device. Empty: no device has it, or the device
// has no GID of that address family.
std::optional<LocalAddress> find_local(const Fabric& fabric, const SocketAddress& address);

// Whether any device has an address of the family.
bool has_address_of(const Fabric& fabric, Family family);

// 127.0.0.1 for the first device, 127.0.0.2 for the second one; ::1.
SocketAddress loopback_address(const ServedDevice& device, Family family);

// Whether any device reaches the destination. A loopback address names one.
bool is_reached(const Fabric& fabric, const SocketAddress& destination);

// One connection's two ends.
struct Route {
  LocalAddress local;
  SocketAddress source;  // as the program sees it; the port is the caller's
  wire::Gid peer;
};

struct RouteAnswer {
  std::optional<Route>
      route;      // empty without an error: no device and no neighbour has the destination, so far
  int error = 0;  // there is no way: what the kernel says, or ENODEV: by no device
};

// The way to `destination`. An any-address as `source` leaves the choice of the device: to the routes of the
// devices' network, if they have interfaces; else to the GID tables: the device that has the destination, or
// the first one with a suitable GID.
RouteAnswer find_route(const Fabric& fabric, const SocketAddress& source, const SocketAddress& destination);

}  // namespace urnic::control::rdma_cm
