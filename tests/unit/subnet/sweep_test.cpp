// The built-in subnet manager: after a sweep each LID is reachable from each adapter, by a shortest way.
#include "device_model/subnet/manager/sweep.hpp"

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "device_model/subnet/manager/lid_assignment.hpp"
#include "device_model/subnet/manager/shortest_routes.hpp"
#include "small_fabric.hpp"

namespace urnic::subnet::test {
namespace {

// Switches with an adapter each, on port 8; further links are the test's.
struct SweptFabric {
  explicit SweptFabric(std::size_t switches) {
    for (std::size_t i = 0; i < switches; ++i) {
      hubs.push_back(network.add(make_switch({0xB00 + i}, "switch " + std::to_string(i), 8)));
      adapters.push_back(network.add(make_adapter({0xA00 + i}, "adapter " + std::to_string(i), 5)));
      network.connect({adapters[i], 1}, {hubs[i], 8});
    }
    network.on_arrival([this](NodeIndex, const Datagram& datagram) { answers.push_back(datagram); });
  }

  void join(std::size_t one, PortNumber port, std::size_t other, PortNumber other_port) {
    network.connect({hubs[one], port}, {hubs[other], other_port});
  }

  void disable(NodeIndex node, PortNumber port) {
    Smp smp = question(Method::set, SubnetAttribute::port_info, port);
    PortInfo info = network.node(node).ports[port].info;
    info.state = PortState::no_change;
    info.physical_state = PhysicalState::disabled;
    smp.data = encode_data(info);
    BOOST_REQUIRE(network.ask_agent({node, port}, smp) == Verdict::answered);
    BOOST_REQUIRE(smp.header.status == MadStatus::ok);
  }

  Lid lid_of(NodeIndex node) const { return network.node(node).managed(1).info.lid; }

  // The node that answers a question to the LID; no value: none does.
  std::optional<Guid> who_answers(NodeIndex from, Lid lid) {
    answers.clear();
    Datagram datagram;
    datagram.destination = lid;
    datagram.mad = encode(question(Method::get, SubnetAttribute::node_info));
    network.send(from, datagram);
    Smp answer;
    if (answers.size() != 1 || decode(answers[0].mad, answer) != MadError::none) return {};
    return decode_data<NodeInfo>(answer.data).node_guid;
  }

  // Switches that a packet from one adapter to another passes; 0: it does not arrive.
  unsigned switches_between(NodeIndex from, NodeIndex to) const {
    PortPlace at = *network.node(from).ports[1].peer;
    for (unsigned passed = 1; passed <= network.nodes().size(); ++passed) {
      const auto& table = network.node(at.node).linear;
      const std::uint8_t port = table.at(lid_of(to).value);
      if (port == kNoRoute) return 0;
      at = *network.node(at.node).ports.at(port).peer;
      if (at.node == to) return passed;
    }
    return 0;
  }

  void check_all_reachable() {
    for (const NodeIndex from : adapters) {
      for (NodeIndex to = 0; to < network.nodes().size(); ++to)
        BOOST_TEST((who_answers(from, lid_of(to)) == network.node(to).info.node_guid),
                   "LID " << lid_of(to).value << " from adapter " << from);
    }
  }

  void check_no_port_waits() const {
    for (const Node& node : network.nodes())
      for (const Port& port : node.ports)
        BOOST_TEST((port.info.state != PortState::initialize && port.info.state != PortState::armed));
  }

  void sweep_and_check() {
    const SweepReport report = sweep(network);
    BOOST_TEST(report.refused == "");
    check_no_port_waits();
    check_all_reachable();
    BOOST_TEST(sweep(network).written == 0u);
  }

