// Multicast groups of InfiniBand as rdma_cm makes them of addresses.
#pragma once

#include "device_model/control/rdma_cm/id.hpp"
#include "device_model/control/rdma_cm/ports.hpp"
#include "device_model/control/rdma_cm/socket_address.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/subnet_administration.hpp"

namespace urnic::control::rdma_cm {

// The group's GID (Linux's cma_set_mgid). An IP address is mapped as by IPoIB (RFC 4391, 4), in the partition
// `pkey` and the scope of the subnet, but with a signature of rdma_cm's own where `space` is UDP. A GID, and
// an IPv6 address that the subnet manager has given, stand for themselves. No address at all: GID of zeros,
// and the manager chooses.
wire::Gid group_gid(const SocketAddress& group, PortSpace space, wire::Pkey pkey);

// What the identifier asks the subnet manager for. It has a device.
wire::mad::MulticastMemberRecord group_request(const Id& id, const SocketAddress& group, bool sends_only);

}  // namespace urnic::control::rdma_cm
