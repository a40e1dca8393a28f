#include "device_model/control/network/host_network.hpp"

#include <fmt/format.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/ethernet_mtu.hpp"
#include "device_model/control/fabric/interface_watch.hpp"
#include "device_model/control/network/device_interfaces.hpp"
#include "device_model/control/network/way_outside.hpp"
#include "wire/network_codec.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

struct Plan {
  std::uint32_t device = 0;
  InterfacePlan interface;
};

// Devices on a UDP wire have the host's own interface.
std::vector<Plan> plans_of(const Configuration& configuration) {
  std::vector<Plan> plans;
  for (std::uint32_t i = 0; i < configuration.devices.size(); ++i) {
    const DeviceSettings& device = configuration.devices[i];
    if (device.wire_kind != WireKind::built_in) continue;
    if (device.name.size() >= IFNAMSIZ)
      throw std::runtime_error(
          fmt::format("{} cannot have a network interface, whose name has at most {} characters", device.name,
                      IFNAMSIZ - 1));
    if (!device.vlans.empty())
      throw std::runtime_error(
          fmt::format("{} has a GID with a VLAN and a network interface, whose own addresses its GIDs are: "
                      "leave \"vlan\" out, and make an interface of the VLAN with 'ip link add'",
                      device.name));
    std::vector<wire::Gid> addresses = device.gids;
    if (!has_family(AF_INET6))
      std::erase_if(addresses, [](const wire::Gid& each) { return !wire::is_ipv4_mapped(each); });
    plans.push_back({i, {device.name, device.mac, addresses, ethernet_mtu(device.mtu)}});
  }
  return plans;
}

std::vector<OpenInterface> open_all(const RouteSocket& kernel, const std::vector<Plan>& plans) {
  std::vector<OpenInterface> opened;
  opened.reserve(plans.size());
  for (const Plan& plan : plans) opened.push_back(open_interface(kernel, plan.interface));
  return opened;
}

void bring_loopback_up(const RouteSocket& kernel) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(if_nametoindex("lo"));
  header.ifi_flags = header.ifi_change = IFF_UP;
  kernel.carry_out(RouteRequest(RTM_NEWLINK, 0, header), "lo: up");
}

// Runs in the new namespace. The interfaces' ends, in order, then the news of that namespace, then a socket
// that asks for its routes, then one for requests there.
std::vector<memory::Descriptor> fill(const std::vector<Plan>& plans) {
  RouteSocket kernel;
  bring_loopback_up(kernel);
  std::vector<memory::Descriptor> contents;
  contents.reserve(plans.size() + 3);
  for (OpenInterface& each : open_all(kernel, plans)) contents.push_back(std::move(each.tap));
  contents.push_back(open_interface_news());
  contents.push_back(HostRoutes().release());
  contents.push_back(std::move(kernel).release());
  return contents;
}

memory::Descriptor take_last(std::vector<memory::Descriptor>& descriptors) {
  memory::Descriptor last = std::move(descriptors.back());
  descriptors.pop_back();
  return last;
}

// `any` is a socket of the interface's network namespace.
std::uint32_t index_of(int any, const std::string& interface) {
  ifreq request{};
  std::strncpy(request.ifr_name, interface.c_str(), sizeof request.ifr_name - 1);
  if (ioctl(any, SIOCGIFINDEX, &request) != 0)
    throw std::system_error(errno, std::generic_category(), interface + ": its index");
  return static_cast<std::uint32_t>(request.ifr_ifindex);
}

// A port follows one interface: two would each set its state and MTU.
void refuse_second_interface(const Configuration& configuration) {
  if (configuration.lan && configuration.lan->is_interface())
    throw std::runtime_error(
        "devices have no network interfaces beside a LAN on one: remove network or interfaces, or interface "
        "or "
        "tap from [lan]");
}

RoutesBetweenDevices routes_between(const std::vector<Plan>& plans,
                                    const std::vector<DeviceInterface>& interfaces, RouteSocket kernel) {
  std::vector<std::string> names;
  std::vector<InterfaceState> states;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    names.push_back(plans[i].interface.name);
    states.push_back({interfaces[i].interface.index, true, plans[i].interface.addresses});
  }
  return {std::move(kernel), names, states};
}

}  // namespace

HostNetwork open_host_network(const Configuration& configuration) {
  HostNetwork network;
  if (configuration.interfaces == Interfaces::none) return network;
  refuse_second_interface(configuration);
  const std::vector<Plan> plans = plans_of(configuration);
  std::vector<memory::Descriptor> taps;
  memory::Descriptor kernel;  // of a place of its own
  if (configuration.interfaces == Interfaces::own_network) {
    FilledNamespace made = make_network_namespace([&] { return fill(plans); });
    network.place = std::move(made.place);
    taps = std::move(made.contents);
    kernel = take_last(taps);
    network.asked.emplace(take_last(taps));
    network.news = take_last(taps);
    if (configuration.leads_outside) network.outside = open_way_outside(network.place);
  } else {
    for (OpenInterface& each : open_all(RouteSocket(), plans)) taps.push_back(std::move(each.tap));
    network.news = open_interface_news();
    network.asked.emplace();
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const InterfacePlan& plan = plans[i].interface;
    network.interfaces.push_back({plans[i].device,
                                  std::move(taps[i]),
                                  {plan.name, index_of(network.news.get(), plan.name), plan.mtu}});
  }
  if (kernel) network.routes = routes_between(plans, network.interfaces, RouteSocket(std::move(kernel)));
  return network;
}

}  // namespace urnic::control
