// What the subnet management agents answer, and what they let a manager change.
#include "device_model/subnet/agent.hpp"

#include <boost/test/unit_test.hpp>

#include "small_fabric.hpp"

namespace urnic::subnet::test {

BOOST_FIXTURE_TEST_SUITE(agent, SmallFabric)

BOOST_AUTO_TEST_CASE(a_new_port_waits_for_a_manager) {
  const auto info = get<PortInfo>(SubnetAttribute::port_info, {}, 1);
  BOOST_TEST((info.state == PortState::initialize));
  BOOST_TEST((info.physical_state == PhysicalState::link_up));
  BOOST_TEST(info.lid.value == 0);
  BOOST_TEST(info.subnet_prefix == 0xFE80'0000'0000'0000u);
  const auto unplugged = get<PortInfo>(SubnetAttribute::port_info, {1}, 3);
  BOOST_TEST((unplugged.state == PortState::down));
  BOOST_TEST((unplugged.physical_state == PhysicalState::polling));
}

BOOST_AUTO_TEST_CASE(the_state_goes_one_step_at_a_time) {
  BOOST_TEST((set_port({}, 1, PortState::active) == MadStatus::invalid_field));
  BOOST_TEST((set_port({}, 1, PortState::armed) == MadStatus::ok));
  BOOST_TEST((set_port({}, 1, PortState::initialize) == MadStatus::invalid_field));
  BOOST_TEST((set_port({}, 1, PortState::active) == MadStatus::ok));
  BOOST_TEST((set_port({}, 1, PortState::armed) == MadStatus::invalid_field));
  BOOST_TEST((set_port({}, 1, PortState::no_change) == MadStatus::ok));
  BOOST_TEST((network.port(kOne).state == PortState::active));
  BOOST_TEST((set_port({1}, 3, PortState::armed) == MadStatus::invalid_field));  // no cable
}

BOOST_AUTO_TEST_CASE(a_refused_set_changes_nothing) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {}, 1);
  info.lid = {9};
  info.state = PortState::active;
  info.physical_state = PhysicalState::no_change;
  BOOST_TEST((set(SubnetAttribute::port_info, {}, 1, encode_data(info)) == MadStatus::invalid_field));
  BOOST_TEST(network.port(kOne).lid.value == 0);
  info.state = PortState::no_change;
  info.neighbor_mtu = 6;
  BOOST_TEST((set(SubnetAttribute::port_info, {}, 1, encode_data(info)) == MadStatus::invalid_field));
  info.neighbor_mtu = 4;
  info.operational_vls = 5;
  BOOST_TEST((set(SubnetAttribute::port_info, {}, 1, encode_data(info)) == MadStatus::invalid_field));
  info.operational_vls = 1;
  BOOST_TEST((set(SubnetAttribute::port_info, {}, 1, encode_data(info)) == MadStatus::ok));
  BOOST_TEST(network.port(kOne).lid.value == 9);
  BOOST_TEST(network.port(kOne).neighbor_mtu == 4);
}

BOOST_AUTO_TEST_CASE(down_begins_anew_at_both_ends) {
  set_port({}, 1, PortState::armed);
  set_port({1}, 1, PortState::armed);
  SwitchInfo cleared = network.node(kNear).switch_info;
  cleared.port_state_change = true;
  set(SubnetAttribute::switch_info, {1}, 0, encode_data(cleared));
  BOOST_TEST(!network.node(kNear).switch_info.port_state_change);
  BOOST_TEST((set_port({}, 1, PortState::down) == MadStatus::ok));
  BOOST_TEST((network.port(kOne).state == PortState::initialize));
  BOOST_TEST((network.node(kNear).ports[1].info.state == PortState::initialize));
  BOOST_TEST(network.node(kNear).switch_info.port_state_change);
}

