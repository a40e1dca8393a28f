// Datagrams by LID, and what the fabric tells of changes.
#include "device_model/subnet/network.hpp"

#include <boost/test/unit_test.hpp>

#include "managed_fabric.hpp"

namespace urnic::subnet::test {
namespace {

struct Datagrams : ManagedFabric {
  std::optional<Smp> ask_lid(std::uint16_t lid) {
    return ask(question(Method::get, SubnetAttribute::node_info), {lid});
  }

  void send_general(std::uint16_t lid) {
    arrived.clear();
    Datagram datagram{.destination = {lid}, .source_qpn = 1, .destination_qpn = 1};
    network.send(kOne, datagram);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(network, Datagrams)

BOOST_AUTO_TEST_CASE(every_lid_answers) {
  for (std::uint16_t lid = 1; lid <= 4; ++lid) {
    const std::uint64_t guids[] = {0xA1, 0xB1, 0xB2, 0xA2};
    const auto answer = ask_lid(lid);
    BOOST_REQUIRE(answer.has_value());
    BOOST_TEST(decode_data<NodeInfo>(answer->data).node_guid.value == guids[lid - 1]);
  }
  BOOST_TEST(!ask_lid(5));
}

BOOST_AUTO_TEST_CASE(an_answer_names_its_sender) {
  ask_lid(4);
  BOOST_TEST(arrived.at(0).datagram.source.value == 4);
  BOOST_TEST(arrived.at(0).datagram.destination.value == 1);
}

// IBTA 4.1.3: 0xFFFF is whoever gets the datagram; no table leads there.
BOOST_AUTO_TEST_CASE(the_permissive_lid_is_the_own_port) {
  const auto answer = ask(question(Method::get, SubnetAttribute::node_info), kPermissiveLid);
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST(decode_data<NodeInfo>(answer->data).node_guid.value == 0xA1u);
}

BOOST_AUTO_TEST_CASE(a_loop_of_routes_ends) {
  write_routes({1}, {kNoRoute, 1, 0, 2, 2});
  write_routes({1, 2}, {kNoRoute, 3, 3, 0, 3});
  BOOST_TEST(!ask_lid(4));
}

// IBTA 7.2.7: only subnet management passes before the ports are active.
BOOST_AUTO_TEST_CASE(other_classes_need_active_ports) {
  send_general(4);
  BOOST_TEST(arrived.empty());
  activate();
  send_general(4);
  BOOST_REQUIRE(arrived.size() == 1u);
  BOOST_TEST(arrived[0].adapter == kOther);
  BOOST_TEST(arrived[0].datagram.source.value == 1);
}

BOOST_AUTO_TEST_CASE(a_port_takes_all_of_its_lids) {
  auto info = network.port(kOne);
  info.lid = {8};
  info.lmc = 2;
  BOOST_TEST(has_lid(info, {8}));
  BOOST_TEST(has_lid(info, {11}));
  BOOST_TEST(!has_lid(info, {12}));
  BOOST_TEST(!has_lid(info, {7}));
  info.lid = {0};
  BOOST_TEST(!has_lid(info, {0}));
}

// A port's LMC counts; 0 is no LID, and the permissive one is nobody's.
BOOST_AUTO_TEST_CASE(a_lid_has_one_holder) {
  const NodeIndex holders[] = {kOne, kNear, kFar, kOther};
  for (std::uint16_t lid = 1; lid <= 4; ++lid)
    BOOST_TEST((network.holder_of({lid}) == std::optional(holders[lid - 1])));
  for (const Lid lid : {Lid{0}, Lid{5}, Lid{0xC000}, kPermissiveLid}) BOOST_TEST(!network.holder_of(lid));
  auto info = network.port(kOther);
  info.lid = {8};
  info.lmc = 2;
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  set(SubnetAttribute::port_info, {1, 2, 1}, 1, encode_data(info));
  BOOST_TEST((network.holder_of({11}) == std::optional(kOther)));
  BOOST_TEST(!network.holder_of({12}));
}

BOOST_AUTO_TEST_CASE(changes_of_adapters_are_told) {
  std::vector<NodeIndex> told;
  network.on_change([&](NodeIndex adapter, bool) { told.push_back(adapter); });
  give_lid({1, 2, 1}, 1, 9);
  BOOST_TEST(told == std::vector<NodeIndex>{kOther});
  told.clear();
  give_lid({1, 2, 1}, 1, 9);
  BOOST_TEST(told.empty());
  network.set_manager(kOne, true);
  BOOST_TEST(told == std::vector<NodeIndex>{kOne});
  BOOST_TEST((network.port(kOne).capability_mask & kIsSubnetManager) != 0u);
  network.set_manager(kOne, false);
  BOOST_TEST((network.port(kOne).capability_mask & kIsSubnetManager) == 0u);
}

// P_Keys and GUIDs are not in PortInfo.
BOOST_AUTO_TEST_CASE(changes_of_tables_are_told) {
  unsigned told = 0;
  network.on_change([&](NodeIndex, bool) { ++told; });
  SmpData pkeys{};
  pkeys[0] = pkeys[1] = std::byte{0xFF};
  set(SubnetAttribute::pkey_table, {1, 2, 1}, 0, pkeys);
  BOOST_TEST(told == 0u);
  pkeys[2] = std::byte{0x80};
  pkeys[3] = std::byte{0x07};
  set(SubnetAttribute::pkey_table, {1, 2, 1}, 0, pkeys);
  BOOST_TEST(told == 1u);
  SmpData guids{};
  guids[15] = std::byte{0x77};
  set(SubnetAttribute::guid_info, {1, 2, 1}, 0, guids);
  BOOST_TEST(told == 2u);
}

// A switch's own port takes other classes than subnet management, too, and answers.
BOOST_AUTO_TEST_CASE(switches_take_other_classes) {
  activate();
  send_general(3);
  BOOST_REQUIRE(arrived.size() == 1u);
  BOOST_TEST(arrived[0].adapter == kFar);
  arrived.clear();
  network.send(kFar, {.destination = {1}, .source_qpn = 1, .destination_qpn = 1});
  BOOST_REQUIRE(arrived.size() == 1u);
  BOOST_TEST(arrived[0].adapter == kOne);
  BOOST_TEST(arrived[0].datagram.source.value == 3u);
}

BOOST_AUTO_TEST_CASE(requests_to_register_again_are_counted) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {1, 2, 1}, 1);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  std::vector<bool> told;
  network.on_change([&](NodeIndex adapter, bool registers_again) {
    BOOST_TEST(adapter == kOther);
    told.push_back(registers_again);
  });
  info.manager_sl = 3;
  set(SubnetAttribute::port_info, {1, 2, 1}, 1, encode_data(info));
  info.client_reregister = true;
  set(SubnetAttribute::port_info, {1, 2, 1}, 1, encode_data(info));
  BOOST_TEST((told == std::vector{false, true}));
  BOOST_TEST(network.node(kOther).reregistrations == 1u);
  BOOST_TEST(!network.port(kOther).client_reregister);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
