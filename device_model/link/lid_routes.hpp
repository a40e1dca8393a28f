// The way of InfiniBand packets from one adapter's port to another's, or to those of a multicast group: from
// switch to switch, by each switch's forwarding tables (IBTA chapter 18), as the subnet manager has left
// them.
//
// The built-in switch (switch.hpp) asks here which port a packet arrives at; what lies between takes no time,
// unless there is a LidFabric (lid_fabric.hpp).
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "device_model/link/lid_output.hpp"
#include "device_model/link/line_errors.hpp"
#include "device_model/link/line_watcher.hpp"
#include "wire/local_identifier.hpp"

namespace urnic::link {

// A port number of a node has eight bits.
using LidPortSet = std::bitset<256>;

// A port of a node.
struct LidPlace {
  std::uint32_t node = 0;
  std::uint8_t port = 0;
  friend bool operator==(const LidPlace&, const LidPlace&) = default;
};

// One end of a link, as packets see it.
struct LidPort {
  std::uint32_t peer_node = 0;
  std::uint8_t peer_port = 0;
  bool is_active = false;  // with its peer it takes data (IBTA 7.2.7)
  // So many damaged packets the line may have (IBTA 14.2.5.6: LocalPhyErrors).
  std::uint8_t most_physical_errors = 0;
  bool is_down = false;  // nothing passes its link (IBTA 7.2.7)
};

struct LidNode {
  static constexpr std::uint32_t kNoDevice = 0xFFFFFFFF;

  std::uint32_t device = kNoDevice;  // of an adapter: its port number at the built-in switch; else a switch
  wire::Lid lid = {};                // the adapter's
  std::uint8_t lmc = 0;
  std::vector<LidPort> ports = {};        // by number; 0 is a switch itself
  std::vector<std::uint8_t> linear = {};  // of a switch, by LID: the port; beyond the end there is no route
  std::vector<LidPortSet> groups = {};    // of a switch, by LID from 0xC000 on
  // By port number, where packets take time (lid_output.hpp); else empty.
  std::vector<LidOutput> outputs = {};
  std::uint8_t life_time = 0;  // of a switch, where packets take time: SwitchInfo's code

  bool has_device() const { return device != kNoDevice; }
  // The port by which a switch sends a packet on; 0: the switch itself. Empty: it has no route.
  std::optional<std::uint8_t> route_to(wire::Lid destination) const;
  // The ports to which a switch sends a packet for a group; null: none.
  const LidPortSet* ports_of_group(wire::Lid group) const;
};

// What passed a port of a node.
struct LidPortCounters {
  std::uint64_t transmitted_packets = 0;
  std::uint64_t transmitted_bytes = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t receive_errors = 0;  // management datagrams that are no packets of InfiniBand any more
  std::uint64_t discards = 0;        // packets that should have left here, and could not
  // How long packets waited here for credits, in the time in which the link carries 4 bytes (IBTA 16.1.3.5:
  // PortXmitWait). The specification leaves the length of a tick to the port.
  std::uint64_t transmit_wait = 0;
  LineErrors line = {};
};

// Engine thread only, once the engine runs.
class LidRoutes {
 public:
  // Nodes are numbered as in the subnet. Allocates.
  void set_node(std::uint32_t number, LidNode node);
  const LidPortCounters& counters(std::uint32_t node, std::uint8_t port) const;
  LidPortCounters& counters(LidPlace place) { return counters_[place.node][place.port]; }

  std::size_t size() const { return nodes_.size(); }
  const LidNode& node(std::uint32_t number) const { return nodes_[number]; }
  // A damaged packet of `bytes` has come to a port, which drops it. `is_counted`: as one that has passed.
  void count_damaged(LidPlace place, std::size_t bytes, bool is_counted);
  // No flow control has come to a port for too long.
  void count_silence(LidPlace place);
  // Who hears of what happens to lines; null: nobody. It outlives its use.
  void set_watcher(LineWatcher* watcher) { watcher_ = watcher; }
  void tell_watcher() {
    if (watcher_ != nullptr) watcher_->line_has_news();
  }
  // The other end of the port's link; empty: it has none.
  std::optional<LidPlace> peer_of(LidPlace place) const;
  // The same; empty: the link is down, too.
  std::optional<LidPlace> receiver_from(LidPlace place) const;
  // The port of a device's adapter; empty: no adapter is the device's.
  std::optional<LidPlace> port_of_device(std::uint32_t device) const;
  // Null: there is no such port, or it or its peer takes no data.
  const LidPort* active_port(LidPlace place) const;

  // Where a packet of `bytes` goes that `device` sends to a port's LID. Counts it at each port that it
  // passes.
  struct Way {
    std::uint32_t device = LidNode::kNoDevice;
    std::string_view obstacle;  // why it reaches no device; static storage
  };
  Way pass(std::uint32_t device, wire::Lid destination, std::size_t bytes);
  // The same, and nothing is counted: whether there is a way.
  Way find(std::uint32_t device, wire::Lid destination) const;

  // The devices that a packet for a group reaches, each once; not the sender. Views until the next call.
  const std::vector<std::uint32_t>& pass_to_group(std::uint32_t device, wire::Lid group, std::size_t bytes);

 private:
  const LidNode* adapter_of(std::uint32_t device) const;
  // Null: the node has no such port.
  const LidPort* port_at(LidPlace place) const;
  template <class LeavesBy>
  Way walk(std::uint32_t device, wire::Lid destination, LeavesBy leaves_by) const;
  void count(LidPlace out, std::size_t bytes);
  void spread_by(LidPlace out, std::size_t bytes);
  void spread(LidPlace arrival, wire::Lid group, std::size_t bytes);

  std::vector<LidNode> nodes_;
  std::vector<std::vector<LidPortCounters>> counters_;  // by node and port
  std::vector<std::vector<LinkIntegrity>> integrity_;   // likewise
  std::vector<std::uint32_t> node_of_device_;
  std::vector<std::uint32_t> members_;
  std::vector<LidPlace> arrivals_;  // at switches, of the packet for a group that is under way
  std::vector<bool> was_there_;     // by node
  LineWatcher* watcher_ = nullptr;
};

}  // namespace urnic::link
