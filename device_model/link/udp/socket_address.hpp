// Between GIDs and the socket addresses of UDP port 4791.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::link {

// Of either family.
union SocketAddress {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
};

// An IPv4-mapped GID is an IPv4 address. `scope` is the interface of an IPv6 address that needs one
// (wire::needs_interface).
SocketAddress to_socket_address(const wire::Gid& gid, std::uint16_t port, std::uint32_t scope);
wire::Gid to_gid(const SocketAddress& address);
std::uint16_t port_of(const SocketAddress& address);
socklen_t size_of(const SocketAddress& address);

// The Ethernet address of a host, in the frames that stand for its datagrams: locally administered, with its
// last four bytes of IP address.
wire::MacAddress stand_in_mac(const wire::Gid& host);

}  // namespace urnic::link
