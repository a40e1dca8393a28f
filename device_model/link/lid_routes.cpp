#include "device_model/link/lid_routes.hpp"

#include <algorithm>
#include <utility>

namespace urnic::link {
namespace {

// IBTA 14.2.5.10: no port.
constexpr std::uint8_t kNoRoute = 0xFF;

// A subnet has no longer way; tables may have circles.
constexpr unsigned kMostHops = 64;

}  // namespace

std::optional<std::uint8_t> LidNode::route_to(wire::Lid destination) const {
  if (destination.value >= linear.size() || linear[destination.value] == kNoRoute) return {};
  return linear[destination.value];
}

const LidPortSet* LidNode::ports_of_group(wire::Lid group) const {
  const std::size_t index = group.value - wire::kFirstMulticastLid.value;
  return index < groups.size() ? &groups[index] : nullptr;
}

void LidRoutes::set_node(std::uint32_t number, LidNode node) {
  std::uint32_t last = number;
  for (const LidPort& port : node.ports) last = std::max(last, port.peer_node);
  if (nodes_.size() <= last) {
    nodes_.resize(last + 1);
    counters_.resize(last + 1);
    integrity_.resize(last + 1);
    was_there_.resize(last + 1);
    arrivals_.reserve(last + 1);
    members_.reserve(last + 1);
  }
  counters_[number].resize(node.ports.size());
  integrity_[number].resize(node.ports.size());
  for (std::size_t port = 0; port < node.ports.size(); ++port)
    if (!node.ports[port].is_active) integrity_[number][port].forget();
  if (node.device != LidNode::kNoDevice) {
    if (node_of_device_.size() <= node.device) node_of_device_.resize(node.device + 1, LidNode::kNoDevice);
    node_of_device_[node.device] = number;
  }
  nodes_[number] = std::move(node);
}

const LidPortCounters& LidRoutes::counters(std::uint32_t node, std::uint8_t port) const {
  return counters_.at(node).at(port);
}

void LidRoutes::count_damaged(LidPlace place, std::size_t bytes, bool is_counted) {
  LidPortCounters& counted = counters(place);
  if (!is_counted) {
    ++counted.received_packets;
    counted.received_bytes += bytes;
  }
  ++counted.line.damaged;
  const std::uint8_t most = nodes_[place.node].ports[place.port].most_physical_errors;
  if (!integrity_[place.node][place.port].damaged(counted.received_packets, most)) return;
  ++counted.line.integrity;
  tell_watcher();
}

void LidRoutes::count_silence(LidPlace place) {
  ++counters(place).line.silences;
  tell_watcher();
}

std::optional<LidPlace> LidRoutes::peer_of(LidPlace place) const {
  const LidPort* const port = port_at(place);
  if (port == nullptr || port->peer_port == 0) return {};
  return LidPlace{port->peer_node, port->peer_port};
}

std::optional<LidPlace> LidRoutes::receiver_from(LidPlace place) const {
  const LidPort* const port = port_at(place);
  if (port == nullptr || port->is_down) return {};
  return peer_of(place);
}

const LidNode* LidRoutes::adapter_of(std::uint32_t device) const {
  if (device >= node_of_device_.size() || node_of_device_[device] == LidNode::kNoDevice) return nullptr;
  return &nodes_[node_of_device_[device]];
}

std::optional<LidPlace> LidRoutes::port_of_device(std::uint32_t device) const {
  if (adapter_of(device) == nullptr) return {};
  return LidPlace{node_of_device_[device], 1};
}

const LidPort* LidRoutes::port_at(LidPlace place) const {
  const std::vector<LidPort>& ports = nodes_[place.node].ports;
  return place.port < ports.size() ? &ports[place.port] : nullptr;
}

const LidPort* LidRoutes::active_port(LidPlace place) const {
  const LidPort* const port = port_at(place);
  if (port == nullptr || !port->is_active) return nullptr;
  const LidPort* const peer = port_at({port->peer_node, port->peer_port});
  return peer != nullptr && peer->is_active ? port : nullptr;
}

// An adapter's own LIDs do not leave it. Each turn is one link.
template <class LeavesBy>
LidRoutes::Way LidRoutes::walk(std::uint32_t device, wire::Lid destination, LeavesBy leaves_by) const {
  constexpr auto blocked = [](std::string_view why) { return Way{LidNode::kNoDevice, why}; };
  const LidNode* const sender = adapter_of(device);
  if (sender == nullptr || sender->lid == wire::Lid{}) return blocked("the port has no LID");
  if (wire::has_lid(sender->lid, sender->lmc, destination)) return {device, {}};
  LidPlace at{node_of_device_[device], 1};
  for (unsigned hop = 0; hop < kMostHops; ++hop) {
    leaves_by(at);
    const LidPort* const out = active_port(at);
    if (out == nullptr) return blocked("a port on the way is not active");
    const LidNode& node = nodes_[out->peer_node];
    if (node.device != LidNode::kNoDevice) {
      if (!wire::has_lid(node.lid, node.lmc, destination))
        return blocked("the port at the end has another LID");
      return {node.device, {}};
    }
    const auto next = node.route_to(destination);
    if (!next) return blocked("a switch has no route to the LID");
    if (*next == 0) return blocked("a switch itself takes no data");
    at = {out->peer_node, *next};
  }
  return blocked("the routes go round in a circle");
}

void LidRoutes::count(LidPlace out, std::size_t bytes) {
  const LidPort* const link = active_port(out);
  if (link == nullptr) {
    if (out.port < counters_[out.node].size()) ++counters_[out.node][out.port].discards;
    return;
  }
  LidPortCounters& sender = counters_[out.node][out.port];
  ++sender.transmitted_packets;
  sender.transmitted_bytes += bytes;
  LidPortCounters& receiver = counters_[link->peer_node][link->peer_port];
  ++receiver.received_packets;
  receiver.received_bytes += bytes;
}

LidRoutes::Way LidRoutes::pass(std::uint32_t device, wire::Lid destination, std::size_t bytes) {
  return walk(device, destination, [&](LidPlace out) { count(out, bytes); });
}

LidRoutes::Way LidRoutes::find(std::uint32_t device, wire::Lid destination) const {
  return walk(device, destination, [](LidPlace) {});
}

// The link that leaves at `out`, to a node where the packet was not yet: tables may have circles.
void LidRoutes::spread_by(LidPlace out, std::size_t bytes) {
  count(out, bytes);
  const LidPort* const link = active_port(out);
  if (link == nullptr || was_there_[link->peer_node]) return;
  was_there_[link->peer_node] = true;
  const LidNode& peer = nodes_[link->peer_node];
  if (peer.device != LidNode::kNoDevice) {
    members_.push_back(peer.device);
  } else {
    arrivals_.push_back({link->peer_node, link->peer_port});
  }
}

// Out of all ports of the group but the one by which it came.
void LidRoutes::spread(LidPlace arrival, wire::Lid group, std::size_t bytes) {
  const LidNode& node = nodes_[arrival.node];
  const LidPortSet* const ports = node.ports_of_group(group);
  if (ports == nullptr) return;
  for (std::size_t port = 1; port < node.ports.size(); ++port)
    if (port != arrival.port && ports->test(port))
      spread_by({arrival.node, static_cast<std::uint8_t>(port)}, bytes);
}

const std::vector<std::uint32_t>& LidRoutes::pass_to_group(std::uint32_t device, wire::Lid group,
                                                           std::size_t bytes) {
  members_.clear();
  arrivals_.clear();
  const LidNode* const sender = adapter_of(device);
  if (sender == nullptr || sender->lid == wire::Lid{}) return members_;
  was_there_.assign(was_there_.size(), false);
  const std::uint32_t own = node_of_device_[device];
  was_there_[own] = true;
  spread_by({own, 1}, bytes);
  while (!arrivals_.empty()) {
    const LidPlace arrival = arrivals_.back();
    arrivals_.pop_back();
    spread(arrival, group, bytes);
  }
  return members_;
}

}  // namespace urnic::link
