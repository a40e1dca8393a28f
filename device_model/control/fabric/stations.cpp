#include "device_model/control/fabric/stations.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/node_keys.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

struct SocketPair {
  memory::Descriptor near_end;
  memory::Descriptor far_end;
};

SocketPair make_socket_pair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return {memory::Descriptor(ends[0]), memory::Descriptor(ends[1])};
}

}  // namespace

Stations::HostPort Stations::make_port(EngineUnit& unit) const {
  HostPort made;
  made.port = unit.stations.emplace_back(std::make_unique<link::StationPort>()).get();
  unit.engine.execute([&] { made.number = unit.frame_switch.add_station(*made.port); });
  return made;
}

bool Stations::is_used(const link::StationPort& port) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& each) { return each.second.port == &port; });
}

// A port that no station has, and no host; ports are made when they are needed and stay.
link::StationPort& Stations::free_port(EngineUnit& unit) const {
  for (const auto& port : unit.stations) {
    const bool is_hosts = std::any_of(host_ports_.begin(), host_ports_.end(),
                                      [&](const auto& each) { return each.second.port == port.get(); });
    if (!is_used(*port) && !is_hosts) return *port;
  }
  return *make_port(unit).port;
}

std::unique_ptr<Stations::Station> Stations::add(Open station) {
  open_[next_] = std::move(station);
  return std::make_unique<Station>(*this, next_++);
}

std::unique_ptr<Stations::Station> Stations::open(const ServedDevice& device, const StationAddress& address) {
  if (device.udp != nullptr)
    throw std::runtime_error(device.settings.name +
                             " is on a wire of its own: only a device on the built-in "
                             "switch has a port beside it");
  if (fabric_.resolve(address.gid)) throw std::runtime_error("the GID is another one's on this switch");
  SocketPair sockets = make_socket_pair();
  EngineUnit& unit = fabric_.unit_of(device);
  link::StationPort& port = free_port(unit);
  unit.engine.execute([&] {
    unit.engine.wake_on(sockets.near_end.get());
    unit.frame_switch.set_station(port, address.mac);
    port.open(std::move(sockets.near_end), address.mac);
  });
  return add({&unit, &port, address, std::move(sockets.far_end)});
}

Stations::Host Stations::find_or_add_host(const ServedDevice& device, const std::string& name) {
  const subnet::Nodes& nodes = fabric_.subnet().nodes();
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const subnet::Node& node) { return node.name == name; });
  if (found != nodes.end()) {
    const auto node = static_cast<subnet::NodeIndex>(found - nodes.begin());
    if (found->is_switch() || fabric_.device_at(node) != nullptr)
      throw std::runtime_error(fmt::format("{} is a {} of the InfiniBand fabric, not a host without a device",
                                           name, found->is_switch() ? "switch" : "device"));
    return {node, false};
  }
  if (name.empty() || !is_node_text(name, ":\""))
    throw std::runtime_error(
        "\"host\" must be 1 to 64 printable characters of ASCII without ':' and '\"', such as \"script\"");
  return {fabric_.add_host(name, *device.adapter), true};
}

std::unique_ptr<Stations::Station> Stations::open_at(subnet::NodeIndex host) {
  if (is_at(host))
    throw std::runtime_error(fmt::format("another script is the host {} of the InfiniBand fabric",
                                         fabric_.subnet().node(host).name));
  SocketPair sockets = make_socket_pair();
  EngineUnit& unit = fabric_.infiniband_unit();
  if (!host_ports_.contains(host)) {
    host_ports_[host] = make_port(unit);
    fabric_.host_has_port(host);
  }
  link::StationPort& port = *host_ports_.at(host).port;
  unit.engine.execute([&] {
    unit.engine.wake_on(sockets.near_end.get());
    port.open_in_subnet(std::move(sockets.near_end));
  });
  return add({&unit, &port, {}, std::move(sockets.far_end)});
}

std::optional<std::uint32_t> Stations::port_of(subnet::NodeIndex host) const {
  const auto found = host_ports_.find(host);
  return found != host_ports_.end() ? std::optional(found->second.number) : std::nullopt;
}

bool Stations::is_at(subnet::NodeIndex host) const {
  const auto found = host_ports_.find(host);
  return found != host_ports_.end() && is_used(*found->second.port);
}

void Stations::close(std::uint64_t number) {
  const Open& station = open_.at(number);
  station.unit->engine.execute([&] {
    if (station.address) station.unit->frame_switch.set_station(*station.port, std::nullopt);
    station.port->close();
  });
  open_.erase(number);
}

// None is in a VLAN.
link::Neighbour Stations::find_in(std::uint16_t vlan, const wire::Gid& gid) {
  if (vlan != 0) return {};
  for (const auto& [number, station] : open_)
    if (station.address && station.address->gid == gid)
      return {link::Neighbour::State::known, station.address->mac};
  return {};
}

}  // namespace urnic::control
