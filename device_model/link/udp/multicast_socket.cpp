#include "device_model/link/udp/multicast_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "device_model/link/socket_options.hpp"
#include "device_model/link/udp/socket_address.hpp"
#include "device_model/link/udp/udp_socket.hpp"
#include "wire/network_headers.hpp"

namespace urnic::link {
namespace {

[[noreturn]] void fail(const wire::Gid& group, const char* what) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, group.bytes.data(), text, sizeof text);
  throw std::system_error(errno, std::generic_category(),
                          std::string("multicast group ") + text + ": " + what);
}

// `ipv4_option` or `ipv6_option` tells what to do.
bool change_membership(int socket, const wire::Gid& group, std::uint32_t interface, int ipv4_option,
                       int ipv6_option) {
  const SocketAddress address = to_socket_address(group, 0, 0);
  if (address.any.sa_family == AF_INET) {
    ip_mreqn request{};
    request.imr_multiaddr = address.ipv4.sin_addr;
    request.imr_ifindex = static_cast<int>(interface);
    return setsockopt(socket, IPPROTO_IP, ipv4_option, &request, sizeof request) == 0;
  }
  ipv6_mreq request{};
  request.ipv6mr_multiaddr = address.ipv6.sin6_addr;
  request.ipv6mr_interface = interface;
  return setsockopt(socket, IPPROTO_IPV6, ipv6_option, &request, sizeof request) == 0;
}

}  // namespace

void prepare_to_send_to_groups(int socket, bool ipv4, std::uint32_t scope) {
  if (ipv4) {
    ip_mreqn interface {};
    interface.imr_ifindex = static_cast<int>(scope);
    setsockopt(socket, IPPROTO_IP, IP_MULTICAST_IF, &interface, sizeof interface);
    set_option(socket, IPPROTO_IP, IP_MULTICAST_TTL, kUdpHopLimit);
  } else {
    set_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(scope));
    set_option(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, kUdpHopLimit);
  }
}

memory::Descriptor open_group_socket(const wire::Gid& group, std::uint32_t scope, std::uint16_t port) {
  const bool ipv4 = wire::is_ipv4_mapped(group);
  const SocketAddress name = to_socket_address(group, port, scope);
  memory::Descriptor opened(socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!opened) fail(group, "no socket");
  const int level = ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
  const bool set_all = set_option(opened.get(), SOL_SOCKET, SO_REUSEADDR, 1) &&
                       set_option(opened.get(), level, ipv4 ? IP_MULTICAST_ALL : IPV6_MULTICAST_ALL, 0) &&
                       set_option(opened.get(), level, ipv4 ? IP_RECVTOS : IPV6_RECVTCLASS, 1) &&
                       set_option(opened.get(), level, ipv4 ? IP_RECVTTL : IPV6_RECVHOPLIMIT, 1);
  if (!set_all) fail(group, "a socket option is refused");
  if (bind(opened.get(), &name.any, size_of(name)) != 0) fail(group, "cannot be bound");
  return opened;
}

void join_group(int socket, const wire::Gid& group, std::uint32_t interface) {
  if (!change_membership(socket, group, interface, IP_ADD_MEMBERSHIP, IPV6_JOIN_GROUP))
    fail(group, "cannot be joined");
}

void leave_group(int socket, const wire::Gid& group, std::uint32_t interface) {
  change_membership(socket, group, interface, IP_DROP_MEMBERSHIP, IPV6_LEAVE_GROUP);
}

}  // namespace urnic::link
