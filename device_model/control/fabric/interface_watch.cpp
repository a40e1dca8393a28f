#include "device_model/control/fabric/interface_watch.hpp"

#include <net/if.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/netlink_attributes.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/switch.hpp"

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

// Asks what all interfaces are like now.
void ask_for_links(int socket) {
  struct {
    nlmsghdr header;
    ifinfomsg body;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  send(socket, &request, sizeof request, MSG_DONTWAIT);
}

}  // namespace

InterfaceWatch::InterfaceWatch(EventLoop& loop, Fabric& fabric, Changes changes)
    : fabric_(fabric), changes_(std::move(changes)) {
  const LanSettings& lan = fabric.lan_settings();
  const bool on_interface = fabric.lan() != nullptr && lan.is_interface();
  for (const auto& device : fabric.devices()) {
    Watched watched{*device, {}, true};
    if (device->udp != nullptr) {
      for (const link::LocalInterface& interface : device->udp->interfaces)
        watched.interfaces.push_back({interface.index, interface.mtu, true, true});
    } else if (on_interface) {
      watched.interfaces.push_back({if_nametoindex(lan.carrier.name.c_str()), lan.mtu, true, true});
    } else {
      continue;
    }
    watched_.push_back(std::move(watched));
  }
  if (watched_.empty()) return;
  socket_ = open_socket();
  watch_ = ScopedWatch(loop, socket_.get(), EPOLLIN, [this](std::uint32_t) { take_messages(); });
  ask_for_links(socket_.get());
}

// ENOBUFS: the kernel has dropped messages (netlink(7)).
void InterfaceWatch::take_messages() {
  alignas(nlmsghdr) std::array<std::byte, 32768> buffer;
  const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (received < 0 && errno == ENOBUFS) return ask_for_links(socket_.get());
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

void InterfaceWatch::link_message(std::uint32_t index, bool running, std::uint32_t mtu) {
  for (Watched& watched : watched_) {
    bool found = false;
    for (Interface& interface : watched.interfaces) {
      if (interface.index != index) continue;
      found = true;
      interface.running = running;
      if (mtu != 0) interface.mtu = mtu;
    }
    if (!found) continue;
    follow_mtu(watched);
    follow_state(watched);
  }
}

// A packet may leave by any of the interfaces, and the port has one MTU.
void InterfaceWatch::follow_mtu(Watched& watched) {
  std::uint32_t smallest = fabric_.lan_settings().mtu;
  if (watched.device.udp != nullptr || smallest == 0) smallest = std::numeric_limits<std::uint32_t>::max();
  for (const Interface& interface : watched.interfaces) smallest = std::min(smallest, interface.mtu);
  DeviceSettings& settings = watched.device.settings;
  const std::uint32_t before = settings.mtu;
  Fabric::fit_mtu(watched.device, smallest);
  if (watched.device.udp != nullptr) watched.device.udp->interface.mtu = smallest;
  if (settings.mtu != before)
    log::info("{}: its interfaces have an MTU of {} now, and the port one of {}", settings.name, smallest,
              settings.mtu);
}

// The GID table follows the addresses as that of a NIC does: the entry of one that is gone is empty.
void InterfaceWatch::address_message(const wire::Gid& gid, bool present) {
  for (Watched& watched : watched_) {
    if (watched.device.udp == nullptr) continue;
    const auto& addresses = watched.device.udp->addresses;
    const auto found = std::find(addresses.begin(), addresses.end(), gid);
    if (found == addresses.end()) continue;
    const auto index = static_cast<std::size_t>(found - addresses.begin());
    if (watched.interfaces[index].has_address == present) continue;
    watched.interfaces[index].has_address = present;
    log::info("{}: the address {} is {}", watched.device.settings.name, to_text(gid),
              present ? "back" : "gone");
    auto& gids = watched.device.settings.gids;
    gids[index] = present ? gid : wire::Gid{};
    fabric_.engine(watched.device).execute([&] { watched.device.device->set_gids(gids); });
    changes_.gid(watched.device, index);
    follow_state(watched);
  }
}

// The port works as long as one of its addresses does.
void InterfaceWatch::follow_state(Watched& watched) {
  const bool carrier =
      std::any_of(watched.interfaces.begin(), watched.interfaces.end(),
                  [](const Interface& interface) { return interface.running && interface.has_address; });
  if (carrier == watched.carrier) return;
  watched.carrier = carrier;
  const ServedDevice& device = watched.device;
  fabric_.engine(device).execute([&] { fabric_.switch_of(device).link(device.index).set_carrier(carrier); });
  log::info("{}: its wire {}", device.settings.name, carrier ? "works" : "is down");
  changes_.link(device);
}

}  // namespace urnic::control
