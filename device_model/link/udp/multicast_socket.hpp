// Multicast groups on the host: the kernel joins them for a socket (IGMP and MLD are its own).
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

// Datagrams to groups leave a socket that sends by the interface `scope`, with the hop limit of others. Best
// effort.
void prepare_to_send_to_groups(int socket, bool ipv4, std::uint32_t scope);

// A member of `group` on `interfaces`, bound to it and `port`; other sockets of the host may be members, too.
// Throws std::system_error with a sentence.
memory::Descriptor open_group_socket(const wire::Gid& group, std::uint16_t port,
                                     const std::vector<std::uint32_t>& interfaces);

}  // namespace urnic::link
