#include "device_model/subnet/manager/shortest_routes.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <optional>

#include "wire/mad/subnet_tables.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max();

// By node: links from each switch to one of them.
using Distances = std::vector<std::uint32_t>;

Distances distances_to(const Nodes& nodes, NodeIndex target) {
  Distances distances(nodes.size(), kUnreachable);
  std::deque<NodeIndex> reached{target};
  distances[target] = 0;
  while (!reached.empty()) {
    const NodeIndex here = reached.front();
    reached.pop_front();
    for (std::size_t port = 1; port < nodes[here].ports.size(); ++port) {
      if (!is_linked(nodes[here], static_cast<PortNumber>(port))) continue;
      const NodeIndex there = nodes[here].ports[port].peer->node;
      if (!nodes[there].is_switch() || distances[there] != kUnreachable) continue;
      distances[there] = distances[here] + 1;
      reached.push_back(there);
    }
  }
  return distances;
}

// The ways to one switch, computed when they are asked for.
class AllDistances {
 public:
  explicit AllDistances(const Nodes& nodes) : nodes_(nodes) {}
  const Distances& to(NodeIndex target) {
    const auto found = distances_.find(target);
    if (found != distances_.end()) return found->second;
    return distances_.emplace(target, distances_to(nodes_, target)).first->second;
  }

 private:
  const Nodes& nodes_;
  std::map<NodeIndex, Distances> distances_;
};

// The switch from which a packet reaches the node, and the port by which it leaves that; empty: it has no
// link, or no switch at the other end.
std::optional<PortPlace> last_hop_to(const Nodes& nodes, NodeIndex target) {
  if (nodes[target].is_switch()) return PortPlace{target, 0};
  if (!is_linked(nodes[target], 1)) return {};
  const PortPlace peer = *nodes[target].ports[1].peer;
  if (!nodes[peer.node].is_switch()) return {};
  return peer;
}

// `loads`: how many LIDs each port of the switch has. Empty: no link leads nearer.
std::optional<PortNumber> port_towards(const Node& from, const Distances& distances, std::uint32_t own,
                                       const std::vector<std::uint32_t>& loads) {
  std::optional<PortNumber> best;
  for (std::size_t i = 1; i < from.ports.size(); ++i) {
    const auto port = static_cast<PortNumber>(i);
    if (!is_linked(from, port) || distances[from.ports[port].peer->node] != own - 1) continue;
    if (!best || loads[port] < loads[*best]) best = port;
  }
  return best;
}

}  // namespace

bool is_linked(const Node& node, PortNumber port) {
  return node.ports[port].peer && node.ports[port].info.state >= PortState::initialize;
}

std::vector<LinearTable> shortest_routes(const Nodes& nodes, const std::vector<Lid>& lids) {
  AllDistances all(nodes);
  Lid top;
  for (const Lid lid : lids) top = std::max(top, lid);
  std::vector<LinearTable> tables(nodes.size());
  std::vector<std::vector<std::uint32_t>> loads(nodes.size());
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].is_switch()) continue;
    tables[i].assign(std::size_t{top.value} + 1, kNoRoute);
    loads[i].assign(nodes[i].ports.size(), 0);
  }
  for (NodeIndex target = 0; target < nodes.size(); ++target) {
    const auto last = last_hop_to(nodes, target);
    if (!last || lids[target].value == 0) continue;
    const Distances& distances = all.to(last->node);
    for (NodeIndex i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].is_switch() || distances[i] == kUnreachable) continue;
      const auto port = i == last->node ? std::optional(last->port)
                                        : port_towards(nodes[i], distances, distances[i], loads[i]);
      if (!port) continue;
      tables[i][lids[target].value] = *port;
      ++loads[i][*port];
    }
  }
  return tables;
}

}  // namespace urnic::subnet
