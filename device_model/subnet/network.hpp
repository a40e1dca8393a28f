// The built-in InfiniBand fabric: nodes, links, and the way of management datagrams through them, hop by hop.
//
// One thread only. Datagrams go from node to node by function calls, but for the links at devices:
// docs/decisions/subnet-by-calls.md.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "device_model/subnet/agent.hpp"
#include "device_model/subnet/datagram.hpp"
#include "device_model/subnet/directed_route.hpp"
#include "device_model/subnet/link_ability.hpp"
#include "device_model/subnet/links.hpp"
#include "device_model/subnet/node.hpp"
#include "device_model/subnet/notices.hpp"

namespace urnic::subnet {

class Network {
 public:
  // A datagram has arrived at a node, and is not for its subnet management agent. At a switch it is of
  // another class than subnet management.
  using Receiver = std::function<void(NodeIndex node, const Datagram& datagram)>;
  // Something of the adapter's port has changed: its PortInfo, P_Keys or GUIDs, or a manager has asked its
  // clients to register again.
  using Watcher = std::function<void(NodeIndex adapter, bool registers_again)>;
  // The time since any fixed one; never less than before.
  using Clock = std::function<std::chrono::nanoseconds()>;

  NodeIndex add(Node node);
  // What the link of a port can do; before it has one.
  void give_ability(PortPlace place, const LinkAbility& ability) {
    subnet::give_ability(port_at(nodes_, place).info, ability);
  }
  void connect(PortPlace one, PortPlace other, bool is_plugged = true);
  void on_arrival(Receiver receiver) { receiver_ = std::move(receiver); }
  void on_change(Watcher watcher) { watcher_ = std::move(watcher); }
  // By which leases of M_Keys end; without one no time passes.
  void set_clock(Clock clock) { clock_ = std::move(clock); }
  // Packets pass these links from now on. They outlive their use.
  void use(EndLinks& links) { links_ = &links; }

  // Sends from an adapter's port 1, or from a switch's own port. The receiver may be called before it
  // returns, for this node too. False: the datagram cannot leave: its directed route does not begin at this
  // port.
  bool send(NodeIndex node, Datagram datagram);

  // A packet has passed the link of the port that has sent it, or of the port `at` that gets it
  // (EndLinks). A link that is down by now loses it. After some of them the caller calls `settle`.
  void come_out(Packet packet);
  void come_in(PortPlace at, Packet packet);
  // What follows changes: watchers learn of them, and managers.
  void settle();

  // Hands an SMP to the agent of the node where it comes in, at once: for the built-in manager, which is a
  // part of the fabric. The watcher is told as of any other. The SMP is the answer, if there is one.
  Verdict ask_agent(PortPlace place, wire::mad::Smp& smp);

  // Whether a subnet manager runs at the adapter.
  void set_manager(NodeIndex adapter, bool is_manager);

  // Whether a program is a subnet manager here (IBTA 14.2.5.6: CapabilityMask.IsSM).
  bool has_managing_program() const;

  // Pulls the cable of a port out, or plugs it in: both ends of the link go down, or begin anew.
  void set_cable(PortPlace place, bool is_plugged);

  // The adapter's port has dropped packets: counts them in its PortInfo, and tells the manager.
  void report(NodeIndex adapter, const KeyViolations& violations);

  // The line of a port has had too many errors (trap 129).
  void report_integrity(PortPlace place);
  // No flow control has come through a link for too long: both of its ends tell it (trap 131) and are down,
  // until it is not silent any more.
  void set_silence(PortPlace place, bool is_silent);

  // An interval is over: sends again what managers have not repressed, and what had to wait for the end of
  // it. As long as no program is a manager, there is nothing to send: a manager that comes reads the state of
  // all.
  void repeat_traps();
  // How long the interval is that runs now; empty: nothing waits.
  std::optional<std::chrono::nanoseconds> trap_interval() const;

  const Nodes& nodes() const { return nodes_; }
  const Node& node(NodeIndex index) const { return nodes_[index]; }
  // The node that has the LID at one of its ports; empty: nobody has.
  std::optional<NodeIndex> holder_of(wire::mad::Lid lid) const;
  const wire::mad::PortInfo& port(NodeIndex adapter) const { return nodes_[adapter].ports[1].info; }

 private:
  // What watchers learn of an adapter.
  struct Told {
    wire::mad::PortInfo info;
    std::array<std::uint16_t, kPkeys> pkeys{};
    wire::mad::GuidBlock guids{};
    std::uint32_t reregistrations = 0;
    friend bool operator==(const Told&, const Told&) = default;
  };

  bool send_any(NodeIndex node, Datagram datagram);
  Verdict ask(PortPlace place, wire::mad::Smp& smp);
  bool send_directed(PortPlace from, const Datagram& datagram, wire::mad::Smp smp);
  // From the port that sends the packet to where it is taken, or to a link that keeps it.
  void travel(Packet packet);
  // Behind the link of the port that sends it, and at the port that gets it. False: its way ends; else it is
  // the packet now that this node sends.
  bool pass_inside(Packet& packet);
  bool take(PortPlace at, Packet& packet);
  bool follow(Hop hop, PortPlace at, wire::mad::Smp& smp, Packet& packet);
  // How a packet goes on behind the port that sends it.
  struct Way {
    std::optional<PortPlace> end{};  // empty: it does not arrive
    std::string_view obstacle{};
  };
  Way way_of(const Packet& packet) const;
  Way way_from(PortPlace from, const Datagram& datagram) const;
  void route(PortPlace from, const Datagram& datagram);
  void arrive(PortPlace place, const Datagram& datagram);
  void arrive_at_agent(PortPlace place, const Datagram& datagram);
  void hand_over(PortPlace place, const Datagram& datagram);
  static Told told_of(const Node& node);
  void tell_changes();
  void send_new_traps();
  void send_traps(NodeIndex node, bool again);

  Nodes nodes_;
  std::vector<std::uint32_t> seen_;  // revisions, by node
  std::vector<Told> told_;           // by node
  Receiver receiver_;
  Watcher watcher_;
  Clock clock_ = [] { return std::chrono::nanoseconds{0}; };
  // By maker and queue pair: how many packets it has sent.
  std::vector<std::array<std::uint64_t, kManagementQueuePairs>> sent_;
  EndLinks* links_ = nullptr;  // null: nobody looks, and nothing is lost
};

}  // namespace urnic::subnet
