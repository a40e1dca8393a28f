#include "device_model/control/admin/switch_links.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>

#include "device_model/subnet/network.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;
using Places = std::vector<subnet::PortPlace>;

// A device has a name of its own beside that of its node.
std::string name_of(const Fabric& fabric, subnet::PortPlace place) {
  const ServedDevice* const device = fabric.device_at(place.node);
  const std::string& node = device != nullptr ? device->settings.name : fabric.subnet().node(place.node).name;
  return fmt::format("{}:{}", node, place.port);
}

std::optional<subnet::NodeIndex> find_switch(const subnet::Network& network, const std::string& name) {
  for (subnet::NodeIndex i = 0; i < network.nodes().size(); ++i)
    if (network.node(i).is_switch() && network.node(i).name == name) return i;
  return {};
}

Places all_cables(const subnet::Network& network, subnet::NodeIndex node) {
  Places places;
  const auto& ports = network.node(node).ports;
  for (std::size_t port = 1; port < ports.size(); ++port)
    if (ports[port].peer) places.push_back({node, static_cast<subnet::PortNumber>(port)});
  return places;
}

subnet::PortPlace cable_in(const Fabric& fabric, subnet::NodeIndex index, const std::string& port) {
  const subnet::Node& node = fabric.subnet().node(index);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const std::size_t last = node.ports.size() - 1;
  if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > last)
    throw std::runtime_error(
        fmt::format("{}: the switch has ports 1 to {}, not \"{}\"", node.name, last, port));
  const subnet::PortPlace place{index, static_cast<subnet::PortNumber>(number)};
  if (!node.ports[number].peer)
    throw std::runtime_error(fmt::format("{}: no link ends there", name_of(fabric, place)));
  return place;
}

}  // namespace

// Files of ibsim may have a ':' in a node's ID.
std::vector<subnet::PortPlace> find_switch_ports(const Fabric& fabric, const std::string& name) {
  const subnet::Network& network = fabric.subnet();
  const auto whole = find_switch(network, name);
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos) return whole ? all_cables(network, *whole) : Places{};
  const auto part = find_switch(network, name.substr(0, colon));
  if (!part) return whole ? all_cables(network, *whole) : Places{};
  if (whole)
    throw std::runtime_error(
        fmt::format("{}: it is a switch, and may be a port of the switch {}: give one of them another name",
                    name, network.node(*part).name));
  return {cable_in(fabric, *part, name.substr(colon + 1))};
}

json describe_switch_links(const Fabric& fabric, const std::vector<subnet::PortPlace>& places) {
  json links = json::object();
  for (const subnet::PortPlace place : places) {
    const subnet::Port& port = fabric.subnet().node(place.node).ports[place.port];
    links[name_of(fabric, place)] = {{"state", subnet::is_linked(port) ? "up" : "down"},
                                     {"peer", name_of(fabric, *port.peer)}};
  }
  return links;
}

}  // namespace urnic::control