  Network network;
  std::vector<NodeIndex> hubs;
  std::vector<NodeIndex> adapters;
  std::vector<Datagram> answers;
};

// In a row; `closed`: the last is joined to the first.
void join_in_row(SweptFabric& fabric, bool closed) {
  const std::size_t switches = fabric.hubs.size();
  for (std::size_t i = 0; i + 1 < switches; ++i) fabric.join(i, 1, i + 1, 2);
  if (closed) fabric.join(switches - 1, 1, 0, 2);
}

BOOST_AUTO_TEST_SUITE(built_in_manager)

BOOST_AUTO_TEST_CASE(one_switch) {
  SweptFabric fabric(1);
  fabric.sweep_and_check();
  BOOST_TEST(all_adapters_are_active(fabric.network));
}

BOOST_AUTO_TEST_CASE(a_line) {
  SweptFabric fabric(5);
  join_in_row(fabric, false);
  fabric.sweep_and_check();
  BOOST_TEST(fabric.switches_between(fabric.adapters[0], fabric.adapters[4]) == 5u);
}

BOOST_AUTO_TEST_CASE(a_ring) {
  SweptFabric fabric(6);
  join_in_row(fabric, true);
  fabric.sweep_and_check();
  BOOST_TEST(fabric.switches_between(fabric.adapters[0], fabric.adapters[5]) == 2u);
  BOOST_TEST(fabric.switches_between(fabric.adapters[0], fabric.adapters[3]) == 4u);
}

// Two roots, four leaves, each leaf on both roots: ways between leaves are of three switches.
BOOST_AUTO_TEST_CASE(a_tree_with_two_roots) {
  SweptFabric fabric(6);
  for (std::size_t leaf = 2; leaf < 6; ++leaf) {
    fabric.join(leaf, 1, 0, static_cast<PortNumber>(leaf - 1));
    fabric.join(leaf, 2, 1, static_cast<PortNumber>(leaf - 1));
  }
  fabric.sweep_and_check();
  for (std::size_t from = 2; from < 6; ++from)
    for (std::size_t to = 2; to < 6; ++to)
      if (from != to) BOOST_TEST(fabric.switches_between(fabric.adapters[from], fabric.adapters[to]) == 3u);
}

// Both links carry some of the LIDs on the other side.
BOOST_AUTO_TEST_CASE(parallel_links_share_the_lids) {
  SweptFabric fabric(2);
  fabric.join(0, 1, 1, 1);
  fabric.join(0, 2, 1, 2);
  fabric.sweep_and_check();
  const auto& table = fabric.network.node(fabric.hubs[0]).linear;
  BOOST_TEST(table.at(fabric.lid_of(fabric.hubs[1]).value) !=
             table.at(fabric.lid_of(fabric.adapters[1]).value));
}

BOOST_AUTO_TEST_CASE(a_ring_is_cut) {
  SweptFabric fabric(4);
  join_in_row(fabric, true);
  sweep(fabric.network);
  std::vector<Lid> before;
  for (const NodeIndex adapter : fabric.adapters) before.push_back(fabric.lid_of(adapter));
  fabric.disable(fabric.hubs[0], 2);
  BOOST_TEST(!fabric.who_answers(fabric.adapters[0], before[3]));
  fabric.sweep_and_check();
  BOOST_TEST(fabric.switches_between(fabric.adapters[0], fabric.adapters[3]) == 4u);
  for (std::size_t i = 0; i < before.size(); ++i)
    BOOST_TEST((fabric.lid_of(fabric.adapters[i]) == before[i]));
  BOOST_TEST((fabric.network.node(fabric.hubs[0]).ports[2].info.physical_state == PhysicalState::disabled));
}

// A fabric in two parts: each is brought up, and no table leads to the other.
BOOST_AUTO_TEST_CASE(two_parts) {
  SweptFabric fabric(2);
  BOOST_TEST(sweep(fabric.network).refused == "");
  fabric.check_no_port_waits();
  const Lid other = fabric.lid_of(fabric.adapters[1]);
  BOOST_TEST(!fabric.who_answers(fabric.adapters[0], other));
  BOOST_TEST(fabric.network.node(fabric.hubs[0]).linear.at(other.value) == kNoRoute);
}

BOOST_AUTO_TEST_CASE(a_link_has_the_smaller_mtu) {
  SweptFabric fabric(1);
  const NodeIndex small = fabric.network.add(make_adapter({0xC1}, "small", 3));
  fabric.network.connect({small, 1}, {fabric.hubs[0], 1});
  sweep(fabric.network);
  BOOST_TEST(unsigned{fabric.network.node(fabric.hubs[0]).ports[1].info.neighbor_mtu} == 3u);
  BOOST_TEST(unsigned{fabric.network.node(fabric.hubs[0]).ports[8].info.neighbor_mtu} == 5u);
}

BOOST_AUTO_TEST_CASE(keys_do_not_keep_it_out) {
  SweptFabric fabric(1);
  Smp smp = question(Method::set, SubnetAttribute::port_info, 1);
  PortInfo info = fabric.network.port(fabric.adapters[0]);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  info.m_key = 77;
  info.m_key_protection = 3;
  smp.data = encode_data(info);
  BOOST_REQUIRE(fabric.network.ask_agent({fabric.adapters[0], 1}, smp) == Verdict::answered);
  BOOST_TEST(sweep(fabric.network).refused == "");
  BOOST_TEST(fabric.network.port(fabric.adapters[0]).lid.value != 0u);
  BOOST_TEST(fabric.network.port(fabric.adapters[0]).m_key == 77u);
}

BOOST_AUTO_TEST_CASE(the_same_lid_twice) {
  SweptFabric fabric(2);
  fabric.join(0, 1, 1, 1);
  for (const NodeIndex adapter : fabric.adapters) {
    Smp smp = question(Method::set, SubnetAttribute::port_info, 1);
    PortInfo info = fabric.network.port(adapter);
    info.state = PortState::no_change;
    info.physical_state = PhysicalState::no_change;
    info.lid = {9};
    smp.data = encode_data(info);
    BOOST_REQUIRE(fabric.network.ask_agent({adapter, 1}, smp) == Verdict::answered);
  }
  fabric.sweep_and_check();
  BOOST_TEST(fabric.lid_of(fabric.adapters[0]).value == 9u);
  BOOST_TEST(fabric.lid_of(fabric.adapters[1]).value != 9u);
}

BOOST_AUTO_TEST_CASE(a_program_manages) {
  SweptFabric fabric(1);
  BOOST_TEST(!fabric.network.has_managing_program());
  fabric.network.set_manager(fabric.adapters[0], true);
  BOOST_TEST(fabric.network.has_managing_program());
}

BOOST_AUTO_TEST_CASE(ports_are_told_to_those_who_watch) {
  SweptFabric fabric(1);
  unsigned told = 0;
  fabric.network.on_change([&](NodeIndex, bool) { ++told; });
  sweep(fabric.network);
  BOOST_TEST(told > 0u);
  told = 0;
  sweep(fabric.network);
  BOOST_TEST(told == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::subnet::test
