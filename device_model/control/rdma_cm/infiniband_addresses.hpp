// Addresses of AF_IB: GIDs of InfiniBand ports, with a P_Key and a service id (struct sockaddr_ib). Ethernet
// devices have none: Linux lets nobody bind to a GID of RoCE, and finds no route from one.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/rdma_cm/id.hpp"
#include "device_model/control/rdma_cm/local_addresses.hpp"
#include "device_model/control/rdma_cm/ports.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control::rdma_cm {

// The port space whose ports the service id of `address` names, for an identifier of the space `asked`
// (Linux's cma_select_ib_ps): RDMA_PS_IB may name those of TCP and UDP, too. Fixes the upper bits of the
// service id. Empty: none, which is EPROTONOSUPPORT.
std::optional<PortSpace> select_port_space(PortSpace asked, SocketAddress& address);

// The InfiniBand device whose port has the GID.
std::optional<LocalAddress> find_by_gid(const Fabric& fabric, const wire::Gid& gid);

// The way from `source`, or from the device that Linux chooses if that has no GID (cma_resolve_ib_dev): the
// first that has the destination's GID itself, or that is active and has a GID of its subnet, and in either
// case its P_Key. Always at once: ENODEV if there is none. Nobody asks whether the destination is there.
RouteAnswer find_gid_route(const Fabric& fabric, const SocketAddress& source,
                           const SocketAddress& destination);

// The partition of an identifier's packets: what its address says; for IP addresses the default one, as that
// of an interface of IPoIB.
wire::Pkey partition_of(const Id& id);

}  // namespace urnic::control::rdma_cm
