#include "device_model/control/admin/switch_links.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <stdexcept>

#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

std::string name_of(const subnet::Network& network, subnet::PortPlace place) {
  return fmt::format("{}:{}", subnet::description_of(network.node(place.node)), place.port);
}

std::optional<subnet::NodeIndex> find_switch(const subnet::Network& network, const std::string& name) {
  for (subnet::NodeIndex i = 0; i < network.nodes().size(); ++i)
    if (network.node(i).is_switch() && subnet::description_of(network.node(i)) == name) return i;
  return {};
}

std::vector<subnet::PortPlace> all_cables(const subnet::Network& network, subnet::NodeIndex node) {
  std::vector<subnet::PortPlace> places;
  const auto& ports = network.node(node).ports;
  for (std::size_t port = 1; port < ports.size(); ++port)
    if (ports[port].peer) places.push_back({node, static_cast<subnet::PortNumber>(port)});
  return places;
}

subnet::PortPlace cable_in(const subnet::Network& network, subnet::NodeIndex node, const std::string& port) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const std::size_t last = network.node(node).ports.size() - 1;
  if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > last)
    throw std::runtime_error(fmt::format("{}: the switch has ports 1 to {}, not \"{}\"",
                                         subnet::description_of(network.node(node)), last, port));
  const subnet::PortPlace place{node, static_cast<subnet::PortNumber>(number)};
  if (!network.node(node).ports[number].peer)
    throw std::runtime_error(fmt::format("{}: no link ends there", name_of(network, place)));
  return place;
}

}  // namespace

std::vector<subnet::PortPlace> find_switch_ports(const subnet::Network& network, const std::string& name) {
  if (const auto node = find_switch(network, name)) return all_cables(network, *node);
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos) return {};
  const auto node = find_switch(network, name.substr(0, colon));
  if (!node) return {};
  return {cable_in(network, *node, name.substr(colon + 1))};
}

json describe_switch_links(const subnet::Network& network, const std::vector<subnet::PortPlace>& places) {
  json links = json::object();
  for (const subnet::PortPlace place : places) {
    const subnet::Port& port = network.node(place.node).ports[place.port];
    links[name_of(network, place)] = {{"state", subnet::is_linked(port) ? "up" : "down"},
                                      {"peer", name_of(network, *port.peer)}};
  }
  return links;
}

}  // namespace urnic::control
