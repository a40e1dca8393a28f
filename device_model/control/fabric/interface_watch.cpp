#include "device_model/control/fabric/interface_watch.hpp"

#include <net/if.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/netlink_attributes.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/switch.hpp"
#include "wire/network_headers.hpp"

// linux/if.h has it, which does not go with net/if.h.
#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000
#endif

namespace urnic::control {
namespace {

bool contains(const std::vector<std::uint32_t>& indexes, std::uint32_t index) {
  return std::find(indexes.begin(), indexes.end(), index) != indexes.end();
}

// 127.0.0.2 is the host's own, too, though no interface lists it.
bool is_listed(const wire::Gid& gid) { return !wire::is_ipv4_mapped(gid) || gid.bytes[12] != 127; }

}  // namespace

memory::Descriptor open_interface_news() {
  memory::Descriptor opened(socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl name{};
  name.nl_family = AF_NETLINK;
  name.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (!opened || bind(opened.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    throw std::system_error(errno, std::generic_category(), "netlink: changes of interfaces");
  return opened;
}

InterfaceWatch::InterfaceWatch(EventLoop& loop, Fabric& fabric, Changes changes)
    : fabric_(fabric), changes_(std::move(changes)) {
  for (const auto& device : fabric.devices()) watch_ways_out(*device);
  if (!watched_.empty()) begin(loop, open_interface_news());
}

InterfaceWatch::InterfaceWatch(EventLoop& loop, Fabric& fabric, Changes changes, memory::Descriptor news)
    : fabric_(fabric), changes_(std::move(changes)) {
  if (!news) return;
  for (const auto& device : fabric.devices()) {
    if (!device->interface) continue;
    interfaces_[device->interface->index].known = *device->interface;
    watched_.push_back({*device, {{device->interface->index}}, true});
  }
  begin(loop, std::move(news));
}

void InterfaceWatch::begin(EventLoop& loop, memory::Descriptor news) {
  socket_ = std::move(news);
  watch_ = ScopedWatch(loop, socket_.get(), EPOLLIN, [this](std::uint32_t) { take_messages(); });
  ask_for_list();
}

// Until the kernel says more, what was found when the port was opened.
void InterfaceWatch::watch_ways_out(ServedDevice& device) {
  Watched watched{device, {}, true};
  const LanSettings& lan = fabric_.lan_settings();
  if (device.udp != nullptr) {
    for (const link::LocalInterface& interface : device.udp->interfaces) {
      interfaces_[interface.index].known = interface;
      watched.places.push_back({interface.index});
    }
  } else if (fabric_.lan() != nullptr && lan.is_interface()) {
    const std::string& name = lan.carrier.name;
    const std::uint32_t index = if_nametoindex(name.c_str());
    interfaces_[index].known = {name, index, lan.mtu};
    watched.places.push_back({index});
  } else {
    return;
  }
  watched_.push_back(std::move(watched));
}

// Of all interfaces, and then of all addresses: the kernel makes one list at a time.
void InterfaceWatch::ask_for_list() {
  if (list_.request != 0) {
    list_.again = true;
    return;
  }
  ask(RTM_GETLINK);
}

void InterfaceWatch::ask(std::uint16_t request) {
  list_ = {request, list_.again, {}, {}};
  struct {
    nlmsghdr header;
    ifinfomsg body;  // all zero: it serves for addresses, too
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = request;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  if (send(socket_.get(), &message, sizeof message, MSG_DONTWAIT) > 0) return;
  log::error("the state of network interfaces cannot be asked for: {}", std::strerror(errno));
  list_.request = 0;
}

// What the kernel has not named is not there.
void InterfaceWatch::end_list() {
  if (list_.request == RTM_GETLINK) {
    std::erase_if(interfaces_, [this](const auto& each) { return !contains(list_.links, each.first); });
  } else {
    for (Watched& watched : watched_) keep_listed_addresses(watched);
  }
  for (Watched& watched : watched_) follow(watched);
  if (list_.request == RTM_GETLINK) return ask(RTM_GETADDR);
  list_.request = 0;
  if (std::exchange(list_.again, false)) ask_for_list();
}

void InterfaceWatch::keep_listed_addresses(Watched& watched) {
  if (watched.device.interface) return keep_listed_own_addresses(watched);
  if (watched.device.udp == nullptr) return;
  for (std::size_t i = 0; i < watched.places.size(); ++i) {
    const wire::Gid& gid = watched.device.udp->addresses[i];
    if (!is_listed(gid)) continue;
    std::erase_if(watched.places[i], [&](std::uint32_t index) {
      const auto& listed = list_.addresses;
      return std::find(listed.begin(), listed.end(), std::pair(gid, index)) == listed.end();
    });
  }
}

// ENOBUFS: the kernel has dropped messages (netlink(7)).
void InterfaceWatch::take_messages() {
  alignas(nlmsghdr) std::array<std::byte, 32768> buffer;
  const ssize_t received = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (received < 0 && errno == ENOBUFS) return ask_for_list();
  auto left = static_cast<unsigned>(std::max<ssize_t>(received, 0));
  for (const auto* message = reinterpret_cast<const nlmsghdr*>(buffer.data()); NLMSG_OK(message, left);
       message = NLMSG_NEXT(message, left)) {
    take_message(*message);
  }
  if (received > 0 && changes_.own) tell_of_own();
}

void InterfaceWatch::take_message(const nlmsghdr& message) {
  switch (message.nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      take_link(message);
      break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
      take_address(message);
      break;
    case NLMSG_DONE:
      end_list();
      break;
    case NLMSG_ERROR:
      log::error("the kernel does not tell the state of network interfaces");
      list_.request = 0;
      break;
    default:
      break;
  }
}

void InterfaceWatch::take_link(const nlmsghdr& message) {
  const auto& header = *static_cast<const ifinfomsg*>(NLMSG_DATA(&message));
  const auto index = static_cast<std::uint32_t>(header.ifi_index);
  if (header.ifi_family == AF_BRIDGE) return;  // a port of a bridge: comes and goes while the interface stays
  if (message.nlmsg_type == RTM_DELLINK) {
    forget_own_addresses(index);
    interfaces_.erase(index);
  } else {
    constexpr unsigned kRunning = IFF_UP | IFF_LOWER_UP;
    Interface& interface = interfaces_[index];
    interface.running = (header.ifi_flags & kRunning) == kRunning;
    interface.is_up = (header.ifi_flags & IFF_UP) != 0;
    interface.known.index = index;
    const auto name = attribute<ifinfomsg>(message, IFLA_IFNAME);
    if (!name.empty()) interface.known.name = text_of(name);
    const auto mtu = number_of<std::uint32_t>(attribute<ifinfomsg>(message, IFLA_MTU));
    if (mtu != 0) interface.known.mtu = mtu;
    take_vlan(message, interface);
    if (list_.request != 0) list_.links.push_back(index);
  }
  for (Watched& watched : watched_) follow(watched);
}

void InterfaceWatch::take_address(const nlmsghdr& message) {
  const auto local = attribute<ifaddrmsg>(message, IFA_LOCAL);
  const wire::Gid gid = gid_of(local.empty() ? attribute<ifaddrmsg>(message, IFA_ADDRESS) : local);
  const std::uint32_t index = static_cast<const ifaddrmsg*>(NLMSG_DATA(&message))->ifa_index;
  const bool present = message.nlmsg_type == RTM_NEWADDR;
  if (present && list_.request != 0) list_.addresses.emplace_back(gid, index);
  for (Watched& watched : watched_) {
    if (watched.device.interface) take_own_address(watched, gid, index, present);
    if (watched.device.udp != nullptr) take_wire_address(watched, gid, index, present);
  }
}

void InterfaceWatch::take_wire_address(Watched& watched, const wire::Gid& gid, std::uint32_t index,
                                       bool present) {
  const auto& addresses = watched.device.udp->addresses;
  const auto found = std::find(addresses.begin(), addresses.end(), gid);
  if (found == addresses.end()) return;
  const auto number = static_cast<std::size_t>(found - addresses.begin());
  // Another interface's link-local address is another address (RFC 4291, 2.5.6): its socket stays here.
  if (wire::is_link_local(gid) && watched.device.udp->interfaces[number].index != index) return;
  Indexes& places = watched.places[number];
  if (!present) std::erase(places, index);
  if (present && !contains(places, index)) places.push_back(index);
  follow(watched);
}

void InterfaceWatch::follow(Watched& watched) {
  if (watched.device.udp != nullptr)
    for (std::size_t i = 0; i < watched.places.size(); ++i) follow_address(watched, i);
  follow_mtu(watched);
  follow_state(watched);
}

// The GID table follows the addresses as that of a NIC does: the entry of one that is gone is empty.
void InterfaceWatch::follow_address(Watched& watched, std::size_t index) {
  ServedDevice& device = watched.device;
  const wire::Gid& address = device.udp->addresses[index];
  const Indexes& places = watched.places[index];
  link::LocalInterface& shown = device.udp->interfaces[index];
  const auto interface = places.empty() ? interfaces_.end() : interfaces_.find(places.front());
  const bool moved = interface != interfaces_.end() && interface->second.known.name != shown.name;
  if (interface != interfaces_.end()) {
    move_groups(device, index, interface->first);
    shown = interface->second.known;
  }
  auto& gids = device.settings.gids;
  const wire::Gid wanted = places.empty() ? wire::Gid{} : address;
  const bool changed = gids[index] != wanted;
  if (changed) {
    log::info("{}: the address {} is {}", device.settings.name, to_text(address),
              places.empty() ? "gone" : "back");
    gids[index] = wanted;
    fabric_.gids_changed(device);
  }
  if (moved) log::info("{}: the address {} is on {} now", device.settings.name, to_text(address), shown.name);
  if (changed || moved) changes_.gid(device, index);
}

void InterfaceWatch::move_groups(ServedDevice& device, std::size_t index, std::uint32_t interface) {
  if (device.udp->interfaces[index].index == interface) return;
  fabric_.engine(device).execute([&] {
    try {
      device.udp->port.move({device.udp->addresses[index], interface});
    } catch (const std::system_error& error) {
      log::error("{}: {}", device.settings.name, error.what());
    }
  });
}

// A packet may leave by any of the interfaces, and the port has one MTU.
void InterfaceWatch::follow_mtu(Watched& watched) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const std::uint32_t of_lan = fabric_.lan_settings().mtu;
  const bool is_lan = watched.device.udp == nullptr && !watched.device.interface;
  std::uint32_t smallest = is_lan && of_lan != 0 ? of_lan : kNone;
  for (const Indexes& places : watched.places)
    for (const std::uint32_t index : places)
      if (const auto found = interfaces_.find(index);
          found != interfaces_.end() && found->second.known.mtu != 0)
        smallest = std::min(smallest, found->second.known.mtu);
  if (smallest == kNone) return;
  DeviceSettings& settings = watched.device.settings;
  const std::uint32_t before = settings.mtu;
  Fabric::fit_mtu(watched.device, smallest);
  if (UdpWire* const udp = watched.device.udp.get()) {
    udp->interface = udp->interfaces.front();
    udp->interface.mtu = smallest;
  }
  if (settings.mtu != before)
    log::info("{}: its interfaces have an MTU of {} now, and the port one of {}", settings.name, smallest,
              settings.mtu);
}

// The port works as long as one of its addresses does. A cut by a person is the link's own (link.hpp); the
// device's own interface runs or not by that, so only what the host wants of it counts.
void InterfaceWatch::follow_state(Watched& watched) {
  const bool is_own = watched.device.interface.has_value();
  const auto is_running = [&](std::uint32_t index) {
    const auto found = interfaces_.find(index);
    return found != interfaces_.end() && (is_own ? found->second.is_up : found->second.running);
  };
  const bool carrier = std::any_of(watched.places.begin(), watched.places.end(), [&](const Indexes& places) {
    return std::any_of(places.begin(), places.end(), is_running);
  });
  if (carrier == watched.carrier) return;
  watched.carrier = carrier;
  const ServedDevice& device = watched.device;
  fabric_.engine(device).execute([&] { fabric_.switch_of(device).link(device.index).set_carrier(carrier); });
  log::info("{}: its wire {}", device.settings.name, carrier ? "works" : "is down");
  changes_.link(device);
}

}  // namespace urnic::control
