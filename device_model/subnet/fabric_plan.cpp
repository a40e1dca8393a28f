#include "device_model/subnet/fabric_plan.hpp"

#include <algorithm>
#include <array>

namespace urnic::subnet {
namespace {

using wire::mad::NodeType;

// Behind the GUIDs of devices, which come from MAC addresses that begin with 02:75:72:6e.
constexpr std::uint64_t kFirstSwitchGuid = 0x0075'72FF'FE00'0001;
constexpr std::uint64_t kFirstAdapterGuid = 0x0075'72FF'FE40'0001;

std::string text_of(const FabricPlan& plan, PortPlace place) {
  return plan.nodes()[place.node].name + ":" + std::to_string(place.port);
}

// The port as the link wants it.
LinkAbility ability_at(const FabricPlan& plan, PortPlace place, const PlannedLink& link) {
  LinkAbility ability = plan.nodes()[place.node].ability;
  ability.width = link.width.value_or(ability.width);
  ability.speed = link.speed.value_or(ability.speed);
  ability.mtu = link.mtu.value_or(ability.mtu);
  ability.vls = link.vls.value_or(ability.vls);
  return ability;
}

Node make(const PlannedNode& planned) {
  Node node = planned.type == NodeType::switch_node
                  ? make_switch(planned.guid, planned.description, planned.ports)
                  : make_adapter(planned.guid, planned.description, planned.ability.mtu);
  node.name = planned.name;
  // An adapter's further ports are there, and have no cable.
  node.info.ports = planned.ports;
  while (node.ports.size() <= planned.ports) {
    node.ports.push_back(node.ports.back());
    node.ports.back().info.local_port = static_cast<PortNumber>(node.ports.size() - 1);
  }
  for (Port& port : node.ports) give_ability(port.info, planned.ability);
  return node;
}

}  // namespace

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char letter) { return letter >= ' ' && letter <= '~'; });
}

std::string FabricPlan::add(PlannedNode node) {
  const auto number = static_cast<NodeIndex>(nodes_.size());
  if (nodes_.size() >= kMostNodes)
    return "a subnet has at most " + std::to_string(kMostNodes) + " nodes, because each needs a LID";
  if (ports_ + node.ports > kMostPorts)
    return "the nodes of a subnet have at most " + std::to_string(kMostPorts) +
           " ports in all, because each takes memory";
  if (by_name_.count(node.name) != 0) return "there is a \"" + node.name + "\" already";
  if (node.guid.value == 0) {
    std::uint64_t guid = node.type == NodeType::switch_node ? kFirstSwitchGuid : kFirstAdapterGuid;
    for (guid += number; by_guid_.count(guid) != 0;) ++guid;
    node.guid = {guid};
  }
  if (const auto other = by_guid_.find(node.guid.value); other != by_guid_.end())
    return "its GUID is that of \"" + nodes_[other->second].name + "\"";
  by_name_.emplace(node.name, number);
  by_guid_.emplace(node.guid.value, number);
  ports_ += node.ports;
  nodes_.push_back(std::move(node));
  return {};
}

std::string FabricPlan::check_end(PortPlace place) const {
  const PlannedNode& node = nodes_[place.node];
  if (place.port < 1 || place.port > node.ports)
    return "\"" + node.name + "\" has ports 1 to " + std::to_string(node.ports) + ", and no port " +
           std::to_string(place.port);
  if (!is_linked(place)) return {};
  const auto other = std::find_if(links_.begin(), links_.end(), [&](const PlannedLink& link) {
    return link.one == place || link.other == place;
  });
  const PortPlace peer = other->one == place ? other->other : other->one;
  return "port " + text_of(*this, place) + " has a link already, to " + text_of(*this, peer);
}

std::string FabricPlan::connect(const PlannedLink& link) {
  for (const PortPlace place : {link.one, link.other})
    if (std::string problem = check_end(place); !problem.empty()) return problem;
  if (link.one.node == link.other.node)
    return "both ends are ports of \"" + nodes_[link.one.node].name + "\": a link needs two nodes";
  for (const PortPlace place : {link.one, link.other}) {
    const PlannedNode& node = nodes_[place.node];
    if (link.mtu.value_or(1) > node.largest_mtu)
      return "its mtu is larger than that of \"" + node.name + "\"";
  }
  for (const PortPlace place : {link.one, link.other}) linked_.insert({place.node, place.port});
  links_.push_back(link);
  return {};
}

std::optional<NodeIndex> FabricPlan::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<PortNumber> FabricPlan::free_port(NodeIndex node) const {
  for (unsigned port = 1; port <= nodes_[node].ports; ++port)
    if (!is_linked({node, static_cast<PortNumber>(port)})) return static_cast<PortNumber>(port);
  return {};
}

std::unique_ptr<Network> build(const FabricPlan& plan) {
  auto network = std::make_unique<Network>();
  for (const PlannedNode& node : plan.nodes()) network->add(make(node));
  for (const PlannedLink& link : plan.links()) {
    for (const PortPlace place : {link.one, link.other})
      network->give_ability(place, ability_at(plan, place, link));
    network->connect(link.one, link.other, link.is_plugged);
  }
  return network;
}

}  // namespace urnic::subnet
