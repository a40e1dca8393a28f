// Which nodes a built-in InfiniBand fabric has and which links: the plan after which a Network is built.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/subnet/link_ability.hpp"
#include "device_model/subnet/network.hpp"
#include "device_model/subnet/node.hpp"

namespace urnic::subnet {

inline constexpr unsigned kMostSwitchPorts = 254;  // 255 in a forwarding table is no port
inline constexpr std::size_t kLongestDescription = 64;
// Unicast LIDs are below 0xC000, and every node needs one.
inline constexpr std::size_t kMostNodes = 0xBFFF;
// Each port takes memory for its tables of P_Keys and arbitration: about 100 MB for all.
inline constexpr std::size_t kMostPorts = 200'000;

// Whether it has printable characters of ASCII only, as the names and descriptions of nodes do.
bool is_printable(std::string_view text);

struct PlannedNode {
  wire::mad::NodeType type = wire::mad::NodeType::channel_adapter;
  std::string name = {};         // by which links and the configuration name it
  std::string description = {};  // NodeDescription
  wire::mad::Guid guid = {};     // zero: the plan gives it one
  PortNumber ports = 1;
  LinkAbility ability = {};                    // of its ports, where a link does not say otherwise
  std::uint8_t largest_mtu = kLargestMtuCode;  // code; no link may say more
};

// What a link makes of the ports at both its ends.
struct PlannedLink {
  PortPlace one;
  PortPlace other;
  std::optional<LinkWidth> width = {};
  std::optional<LinkSpeed> speed = {};
  std::optional<std::uint8_t> mtu = {};  // code
  std::optional<std::uint8_t> vls = {};  // code
  bool is_plugged = true;                // at the beginning
};

class FabricPlan {
 public:
  // Empty: the node is there; it has the number `nodes().size() - 1`. Else why it cannot be.
  std::string add(PlannedNode node);
  // The same for a link between two nodes that are there.
  std::string connect(const PlannedLink& link);

  std::optional<NodeIndex> find(const std::string& name) const;
  bool is_linked(PortPlace place) const { return linked_.count({place.node, place.port}) != 0; }
  // The lowest port of the node that has no link.
  std::optional<PortNumber> free_port(NodeIndex node) const;

  const std::vector<PlannedNode>& nodes() const { return nodes_; }
  const std::vector<PlannedLink>& links() const { return links_; }

 private:
  std::string check_end(PortPlace place) const;

  std::vector<PlannedNode> nodes_;
  std::size_t ports_ = 0;  // of all nodes
  std::vector<PlannedLink> links_;
  std::map<std::string, NodeIndex, std::less<>> by_name_;
  std::map<std::uint64_t, NodeIndex> by_guid_;
  std::set<std::pair<NodeIndex, PortNumber>> linked_;
};

// Nodes have the plan's numbers.
std::unique_ptr<Network> build(const FabricPlan& plan);

}  // namespace urnic::subnet
