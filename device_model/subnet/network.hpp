// The built-in InfiniBand fabric: nodes, links, and the way of management datagrams through them, hop by hop.
//
// One thread only. Datagrams go from node to node by function calls: docs/decisions/subnet-by-calls.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "device_model/subnet/agent.hpp"
#include "device_model/subnet/directed_route.hpp"
#include "device_model/subnet/link_ability.hpp"
#include "device_model/subnet/links.hpp"
#include "device_model/subnet/node.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::subnet {

// A management datagram between ports, with what its packet's headers say.
struct Datagram {
  wire::mad::Lid source = wire::mad::kPermissiveLid;
  wire::mad::Lid destination = wire::mad::kPermissiveLid;
  std::uint32_t source_qpn = 0;
  std::uint32_t destination_qpn = 0;  // 0: subnet management; 1: all other classes
  std::uint8_t service_level = 0;
  wire::mad::Mad mad{};
};

class Network {
 public:
  // A datagram has arrived at an adapter, and is not for its subnet management agent.
  using Receiver = std::function<void(NodeIndex adapter, const Datagram& datagram)>;
  // Something of the adapter's port has changed.
  using Watcher = std::function<void(NodeIndex adapter)>;

  NodeIndex add(Node node);
  // What the link of a port can do; before it has one.
  void give_ability(PortPlace place, const LinkAbility& ability) {
    subnet::give_ability(port_at(nodes_, place).info, ability);
  }
  void connect(PortPlace one, PortPlace other) { subnet::connect(nodes_, one, other); }
  void on_arrival(Receiver receiver) { receiver_ = std::move(receiver); }
  void on_change(Watcher watcher) { watcher_ = std::move(watcher); }

  // Sends from an adapter's port 1. The receiver may be called before it returns, for this adapter too.
  // False: the datagram cannot leave: its directed route does not begin at this port.
  bool send(NodeIndex adapter, Datagram datagram);

  // Hands an SMP to the agent of the node where it comes in, at once: for the built-in manager, which is a
  // part of the fabric. The watcher is told as of any other. The SMP is the answer, if there is one.
  Verdict ask_agent(PortPlace place, wire::mad::Smp& smp);

  // Whether a subnet manager runs at the adapter.
  void set_manager(NodeIndex adapter, bool is_manager);

  const Nodes& nodes() const { return nodes_; }
  const Node& node(NodeIndex index) const { return nodes_[index]; }
  const wire::mad::PortInfo& port(NodeIndex adapter) const { return nodes_[adapter].ports[1].info; }

 private:
  // A datagram at a node: where it came in, or where its own program wrote it.
  bool send_directed(PortPlace from, const Datagram& datagram, wire::mad::Smp smp);
  void walk_directed(PortPlace from, Hop hop, const Datagram& datagram, wire::mad::Smp& smp);
  void route(PortPlace from, const Datagram& datagram);
  void arrive(PortPlace place, const Datagram& datagram);
  void arrive_at_agent(PortPlace place, const Datagram& datagram);
  void hand_over(PortPlace place, const Datagram& datagram);
  void tell_changes(const std::vector<wire::mad::PortInfo>& before);

  Nodes nodes_;
  Receiver receiver_;
  Watcher watcher_;
};

}  // namespace urnic::subnet
