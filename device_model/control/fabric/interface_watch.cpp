#include "device_model/control/fabric/interface_watch.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "device_model/control/log/log.hpp"

// linux/if.h has it, which does not go with net/if.h.
#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000
#endif

namespace urnic::control {
namespace {

memory::Descriptor open_socket() {
  memory::Descriptor opened(socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl name{};
  name.nl_family = AF_NETLINK;
  name.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (!opened || bind(opened.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    throw std::system_error(errno, std::generic_category(), "netlink: changes of interfaces");
  return opened;
}

// The attribute of a message whose header of type `Header` its attributes follow; empty if there is none.
template <typename Header>
std::span<const std::byte> attribute(const nlmsghdr& message, unsigned short wanted) {
  const auto* at = reinterpret_cast<const std::byte*>(&message) + NLMSG_LENGTH(NLMSG_ALIGN(sizeof(Header)));
  const std::byte* const end = reinterpret_cast<const std::byte*>(&message) + message.nlmsg_len;
  rtattr head;
  for (; at + sizeof head <= end; at += RTA_ALIGN(head.rta_len)) {
    std::memcpy(&head, at, sizeof head);
    if (head.rta_len < sizeof head || at + head.rta_len > end) return {};
    if (head.rta_type == wanted) return {at + RTA_LENGTH(0), head.rta_len - RTA_LENGTH(0)};
  }
  return {};
}

wire::Gid gid_of(std::span<const std::byte> address) {
  wire::Gid gid;
  if (address.size() == 4) gid.bytes[10] = gid.bytes[11] = 0xFF;
  if (address.size() <= gid.bytes.size() && !address.empty())
    std::memcpy(gid.bytes.data() + gid.bytes.size() - address.size(), address.data(), address.size());
  return gid;
}

}  // namespace

InterfaceWatch::InterfaceWatch(EventLoop& loop, Fabric& fabric,
                               std::function<void(const ServedDevice& device, bool up)> changed)
    : fabric_(fabric), changed_(std::move(changed)) {
  for (const auto& device : fabric.devices()) {
    if (device->udp != nullptr)
      watched_.push_back({*device, true, std::vector<bool>(device->settings.gids.size(), true)});
  }
  if (watched_.empty()) return;
  socket_ = open_socket();
  watch_ = ScopedWatch(loop, socket_.get(), EPOLLIN, [this](std::uint32_t) { take_messages(); });
}

void InterfaceWatch::take_messages() {
  alignas(nlmsghdr) std::array<std::byte, 16384> buffer;
  const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  auto left = static_cast<unsigned>(std::max<ssize_t>(received, 0));
  for (const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data()); NLMSG_OK(message, left);
       message = NLMSG_NEXT(message, left)) {
    const auto* const body = NLMSG_DATA(message);
    if (message->nlmsg_type == RTM_NEWLINK || message->nlmsg_type == RTM_DELLINK) {
      const auto& header = *static_cast<const ifinfomsg*>(body);
      constexpr unsigned kRunning = IFF_UP | IFF_LOWER_UP;
      const bool running = message->nlmsg_type == RTM_NEWLINK && (header.ifi_flags & kRunning) == kRunning;
      std::uint32_t mtu = 0;
      const auto value = attribute<ifinfomsg>(*message, IFLA_MTU);
      if (value.size() == sizeof mtu) std::memcpy(&mtu, value.data(), sizeof mtu);
      link_message(static_cast<std::uint32_t>(header.ifi_index), running, mtu);
    } else if (message->nlmsg_type == RTM_NEWADDR || message->nlmsg_type == RTM_DELADDR) {
      const auto local = attribute<ifaddrmsg>(*message, IFA_LOCAL);
      const auto address = local.empty() ? attribute<ifaddrmsg>(*message, IFA_ADDRESS) : local;
      address_message(gid_of(address), message->nlmsg_type == RTM_NEWADDR);
    }
  }
}

void InterfaceWatch::link_message(std::uint32_t interface, bool running, std::uint32_t mtu) {
  for (Watched& watched : watched_) {
    UdpWire& wire = *watched.device.udp;
    if (wire.interface.index != interface) continue;
    watched.running = running;
    if (mtu != 0 && mtu != wire.interface.mtu) {
      wire.interface.mtu = mtu;
      watched.device.settings.mtu = std::min(wire.largest_mtu, std::max(link::path_mtu_for(mtu), 256u));
      log::info("{}: interface {} has an MTU of {} now, and the port one of {}", watched.device.settings.name,
                wire.interface.name, mtu, watched.device.settings.mtu);
    }
    follow(watched);
  }
}

void InterfaceWatch::address_message(const wire::Gid& gid, bool present) {
  for (Watched& watched : watched_) {
    const auto& gids = watched.device.settings.gids;
    const auto found = std::find(gids.begin(), gids.end(), gid);
    if (found == gids.end()) continue;
    watched.has_address[static_cast<std::size_t>(found - gids.begin())] = present;
    follow(watched);
  }
}

void InterfaceWatch::follow(Watched& watched) {
  const auto& present = watched.has_address;
  const bool up = watched.running && std::find(present.begin(), present.end(), false) == present.end();
  if (up == watched.up) return;
  watched.up = up;
  const ServedDevice& device = watched.device;
  fabric_.engine(device).execute([&] {
    link::Link& link = fabric_.switch_of(device).link(device.index);
    up ? link.restore() : link.cut(transport::Time::max());
  });
  changed_(device, up);
}

}  // namespace urnic::control
