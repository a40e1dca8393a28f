// Plans of fabrics: what they refuse, and the fabric that is built after one.
#include "device_model/subnet/fabric_plan.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/subnet/manager/sweep.hpp"

namespace urnic::subnet::test {

using namespace wire::mad;

namespace {

constexpr NodeIndex kLeaf = 0, kSpine = 1, kHost = 2;

struct Plan {
  Plan() {
    plan.add({.type = NodeType::switch_node, .name = "leaf", .description = "leaf 1", .ports = 4});
    plan.add({.type = NodeType::switch_node, .name = "spine", .guid = {0x77}, .ports = 4});
    plan.add({.name = "host", .ability = {.mtu = 4}, .largest_mtu = 4});
  }

  std::string connect(PortPlace one, PortPlace other) { return plan.connect({.one = one, .other = other}); }

  FabricPlan plan;
};

void check_says(const std::string& problem, const std::string& words) {
  BOOST_TEST_CONTEXT(problem) BOOST_TEST((!problem.empty() && problem.find(words) != std::string::npos));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fabric_plan, Plan)

BOOST_AUTO_TEST_CASE(names_and_guids_are_unique) {
  check_says(plan.add({.name = "leaf"}), "\"leaf\" already");
  check_says(plan.add({.name = "other", .guid = {0x77}}), "its GUID is that of \"spine\"");
  BOOST_TEST(plan.add({.name = "other"}) == "");
  BOOST_TEST(plan.add({.name = "third"}) == "");
  BOOST_TEST((plan.nodes()[3].guid != plan.nodes()[4].guid));
  BOOST_TEST(plan.find("third").value() == 4u);
  BOOST_TEST(!plan.find("nobody").has_value());
}

// Whatever a small file asks for, the memory that the fabric takes has a bound.
BOOST_AUTO_TEST_CASE(all_nodes_together_have_a_bound_of_ports) {
  std::size_t ports = 9;  // of the nodes before
  const auto add = [&](unsigned count) {
    return plan.add({.type = NodeType::switch_node,
                     .name = "S" + std::to_string(ports),
                     .ports = static_cast<PortNumber>(count)});
  };
  for (; ports + kMostSwitchPorts <= kMostPorts; ports += kMostSwitchPorts)
    BOOST_REQUIRE(add(kMostSwitchPorts) == "");
  check_says(add(kMostSwitchPorts), "at most 200000 ports in all");
  const auto rest = static_cast<unsigned>(kMostPorts - ports);
  BOOST_TEST(add(rest) == "");
  ports = kMostPorts;
  check_says(add(1), "at most 200000 ports in all");
}

BOOST_AUTO_TEST_CASE(a_port_has_one_cable_that_leads_to_another_node) {
  BOOST_TEST(connect({kLeaf, 4}, {kSpine, 1}) == "");
  check_says(connect({kHost, 1}, {kLeaf, 4}), "leaf:4 has a link already, to spine:1");
  check_says(connect({kSpine, 1}, {kHost, 1}), "spine:1 has a link already, to leaf:4");
  check_says(connect({kHost, 1}, {kLeaf, 5}), "\"leaf\" has ports 1 to 4, and no port 5");
  check_says(connect({kLeaf, 0}, {kHost, 1}), "no port 0");
  check_says(connect({kHost, 2}, {kLeaf, 1}), "no port 2");
  check_says(connect({kLeaf, 1}, {kLeaf, 2}), "both ends are ports of \"leaf\"");
  BOOST_TEST(connect({kLeaf, 3}, {kSpine, 2}) == "");  // parallel links
  BOOST_TEST(connect({kLeaf, 1}, {kHost, 1}) == "");
  BOOST_TEST(plan.links().size() == 3u);
  BOOST_TEST(unsigned{plan.free_port(kLeaf).value()} == 2u);
  BOOST_TEST(!plan.free_port(kHost).has_value());
}

BOOST_AUTO_TEST_CASE(no_link_has_a_larger_mtu_than_its_device) {
  check_says(plan.connect({.one = {kLeaf, 1}, .other = {kHost, 1}, .mtu = 5}),
             "larger than that of \"host\"");
  BOOST_TEST(plan.connect({.one = {kLeaf, 1}, .other = {kHost, 1}, .mtu = 4}) == "");
}

BOOST_AUTO_TEST_CASE(the_fabric_is_as_planned) {
  plan.connect({.one = {kLeaf, 4}, .other = {kSpine, 1}, .width = LinkWidth::x12, .speed = LinkSpeed::hdr});
  plan.connect({.one = {kLeaf, 1}, .other = {kHost, 1}, .vls = 1});
  const auto network = build(plan);
  BOOST_REQUIRE(network->nodes().size() == 3u);
  BOOST_TEST(network->node(kLeaf).is_switch());
  BOOST_TEST(network->node(kLeaf).name == "leaf");
  BOOST_TEST(unsigned{network->node(kLeaf).info.ports} == 4u);
  BOOST_TEST(network->node(kSpine).info.node_guid.value == 0x77u);
  BOOST_TEST(std::to_integer<char>(network->node(kLeaf).description[5]) == '1');
  const auto port = [&](NodeIndex node, PortNumber number) { return network->node(node).ports[number].info; };
  BOOST_TEST((active_rate(port(kSpine, 1)) == LinkRate{LinkWidth::x12, LinkSpeed::hdr}));
  BOOST_TEST((active_rate(port(kLeaf, 1)) == LinkRate{LinkWidth::x4, LinkSpeed::edr}));
  BOOST_TEST(unsigned{port(kLeaf, 1).vl_capacity} == 1u);
  BOOST_TEST(unsigned{port(kLeaf, 2).vl_capacity} == 4u);
  BOOST_TEST((port(kLeaf, 2).state == PortState::down));
  sweep(*network);
  BOOST_TEST((port(kHost, 1).state == PortState::active));
  BOOST_TEST(unsigned{port(kLeaf, 1).neighbor_mtu} == 4u);
  BOOST_TEST(unsigned{port(kLeaf, 4).neighbor_mtu} == 5u);
  BOOST_TEST(unsigned{port(kLeaf, 1).operational_vls} == 1u);
}

// IBTA 14.2.5.3: each port of an adapter has a GUID of its own.
BOOST_AUTO_TEST_CASE(an_adapter_with_two_ports) {
  plan.add({.name = "two", .ports = 2});
  plan.connect({.one = {3, 2}, .other = {kLeaf, 2}});
  const auto network = build(plan);
  const auto info_of = [&](PortNumber number) {
    Smp smp;
    smp.header.management_class = ManagementClass::subnet_lid_routed;
    smp.header.method = Method::get;
    smp.header.attribute = {static_cast<std::uint16_t>(SubnetAttribute::node_info)};
    network->ask_agent({3, number}, smp);
    return decode_data<NodeInfo>(smp.data);
  };
  BOOST_TEST(unsigned{info_of(2).ports} == 2u);
  BOOST_TEST(unsigned{info_of(2).local_port} == 2u);
  BOOST_TEST((info_of(1).port_guid == info_of(1).node_guid));
  BOOST_TEST((info_of(2).node_guid == info_of(1).node_guid));
  BOOST_TEST((info_of(2).port_guid != info_of(1).port_guid));
  BOOST_TEST((network->node(3).ports[1].info.state == PortState::down));
  BOOST_TEST((network->node(3).ports[2].info.state == PortState::initialize));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
