// Hosts that come to a fabric while it is up.
#include "device_model/subnet/added_host.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/subnet/manager/sweep.hpp"
#include "small_fabric.hpp"

namespace urnic::subnet::test {

BOOST_FIXTURE_TEST_SUITE(added_host, SmallFabric)

BOOST_AUTO_TEST_CASE(its_port_is_on_the_nearest_switch_with_a_free_one) {
  BOOST_TEST((free_switch_port(network.nodes(), kOne) == PortPlace{kNear, 3}));
  BOOST_TEST((free_switch_port(network.nodes(), kOther) == PortPlace{kFar, 2}));
  for (int i = 0; i < 2; ++i)
    add_host(network, "host " + std::to_string(i), free_switch_port(network.nodes(), kOther).value());
  BOOST_TEST((free_switch_port(network.nodes(), kOther) == PortPlace{kNear, 3}));
  for (int i = 2; i < 4; ++i)
    add_host(network, "host " + std::to_string(i), free_switch_port(network.nodes(), kOther).value());
  BOOST_TEST((free_switch_port(network.nodes(), kOther) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(it_is_down_until_its_cable_is_plugged_in_and_then_a_manager_brings_it_up) {
  sweep(network);
  const NodeIndex host = add_host(network, "script", {kNear, 3});
  BOOST_TEST((network.port(host).state == PortState::down));
  BOOST_TEST(description_of(network.node(host)) == "script");
  network.set_cable({host, 1}, true);
  BOOST_TEST((network.port(host).state == PortState::initialize));
  BOOST_TEST(network.node(kNear).switch_info.port_state_change);
  sweep(network);
  BOOST_TEST((network.port(host).state == PortState::active));
  BOOST_TEST((network.holder_of(network.port(host).lid) == host));
}

BOOST_AUTO_TEST_CASE(each_has_a_guid_of_its_own) {
  const NodeIndex first = add_host(network, "one more", {kNear, 3});
  const NodeIndex second = add_host(network, "and another", {kNear, 4});
  BOOST_TEST((network.node(first).info.node_guid != network.node(second).info.node_guid));
  BOOST_TEST((network.node(second).guids[0] == network.node(second).info.port_guid));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
