#include "device_model/link/udp/socket_address.hpp"

#include <arpa/inet.h>

#include <cstring>

#include "wire/network_headers.hpp"

namespace urnic::link {
namespace {

constexpr std::size_t kIpv4At = 12;  // in a mapped GID

}  // namespace

SocketAddress to_socket_address(const wire::Gid& gid, std::uint16_t port, std::uint32_t scope) {
  SocketAddress address{};
  if (wire::is_ipv4_mapped(gid)) {
    address.ipv4.sin_family = AF_INET;
    address.ipv4.sin_port = htons(port);
    std::memcpy(&address.ipv4.sin_addr, gid.bytes.data() + kIpv4At, sizeof address.ipv4.sin_addr);
    return address;
  }
  address.ipv6 = {};
  address.ipv6.sin6_family = AF_INET6;
  address.ipv6.sin6_port = htons(port);
  address.ipv6.sin6_scope_id = wire::needs_interface(gid) ? scope : 0;
  std::memcpy(&address.ipv6.sin6_addr, gid.bytes.data(), gid.bytes.size());
  return address;
}

wire::Gid to_gid(const SocketAddress& address) {
  wire::Gid gid;
  if (address.any.sa_family == AF_INET) {
    gid.bytes[10] = gid.bytes[11] = 0xFF;
    std::memcpy(gid.bytes.data() + kIpv4At, &address.ipv4.sin_addr, sizeof address.ipv4.sin_addr);
  } else {
    std::memcpy(gid.bytes.data(), &address.ipv6.sin6_addr, gid.bytes.size());
  }
  return gid;
}

std::uint16_t port_of(const SocketAddress& address) {
  return ntohs(address.any.sa_family == AF_INET ? address.ipv4.sin_port : address.ipv6.sin6_port);
}

socklen_t size_of(const SocketAddress& address) {
  return address.any.sa_family == AF_INET ? sizeof address.ipv4 : sizeof address.ipv6;
}

wire::MacAddress stand_in_mac(const wire::Gid& host) {
  const auto& b = host.bytes;
  return {{0x02, 0x00, b[12], b[13], b[14], b[15]}};
}

}  // namespace urnic::link