BOOST_AUTO_TEST_CASE(a_disabled_port_is_down_at_both_ends_until_it_polls) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {1}, 2);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::disabled;
  set(SubnetAttribute::port_info, {1}, 2, encode_data(info));
  const auto& near = network.node(kNear).ports[2].info;
  const auto& far = network.node(kFar).ports[3].info;
  BOOST_TEST((near.state == PortState::down && near.physical_state == PhysicalState::disabled));
  BOOST_TEST((far.state == PortState::down && far.physical_state == PhysicalState::polling));
  BOOST_TEST(!ask(along(question(Method::get, SubnetAttribute::node_info), {1, 2})));
  info.physical_state = PhysicalState::polling;
  set(SubnetAttribute::port_info, {1}, 2, encode_data(info));
  BOOST_TEST((near.state == PortState::initialize && near.physical_state == PhysicalState::link_up));
  BOOST_TEST((far.state == PortState::initialize && far.physical_state == PhysicalState::link_up));
}

BOOST_AUTO_TEST_CASE(tables_keep_what_is_written) {
  SmpData data{};
  data[5] = std::byte{2};
  BOOST_TEST((set(SubnetAttribute::linear_forwarding, {1}, 1, data) == MadStatus::ok));
  BOOST_TEST(network.node(kNear).linear[64 + 5] == 2);
  BOOST_TEST(network.node(kNear).linear[5] == kNoRoute);
  BOOST_TEST((set(SubnetAttribute::linear_forwarding, {1}, 768, data) == MadStatus::invalid_field));
  BOOST_TEST(
      (set(SubnetAttribute::linear_forwarding, {}, 0, data) == MadStatus::unsupported_method_and_attribute));
  BOOST_TEST((set(SubnetAttribute::multicast_forwarding, {1}, 0, data) == MadStatus::ok));
  BOOST_TEST(
      (ask(along(question(Method::get, SubnetAttribute::multicast_forwarding), {1})).value().data == data));
  BOOST_TEST((set(SubnetAttribute::multicast_forwarding, {1}, 32, data) == MadStatus::invalid_field));
  PkeyBlock pkeys{};
  pkeys[1] = 0x8001;
  BOOST_TEST((set(SubnetAttribute::pkey_table, {}, 0, encode_block(pkeys)) == MadStatus::ok));
  BOOST_TEST(network.node(kOne).ports[1].pkeys[1] == 0x8001);
  BOOST_TEST((set(SubnetAttribute::pkey_table, {}, 1, data) == MadStatus::invalid_field));
  BOOST_TEST((set(SubnetAttribute::sl_to_vl, {1}, 0x0102, data) == MadStatus::ok));
  BOOST_TEST((set(SubnetAttribute::sl_to_vl, {1}, 0x0109, data) == MadStatus::invalid_field));
  BOOST_TEST((set(SubnetAttribute::vl_arbitration, {1}, 0x0001'0001, data) == MadStatus::ok));
  BOOST_TEST((set(SubnetAttribute::vl_arbitration, {1}, 0x0005'0001, data) == MadStatus::invalid_field));
  BOOST_TEST((set(SubnetAttribute::vl_arbitration, {1}, 0x0001, data) == MadStatus::invalid_field));
}

// IBTA 14.2.5.12: a position is of 16 ports; the switch has 4.
BOOST_AUTO_TEST_CASE(masks_of_ports_that_a_switch_has_not_are_zero) {
  SmpData data{};
  data[1] = std::byte{0xFF};
  constexpr std::uint32_t kSecondPosition = 1u << 28;
  BOOST_TEST((set(SubnetAttribute::multicast_forwarding, {1}, kSecondPosition, data) == MadStatus::ok));
  const Smp answer =
      ask(along(question(Method::get, SubnetAttribute::multicast_forwarding, kSecondPosition), {1})).value();
  BOOST_TEST((answer.data == SmpData{}));
}

// IBTA 14.2.5.2, 14.2.5.3, 14.2.5.4: what the hardware is, a manager reads only.
BOOST_AUTO_TEST_CASE(a_manager_does_not_change_the_hardware) {
  for (const SubnetAttribute attribute : {SubnetAttribute::node_description, SubnetAttribute::node_info})
    BOOST_TEST((set(attribute, {1}, 0, {}) == MadStatus::unsupported_method_and_attribute));
  BOOST_TEST((set(SubnetAttribute::switch_info, {}, 0, {}) == MadStatus::unsupported_method_and_attribute));
  const SwitchInfo before = network.node(kNear).switch_info;
  SwitchInfo wanted = before;
  wanted.linear_capacity = 1;
  wanted.multicast_capacity = 1;
  wanted.partition_enforcement_capacity = 1;
  wanted.linear_top = 9;
  BOOST_TEST((set(SubnetAttribute::switch_info, {1}, 0, encode_data(wanted)) == MadStatus::ok));
  const SwitchInfo& after = network.node(kNear).switch_info;
  BOOST_TEST(after.linear_top == 9);
  BOOST_TEST(after.linear_capacity == before.linear_capacity);
  BOOST_TEST(after.multicast_capacity == before.multicast_capacity);
  BOOST_TEST(after.partition_enforcement_capacity == before.partition_enforcement_capacity);
}

// IBTA 14.2.5.6: a switch has its LID at port 0.
BOOST_AUTO_TEST_CASE(a_switchs_ports_with_links_have_no_lid) {
  for (const std::uint32_t port : {1u, 0u}) {
    auto info = get<PortInfo>(SubnetAttribute::port_info, {1}, port);
    info.state = PortState::no_change;
    info.physical_state = PhysicalState::no_change;
    info.lid = {5};
    BOOST_TEST((set(SubnetAttribute::port_info, {1}, port, encode_data(info)) == MadStatus::ok));
    BOOST_TEST((network.node(kNear).ports[port].info.lid.value == 5) == (port == 0));
  }
}

BOOST_AUTO_TEST_CASE(the_lid_of_a_group_is_no_ports) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {}, 1);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  info.lid = {0xC000};
  BOOST_TEST((set(SubnetAttribute::port_info, {}, 1, encode_data(info)) == MadStatus::invalid_field));
  BOOST_TEST(network.port(kOne).lid.value == 0);
}

BOOST_AUTO_TEST_CASE(the_first_guid_stays) {
  GuidBlock guids{};
  guids[0].value = 0xBAD;
  guids[1].value = 0x55;
  BOOST_TEST((set(SubnetAttribute::guid_info, {}, 0, encode_block(guids)) == MadStatus::ok));
  BOOST_TEST(network.node(kOne).guids[0].value == 0xA1u);
  BOOST_TEST(network.node(kOne).guids[1].value == 0x55u);
}

BOOST_AUTO_TEST_CASE(an_m_key_protects) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {}, 1);
  info.m_key = 0x1234;
  info.m_key_protection = 1;
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  BOOST_TEST((set(SubnetAttribute::port_info, {}, 1, encode_data(info)) == MadStatus::ok));
  // A Get without it does not tell it; a Set without it has no answer, and is counted.
  BOOST_TEST(get<PortInfo>(SubnetAttribute::port_info, {}, 1).m_key == 0u);
  Smp smp = along(question(Method::set, SubnetAttribute::port_info, 1), {});
  info.lid = {77};
  smp.data = encode_data(info);
  BOOST_TEST(!ask(smp));
  BOOST_TEST(network.port(kOne).lid.value == 0);
  BOOST_TEST(network.port(kOne).m_key_violations == 1);
  info.m_key_protection = 2;
  smp.data = encode_data(info);
  smp.m_key = 0x1234;
  BOOST_TEST(ask(smp).has_value());
  BOOST_TEST(network.port(kOne).lid.value == 77);
  BOOST_TEST(!ask(along(question(Method::get, SubnetAttribute::node_info), {})));
}

BOOST_AUTO_TEST_CASE(unknown_attributes_and_ports) {
  BOOST_TEST(
      (set(static_cast<SubnetAttribute>(0x7777), {}, 0, {}) == MadStatus::unsupported_method_and_attribute));
  BOOST_TEST((ask(along(question(Method::get, SubnetAttribute::port_info, 2), {})).value().header.status ==
              MadStatus::invalid_field));
  BOOST_TEST((ask(along(question(Method::get, SubnetAttribute::port_info, 5), {1})).value().header.status ==
              MadStatus::invalid_field));
  // Bit 31 is the manager's, and no port's.
  BOOST_TEST(
      (ask(along(question(Method::get, SubnetAttribute::port_info, 0x8000'0001), {})).value().header.status ==
       MadStatus::ok));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
