// What ports can do, what two of them make of a link, and what a manager may enable.
#include "device_model/subnet/link_ability.hpp"

#include <boost/test/unit_test.hpp>

#include "small_fabric.hpp"

namespace urnic::subnet::test {

namespace {

PortInfo port_with(const LinkAbility& ability) {
  PortInfo info;
  give_ability(info, ability);
  return info;
}

struct Row {
  LinkAbility one, other;
  LinkRate rate;
  unsigned width, speed, extended;  // PortInfo's active members
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(link_ability, SmallFabric)

// IBTA 14.2.5.6: each member has a bit for each width or speed that is supported.
BOOST_AUTO_TEST_CASE(a_port_supports_all_that_is_less) {
  const PortInfo edr = port_with({.width = LinkWidth::x12, .speed = LinkSpeed::edr, .mtu = 4, .vls = 5});
  BOOST_TEST(edr.width_supported == 15u);
  BOOST_TEST(edr.speed_supported == 7u);
  BOOST_TEST(edr.extended_speed_supported == 3u);
  BOOST_TEST(edr.mtu_capacity == 4u);
  BOOST_TEST(edr.vl_capacity == 5u);
  BOOST_TEST(edr.operational_vls == 5u);
  const PortInfo ddr = port_with({.width = LinkWidth::x1, .speed = LinkSpeed::ddr});
  BOOST_TEST(ddr.width_supported == 1u);
  BOOST_TEST(ddr.speed_supported == 3u);
  BOOST_TEST(ddr.extended_speed_supported == 0u);
  BOOST_TEST(ddr.extended_speed_active == 0u);
}

BOOST_AUTO_TEST_CASE(both_ends_take_the_best_that_they_have_in_common) {
  const Row rows[] = {
      {{}, {}, {LinkWidth::x4, LinkSpeed::edr}, 2, 4, 2},
      {{.speed = LinkSpeed::hdr}, {.speed = LinkSpeed::fdr}, {LinkWidth::x4, LinkSpeed::fdr}, 2, 4, 1},
      {{.speed = LinkSpeed::ndr}, {.speed = LinkSpeed::ddr}, {LinkWidth::x4, LinkSpeed::ddr}, 2, 2, 0},
      {{.width = LinkWidth::x12}, {.width = LinkWidth::x8}, {LinkWidth::x8, LinkSpeed::edr}, 4, 4, 2},
      {{.width = LinkWidth::x1, .speed = LinkSpeed::sdr}, {}, {LinkWidth::x1, LinkSpeed::sdr}, 1, 1, 0},
      {{.speed = LinkSpeed::ndr}, {.speed = LinkSpeed::ndr}, {LinkWidth::x4, LinkSpeed::ndr}, 2, 4, 8},
  };
  for (const Row& row : rows) {
    PortInfo one = port_with(row.one), other = port_with(row.other);
    BOOST_TEST(train(one, other));
    for (const PortInfo& end : {one, other}) {
      BOOST_TEST((active_rate(end) == row.rate));
      BOOST_TEST(end.width_active == row.width);
      BOOST_TEST(end.speed_active == row.speed);
      BOOST_TEST(end.extended_speed_active == row.extended);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_manager_enables_what_is_supported) {
  const auto write = [this](auto change) {
    auto info = get<PortInfo>(SubnetAttribute::port_info, {1}, 1);
    info.state = PortState::no_change;
    info.physical_state = PhysicalState::no_change;
    info.width_enabled = info.speed_enabled = info.extended_speed_enabled = 0;  // as they are
    change(info);
    return set(SubnetAttribute::port_info, {1}, 1, encode_data(info));
  };
  const auto port = [this] { return network.node(kNear).ports[1].info; };
  BOOST_TEST((write([](PortInfo&) {}) == MadStatus::ok));
  BOOST_TEST(port().width_enabled == 3u);
  BOOST_TEST((write([](PortInfo& info) { info.width_enabled = 8; }) == MadStatus::invalid_field));
  BOOST_TEST((write([](PortInfo& info) { info.extended_speed_enabled = 4; }) == MadStatus::invalid_field));
  BOOST_TEST((write([](PortInfo& info) {
                info.width_enabled = 1;
                info.speed_enabled = 3;
                info.extended_speed_enabled = 30;  // none
              }) == MadStatus::ok));
  BOOST_TEST((active_rate(port()) == LinkRate{LinkWidth::x4, LinkSpeed::edr}));  // not before the link trains
  BOOST_TEST((write([](PortInfo& info) { info.state = PortState::down; }) == MadStatus::ok));
  BOOST_TEST((active_rate(port()) == LinkRate{LinkWidth::x1, LinkSpeed::ddr}));
  BOOST_TEST((active_rate(network.port(kOne)) == LinkRate{LinkWidth::x1, LinkSpeed::ddr}));
  BOOST_TEST((write([](PortInfo& info) {
                info.width_enabled = 255;
                info.speed_enabled = 15;
                info.extended_speed_enabled = 31;
                info.state = PortState::down;
              }) == MadStatus::ok));
  BOOST_TEST((active_rate(network.port(kOne)) == LinkRate{LinkWidth::x4, LinkSpeed::edr}));
  BOOST_TEST((network.port(kOne).state == PortState::initialize));
  // Polling has a link that is up train, too; so ibportstate's "reset" does.
  BOOST_TEST((write([](PortInfo& info) {
                info.width_enabled = 1;
                info.physical_state = PhysicalState::polling;
              }) == MadStatus::ok));
  BOOST_TEST((active_rate(network.port(kOne)) == LinkRate{LinkWidth::x1, LinkSpeed::edr}));
}

BOOST_AUTO_TEST_CASE(ends_with_nothing_in_common_stay_down) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {1}, 2);
  info.state = PortState::down;
  info.physical_state = PhysicalState::no_change;
  info.width_enabled = 1;
  const PortInfo before = network.node(kFar).ports[3].info;
  BOOST_TEST((set(SubnetAttribute::port_info, {1, 2}, 3, encode_data([&] {
                    PortInfo other = before;
                    other.state = PortState::no_change;
                    other.physical_state = PhysicalState::no_change;
                    other.width_enabled = 2;
                    return other;
                  }())) == MadStatus::ok));
  BOOST_TEST((set(SubnetAttribute::port_info, {1}, 2, encode_data(info)) == MadStatus::ok));
  for (const PortPlace place : {PortPlace{kNear, 2}, PortPlace{kFar, 3}}) {
    const PortInfo& end = network.node(place.node).ports[place.port].info;
    BOOST_TEST((end.state == PortState::down));
    BOOST_TEST((end.physical_state == PhysicalState::polling));
  }
}

// What lash of opensm relies on. The port has 8 lanes.
BOOST_AUTO_TEST_CASE(each_service_level_has_a_lane_of_its_own) {
  const Smp before = ask(along(question(Method::get, SubnetAttribute::sl_to_vl, 1u << 8 | 2u), {1})).value();
  for (unsigned sl = 0; sl < 16; ++sl) {
    const unsigned lanes = std::to_integer<unsigned>(before.data[sl / 2]);
    BOOST_TEST((sl % 2 == 0 ? lanes >> 4 : lanes & 15) == sl % 8);
  }
  SmpData table{};
  table[3] = std::byte{0x54};
  BOOST_TEST((set(SubnetAttribute::sl_to_vl, {1}, 1u << 8 | 2u, table) == MadStatus::ok));
  BOOST_TEST(
      (ask(along(question(Method::get, SubnetAttribute::sl_to_vl, 1u << 8 | 2u), {1}))->data == table));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
