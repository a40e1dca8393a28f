// Multicast groups of InfiniBand as rdma_cm makes them of addresses.
#pragma once

#include "device_model/control/rdma_cm/id.hpp"
#include "device_model/control/rdma_cm/ports.hpp"
#include "device_model/control/rdma_cm/socket_address.hpp"
#include "device_model/subnet/administration/memberships.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/subnet_administration.hpp"

namespace urnic::control::rdma_cm {

// The group's GID (Linux's cma_set_mgid). An IP address is mapped as by IPoIB (RFC 4391, 4), in the partition
// `pkey` and the scope of the subnet, but with a signature of rdma_cm's own where `space` is UDP. A GID, and
// an IPv6 address that the subnet manager has given, stand for themselves. No address at all: GID of zeros,
// and the manager chooses.
wire::Gid group_gid(const SocketAddress& group, PortSpace space, wire::Pkey pkey);

// What the identifier, which has a device, asks the subnet manager for (Linux's cma_join_ib_multicast). In
// the port space IPOIB the group is to be like `broadcast`, that of its device; else it is null, and the
// Q_Key rdma_cm's own.
subnet::administration::MembershipRequest group_request(const Id& id, const SocketAddress& group,
                                                        bool sends_only,
                                                        const wire::mad::MulticastMemberRecord* broadcast);

// What the interface of the port with the GID asks for: to be in the broadcast group of the default partition
// (RFC 4391, 5), ff12:401b:ffff::ffff:ffff, if there is one (Linux's ipoib_mcast_join).
subnet::administration::MembershipRequest broadcast_request(const wire::Gid& port);

}  // namespace urnic::control::rdma_cm
