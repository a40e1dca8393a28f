#include "device_model/subnet/added_host.hpp"

#include <algorithm>
#include <utility>

#include "device_model/subnet/link_ability.hpp"

namespace urnic::subnet {
namespace {

// Behind those of a plan (fabric_plan.cpp).
constexpr std::uint64_t kFirstGuid = 0x0075'72FF'FE80'0001;

std::optional<PortPlace> free_port_of(const Nodes& nodes, NodeIndex index) {
  if (!nodes[index].is_switch()) return {};
  const std::vector<Port>& ports = nodes[index].ports;
  for (std::size_t port = 1; port < ports.size(); ++port)
    if (!ports[port].peer) return PortPlace{index, static_cast<PortNumber>(port)};
  return {};
}

wire::mad::Guid free_guid(const Nodes& nodes) {
  wire::mad::Guid guid{kFirstGuid};
  const auto is_taken = [&] {
    return std::any_of(nodes.begin(), nodes.end(),
                       [&](const Node& node) { return node.info.node_guid == guid; });
  };
  while (is_taken()) ++guid.value;
  return guid;
}

}  // namespace

std::optional<PortPlace> free_switch_port(const Nodes& nodes, NodeIndex near) {
  if (const auto& peer = nodes[near].ports[1].peer)
    if (const auto place = free_port_of(nodes, peer->node)) return place;
  for (NodeIndex i = 0; i < nodes.size(); ++i)
    if (const auto place = free_port_of(nodes, i)) return place;
  return {};
}

NodeIndex add_host(Network& network, const std::string& name, PortPlace place) {
  Node host = make_adapter(free_guid(network.nodes()), name, kLargestMtuCode);
  host.name = name;
  const NodeIndex index = network.add(std::move(host));
  network.connect({index, 1}, place, false);
  return index;
}

}  // namespace urnic::subnet
