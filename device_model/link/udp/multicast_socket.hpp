// Multicast groups on the host: the kernel joins them for a socket (IGMP and MLD are its own).
#pragma once

#include <cstdint>

#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

// Datagrams to groups leave a socket that sends by the interface `scope`, with the hop limit of others. Best
// effort.
void prepare_to_send_to_groups(int socket, bool ipv4, std::uint32_t scope);

// Bound to `group` and `port`, and to the interface `scope` if the group needs one (wire::needs_interface).
// It is a member on no interface yet. Other sockets of the host may be bound to the same. Throws
// std::system_error with a sentence.
memory::Descriptor open_group_socket(const wire::Gid& group, std::uint32_t scope, std::uint16_t port);
// Makes it a member on an interface. Throws std::system_error with a sentence.
void join_group(int socket, const wire::Gid& group, std::uint32_t interface);
// The opposite. On an interface that is gone, the kernel has left the group.
void leave_group(int socket, const wire::Gid& group, std::uint32_t interface);

}  // namespace urnic::link
