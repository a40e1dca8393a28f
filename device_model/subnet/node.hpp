// A node of the built-in InfiniBand fabric: a channel adapter or a switch, as its subnet management agent
// shows it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/mad/identifiers.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/subnet_attributes.hpp"
#include "wire/mad/subnet_tables.hpp"

namespace urnic::subnet {

using NodeIndex = std::uint32_t;
using PortNumber = std::uint8_t;

// One end of a link.
struct PortPlace {
  NodeIndex node = 0;
  PortNumber port = 0;
  friend bool operator==(const PortPlace&, const PortPlace&) = default;
};

inline constexpr std::size_t kPkeyBlocks = 1;
inline constexpr std::size_t kPkeys = kPkeyBlocks * wire::mad::kPkeysOfBlock;
inline constexpr std::uint16_t kLinearCapacity = 0xC000;  // every unicast LID
inline constexpr std::uint16_t kMulticastCapacity = 1024;
inline constexpr std::size_t kArbitrationParts = 4;

struct Port {
  wire::mad::PortInfo info;
  std::optional<PortPlace> peer;  // the link's other end; empty: no cable
  bool is_pulled = false;         // the cable is there, and is plugged in at neither end
  bool is_silent = false;         // nothing comes through the cable: it cannot train
  std::uint32_t times_down = 0;   // how often the link has gone down
  // When the M_Key's protection ends, unless its owner speaks before (m_key.hpp); empty: no lease runs.
  std::optional<std::chrono::nanoseconds> lease_end{};
  std::array<std::uint16_t, kPkeys> pkeys{};
  // By the part of the modifier: halves of the low table, then of the high one.
  std::array<wire::mad::SmpData, kArbitrationParts> arbitration{};
  std::map<PortNumber, wire::mad::SmpData> sl_to_vl;  // by input port; of a switch's output port, else 0
};

// A trap that the manager has not repressed (notices.hpp).
struct PendingTrap {
  wire::mad::Notice notice;
  wire::mad::TransactionId transaction;
  bool is_new = true;  // not sent yet
};

struct Node {
  wire::mad::NodeInfo info;
  std::string name;  // by which the configuration and people at this host name it; no manager reads it
  wire::mad::SmpData description{};
  wire::mad::SwitchInfo switch_info;  // a switch's
  wire::mad::GuidBlock guids{};
  std::vector<Port> ports;  // by number; a channel adapter has no port 0
  // By LID; shorter than the capacity: the rest have no route.
  std::vector<std::uint8_t> linear;
  // Counts changes of what is here, so that others see that there is something new.
  std::uint32_t revision = 0;
  // Counts how often a manager has asked the port's clients to register again (IBTA 14.2.5.6:
  // ClientReregister).
  std::uint32_t reregistrations = 0;
  std::vector<PendingTrap> traps;  // at most one of each kind
  std::uint64_t last_trap = 0;     // the transaction of the newest
  // Intervals that have to pass before the next one is sent. The first of two may have been under way when
  // the last trap was sent.
  std::uint8_t trap_rest = 0;
  // By position and group, from LID 0xC000 on.
  std::map<std::pair<std::uint32_t, std::uint32_t>, wire::mad::SmpData> multicast;  // by position, block

  bool is_switch() const { return info.type == wire::mad::NodeType::switch_node; }
  bool has_port(std::uint32_t port) const { return port < ports.size() && (port != 0 || is_switch()); }
  // The port whose PortInfo has the LID and M_Key that count for packets that arrive at `arrival`.
  PortNumber managed_port(PortNumber arrival) const { return is_switch() ? PortNumber{0} : arrival; }
  const Port& managed(PortNumber arrival) const { return ports[managed_port(arrival)]; }
  Port& managed(PortNumber arrival) { return ports[managed_port(arrival)]; }
};

// With one port, number 1. `mtu` is PortInfo's code.
Node make_adapter(wire::mad::Guid guid, std::string_view description, std::uint8_t mtu);
// With ports 1 to `ports`, at most 254.
Node make_switch(wire::mad::Guid guid, std::string_view description, PortNumber ports);

// The node description's text.
std::string description_of(const Node& node);

// An adapter's ports have GUIDs of their own; the first one has the node's.
wire::mad::Guid port_guid(const Node& adapter, PortNumber port);

// A block of a linear table, as LinearForwardingTable has it (IBTA 14.2.5.10); what is behind the table's end
// has no route.
wire::mad::SmpData linear_block(const std::vector<std::uint8_t>& table, std::size_t block);

// Whether `lid` is the port's: its LMC counts.
bool has_lid(const wire::mad::PortInfo& info, wire::mad::Lid lid);

}  // namespace urnic::subnet
