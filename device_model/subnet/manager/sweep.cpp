#include "device_model/subnet/manager/sweep.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "device_model/subnet/manager/lid_assignment.hpp"
#include "device_model/subnet/manager/shortest_routes.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/subnet_attributes.hpp"
#include "wire/mad/subnet_tables.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

// Writes to agents and counts what they say.
class Writer {
 public:
  explicit Writer(Network& network) : network_(network) {}

  void set(PortPlace place, SubnetAttribute attribute, std::uint32_t modifier, const SmpData& data,
           std::string_view what) {
    Smp smp;
    smp.header.management_class = ManagementClass::subnet_lid_routed;
    smp.header.class_version = kSubnetClassVersion;
    smp.header.method = Method::set;
    smp.header.attribute = {static_cast<std::uint16_t>(attribute)};
    smp.header.attribute_modifier = modifier;
    smp.m_key = network_.node(place.node).managed(place.port).info.m_key;
    smp.data = data;
    const bool answered = network_.ask_agent(place, smp) == Verdict::answered;
    if (answered && smp.header.status == MadStatus::ok) {
      ++report_.written;
    } else if (report_.refused.empty()) {
      report_.refused = description_of(network_.node(place.node)) + ", port " + std::to_string(place.port) +
                        ": " + std::string(what);
    }
  }

  // A Set writes all members, so `wanted` has those that stay, too.
  void set_port(PortPlace place, const PortInfo& wanted, std::string_view what) {
    set(place, SubnetAttribute::port_info, place.port, encode_data(wanted), what);
  }

  const SweepReport& report() const { return report_; }

 private:
  Network& network_;
  SweepReport report_;
};

// What a Set has to say to leave the port as it is.
PortInfo unchanged(const Network& network, PortPlace place) {
  PortInfo info = network.node(place.node).ports[place.port].info;
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  return info;
}

// The manager's LID is that of an adapter, because adapters answer at once that they have no subnet
// administration; a switch would say nothing.
Lid manager_lid(const Network& network, const std::vector<Lid>& lids) {
  for (NodeIndex i = 0; i < lids.size(); ++i)
    if (!network.node(i).is_switch()) return lids[i];
  return {};
}

void write_lids(const Network& network, const std::vector<Lid>& lids, Writer& writer) {
  const Lid manager = manager_lid(network, lids);
  for (NodeIndex i = 0; i < lids.size(); ++i) {
    const PortPlace place{i, network.node(i).managed_port(1)};
    PortInfo wanted = unchanged(network, place);
    const bool is_right = wanted.lid == lids[i] && wanted.lmc == 0 && wanted.manager_lid == manager;
    if (is_right) continue;
    wanted.lid = lids[i];
    wanted.lmc = 0;
    wanted.manager_lid = manager;
    wanted.manager_sl = 0;
    writer.set_port(place, wanted, "its LID");
  }
}

void write_table(const Network& network, NodeIndex place, const LinearTable& table, Writer& writer) {
  const std::size_t used = std::max(table.size(), network.node(place).linear.size());
  for (std::size_t block = 0; block * kLidsOfBlock < used; ++block) {
    const SmpData wanted = linear_block(table, block);
    if (linear_block(network.node(place).linear, block) == wanted) continue;
    writer.set({place, 0}, SubnetAttribute::linear_forwarding, static_cast<std::uint32_t>(block), wanted,
               "its linear forwarding table");
  }
}

// A one clears PortStateChange (IBTA 14.2.5.4).
void write_switch(const Network& network, NodeIndex place, const LinearTable& table, Writer& writer) {
  write_table(network, place, table, writer);
  SwitchInfo wanted = network.node(place).switch_info;
  const auto top = static_cast<std::uint16_t>(table.empty() ? 0 : table.size() - 1);
  if (wanted.linear_top == top && !wanted.port_state_change) return;
  wanted.linear_top = top;
  writer.set({place, 0}, SubnetAttribute::switch_info, 0, encode_data(wanted), "its SwitchInfo");
}

std::vector<PortPlace> linked_ports(const Network& network) {
  std::vector<PortPlace> places;
  for (NodeIndex i = 0; i < network.nodes().size(); ++i) {
    for (std::size_t port = 1; port < network.node(i).ports.size(); ++port)
      if (is_linked(network.node(i).ports[port])) places.push_back({i, static_cast<PortNumber>(port)});
  }
  return places;
}

// Both ends of a link have the smaller MTU and the fewer virtual lanes.
void write_links(const Network& network, const std::vector<PortPlace>& places, Writer& writer) {
  for (const PortPlace place : places) {
    PortInfo wanted = unchanged(network, place);
    const PortPlace peer = *network.node(place.node).ports[place.port].peer;
    const PortInfo& other = network.node(peer.node).ports[peer.port].info;
    const std::uint8_t mtu = std::min(wanted.mtu_capacity, other.mtu_capacity);
    const std::uint8_t vls = std::min(wanted.vl_capacity, other.vl_capacity);
    if (wanted.neighbor_mtu == mtu && wanted.operational_vls == vls) continue;
    wanted.neighbor_mtu = mtu;
    wanted.operational_vls = vls;
    writer.set_port(place, wanted, "its link's MTU");
  }
}

// IBTA 7.2.7: all are armed before any is active, so that no port takes data before its peer can.
void step(const Network& network, const std::vector<PortPlace>& places, PortState from, PortState to,
          Writer& writer) {
  for (const PortPlace place : places) {
    if (network.node(place.node).ports[place.port].info.state != from) continue;
    PortInfo wanted = unchanged(network, place);
    wanted.state = to;
    writer.set_port(place, wanted, to == PortState::armed ? "Armed" : "Active");
  }
}

}  // namespace

SweepReport sweep(Network& network) {
  Writer writer(network);
  const std::vector<Lid> lids = assign_lids(network.nodes());
  write_lids(network, lids, writer);
  const std::vector<LinearTable> tables = shortest_routes(network.nodes(), lids);
  for (NodeIndex i = 0; i < tables.size(); ++i)
    if (network.node(i).is_switch()) write_switch(network, i, tables[i], writer);
  const std::vector<PortPlace> places = linked_ports(network);
  write_links(network, places, writer);
  step(network, places, PortState::initialize, PortState::armed, writer);
  step(network, places, PortState::armed, PortState::active, writer);
  return writer.report();
}

bool all_adapters_are_active(const Network& network) {
  return std::all_of(network.nodes().begin(), network.nodes().end(), [](const Node& node) {
    if (node.is_switch() || !is_linked(node.ports[1])) return true;
    return node.ports[1].info.state == PortState::active;
  });
}

}  // namespace urnic::subnet
