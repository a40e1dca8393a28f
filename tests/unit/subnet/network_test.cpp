// Datagrams by LID, and what the fabric tells of changes.
#include "device_model/subnet/network.hpp"

#include <boost/test/unit_test.hpp>

#include "small_fabric.hpp"

namespace urnic::subnet::test {
namespace {

// LIDs 1 (one), 2 (near), 3 (far), 4 (other), as a manager gives them out, and all ports active.
struct ManagedFabric : SmallFabric {
  ManagedFabric() {
    give_lid({}, 1, 1);
    give_lid({1}, 0, 2);
    give_lid({1, 2}, 0, 3);
    give_lid({1, 2, 1}, 1, 4);
    write_routes({1}, {kNoRoute, 1, 0, 2, 2});
    write_routes({1, 2}, {kNoRoute, 3, 3, 0, 1});
  }

  void activate() {
    for (const PortState state : {PortState::armed, PortState::active}) {
      set_port({}, 1, state);
      set_port({1}, 1, state);
      set_port({1}, 2, state);
      set_port({1, 2}, 3, state);
      set_port({1, 2}, 1, state);
      set_port({1, 2, 1}, 1, state);
    }
  }

  void give_lid(std::initializer_list<unsigned> way, std::uint32_t port, std::uint16_t lid) {
    auto info = get<PortInfo>(SubnetAttribute::port_info, way, port);
    info.lid = {lid};
    info.manager_lid = {1};
    info.state = PortState::no_change;
    info.physical_state = PhysicalState::no_change;
    set(SubnetAttribute::port_info, way, port, encode_data(info));
  }

  void write_routes(std::initializer_list<unsigned> way, std::initializer_list<unsigned> ports) {
    SmpData data;
    data.fill(std::byte{kNoRoute});
    std::size_t lid = 0;
    for (const unsigned port : ports) data[lid++] = static_cast<std::byte>(port);
    set(SubnetAttribute::linear_forwarding, way, 0, data);
  }

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

BOOST_FIXTURE_TEST_SUITE(network, ManagedFabric)

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

BOOST_AUTO_TEST_CASE(changes_of_adapters_are_told) {
  std::vector<NodeIndex> told;
  network.on_change([&](NodeIndex adapter) { told.push_back(adapter); });
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
