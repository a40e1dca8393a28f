#include "device_model/subnet/manager/shortest_routes.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "wire/mad/subnet_tables.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max();

// A link to a switch.
struct SwitchLink {
  PortNumber port = 0;
  NodeIndex to = 0;
};
// By node.
using SwitchLinks = std::vector<std::vector<SwitchLink>>;

SwitchLinks links_between_switches(const Nodes& nodes) {
  SwitchLinks links(nodes.size());
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].is_switch()) continue;
    for (std::size_t number = 1; number < nodes[i].ports.size(); ++number) {
      const Port& port = nodes[i].ports[number];
      if (!is_linked(port)) continue;
      const NodeIndex to = port.peer->node;
      if (nodes[to].is_switch()) links[i].push_back({static_cast<PortNumber>(number), to});
    }
  }
  return links;
}

// By node: links from each switch to one of them.
using Distances = std::vector<std::uint32_t>;

Distances distances_to(const SwitchLinks& links, NodeIndex target) {
  Distances distances(links.size(), kUnreachable);
  std::deque<NodeIndex> reached{target};
  distances[target] = 0;
  while (!reached.empty()) {
    const NodeIndex here = reached.front();
    reached.pop_front();
    for (const SwitchLink& link : links[here]) {
      if (distances[link.to] != kUnreachable) continue;
      distances[link.to] = distances[here] + 1;
      reached.push_back(link.to);
    }
  }
  return distances;
}

// The ways to one switch, computed when they are asked for.
class AllDistances {
 public:
  explicit AllDistances(const SwitchLinks& links) : links_(links) {}
  const Distances& to(NodeIndex target) {
    const auto found = distances_.find(target);
    if (found != distances_.end()) return found->second;
    return distances_.emplace(target, distances_to(links_, target)).first->second;
  }

 private:
  const SwitchLinks& links_;
  std::map<NodeIndex, Distances> distances_;
};

// The switch from which a packet reaches the node, and the port by which it leaves that; empty: it has no
// link, or no switch at the other end.
std::optional<PortPlace> last_hop_to(const Nodes& nodes, NodeIndex target) {
  if (nodes[target].is_switch()) return PortPlace{target, 0};
  const Port& port = nodes[target].ports[1];
  if (!is_linked(port)) return {};
  const PortPlace peer = *port.peer;
  if (!nodes[peer.node].is_switch()) return {};
  return peer;
}

// `own`: the distance from here. `loads`: how many LIDs each port has. Empty: no link leads nearer.
std::optional<PortNumber> port_towards(const std::vector<SwitchLink>& links, const Distances& distances,
                                       std::uint32_t own, const std::vector<std::uint32_t>& loads) {
  std::optional<PortNumber> best;
  for (const SwitchLink& link : links) {
    if (distances[link.to] != own - 1) continue;
    if (!best || loads[link.port] < loads[*best]) best = link.port;
  }
  return best;
}

// The tables, and how many LIDs each port has in them; by node.
struct Routes {
  std::vector<LinearTable> tables;
  std::vector<std::vector<std::uint32_t>> loads;
};

Routes no_routes(const Nodes& nodes, Lid top) {
  Routes routes{std::vector<LinearTable>(nodes.size()),
                std::vector<std::vector<std::uint32_t>>(nodes.size())};
  for (NodeIndex i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].is_switch()) continue;
    routes.tables[i].assign(std::size_t{top.value} + 1, kNoRoute);
    routes.loads[i].assign(nodes[i].ports.size(), 0);
  }
  return routes;
}

// Writes the ways to one LID into all tables. `last` is where they end.
void add_routes(Lid lid, PortPlace last, const SwitchLinks& links, const Distances& distances,
                Routes& routes) {
  for (NodeIndex i = 0; i < distances.size(); ++i) {
    if (routes.tables[i].empty() || distances[i] == kUnreachable) continue;
    const auto port = i == last.node ? std::optional(last.port)
                                     : port_towards(links[i], distances, distances[i], routes.loads[i]);
    if (!port) continue;
    routes.tables[i][lid.value] = *port;
    ++routes.loads[i][*port];
  }
}

}  // namespace

std::vector<LinearTable> shortest_routes(const Nodes& nodes, const std::vector<Lid>& lids) {
  const SwitchLinks links = links_between_switches(nodes);
  AllDistances distances(links);
  Routes routes = no_routes(nodes, lids.empty() ? Lid{} : *std::max_element(lids.begin(), lids.end()));
  for (NodeIndex target = 0; target < nodes.size(); ++target) {
    const auto last = last_hop_to(nodes, target);
    if (last && lids[target].value != 0)
      add_routes(lids[target], *last, links, distances.to(last->node), routes);
  }
  return std::move(routes.tables);
}

}  // namespace urnic::subnet
