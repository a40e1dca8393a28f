#include "device_model/link/udp/local_interface.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "device_model/link/udp/socket_address.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/frame.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

bool has_address(const ifaddrs& entry, const wire::Gid& address) {
  if (entry.ifa_addr == nullptr) return false;
  const sa_family_t family = entry.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return false;
  SocketAddress name{};
  std::memcpy(&name, entry.ifa_addr, family == AF_INET ? sizeof name.ipv4 : sizeof name.ipv6);
  return to_gid(name) == address;
}

// 127.0.0.2 is the host's own, too, though no interface lists it: 127/8 is one address block of "lo".
bool is_loopback(const wire::Gid& gid) {
  return to_socket_address(gid, 0, 0).any.sa_family == AF_INET && gid.bytes[12] == 127;
}

}  // namespace

std::uint32_t interface_mtu(const std::string& interface) {
  const memory::Descriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), sizeof request.ifr_name - 1);
  if (ioctl(any.get(), SIOCGIFMTU, &request) != 0)
    throw std::system_error(errno, std::generic_category(), "MTU of " + interface);
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

std::optional<LocalInterface> interface_of(const wire::Gid& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw std::system_error(errno, std::generic_category(), "getifaddrs");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0 && is_loopback(address);
    if (loopback || has_address(*entry, address))
      return LocalInterface{entry->ifa_name, if_nametoindex(entry->ifa_name), interface_mtu(entry->ifa_name)};
  }
  return {};
}

std::uint32_t path_mtu_for(std::uint32_t interface_mtu) {
  constexpr std::uint32_t kHeaders = wire::kMaxHeaderBytes - wire::kEthernetBytes + wire::kMaxTrailerBytes;
  for (std::uint32_t mtu = wire::kMaxPayloadBytes; mtu >= 256; mtu /= 2)
    if (mtu + kHeaders <= interface_mtu) return mtu;
  return 0;
}

}  // namespace urnic::link
