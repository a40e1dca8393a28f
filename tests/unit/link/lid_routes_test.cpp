// Ways through an InfiniBand subnet: by tables, over links that take data, and no further than they lead.
#include "device_model/link/lid_routes.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <vector>

namespace urnic::link::test {
namespace lid_routes {

constexpr std::size_t kBytes = 100;
constexpr std::uint8_t kNoRoute = 0xFF;
constexpr wire::Lid kGroup{0xC001};

// Adapters 0 and 1 at ports 1 and 2 of switch 3, adapter 2 at port 1 of switch 4; a cable between port 3 of
// the one and port 2 of the other. Adapter N has the LIDs 8 N + 8 and, with its LMC, the next one.
struct TwoSwitches {
  static constexpr std::uint32_t kLeft = 3;
  static constexpr std::uint32_t kRight = 4;

  TwoSwitches() {
    for (std::uint32_t i = 0; i < 3; ++i) {
      adapters[i] = {.device = 10 + i, .lid = lid(i), .lmc = 1, .ports = std::vector<LidPort>(2)};
      adapters[i].ports[1] = {i < 2 ? kLeft : kRight, static_cast<std::uint8_t>(i < 2 ? i + 1 : 1), true};
    }
    left.ports = {{}, {0, 1, true}, {1, 1, true}, {kRight, 2, true}};
    right.ports = {{}, {2, 1, true}, {kLeft, 3, true}};
    for (LidNode* node : {&left, &right}) {
      node->linear.resize(64, kNoRoute);
      node->groups.resize(2);
    }
    for (std::uint16_t bit = 0; bit < 2; ++bit) {
      left.linear[lid(0).value + bit] = 1;
      left.linear[lid(1).value + bit] = 2;
      left.linear[lid(2).value + bit] = 3;
      right.linear[lid(0).value + bit] = 2;
      right.linear[lid(1).value + bit] = 2;
      right.linear[lid(2).value + bit] = 1;
    }
    for (const std::size_t port : {1, 2, 3}) left.groups[1].set(port);
    for (const std::size_t port : {1, 2}) right.groups[1].set(port);
    write();
  }

  static wire::Lid lid(std::uint32_t adapter) { return {static_cast<std::uint16_t>(8 * adapter + 8)}; }

  void write() {
    for (std::uint32_t i = 0; i < 3; ++i) routes.set_node(i, adapters[i]);
    routes.set_node(kLeft, left);
    routes.set_node(kRight, right);
  }

  std::vector<std::uint32_t> group(std::uint32_t sender, wire::Lid to = kGroup) {
    std::vector<std::uint32_t> devices = routes.pass_to_group(10 + sender, to, kBytes);
    std::sort(devices.begin(), devices.end());
    return devices;
  }

  bool is_blocked(std::uint32_t sender, wire::Lid to) {
    const LidRoutes::Way way = routes.pass(10 + sender, to, kBytes);
    return way.device == LidNode::kNoDevice && !way.obstacle.empty();
  }

  LidNode adapters[3];
  LidNode left;
  LidNode right;
  LidRoutes routes;
};

using Devices = std::vector<std::uint32_t>;

}  // namespace lid_routes

BOOST_FIXTURE_TEST_SUITE(lid_routes, TwoSwitches)

BOOST_AUTO_TEST_CASE(every_port_reaches_every_lid) {
  for (std::uint32_t from = 0; from < 3; ++from) {
    for (std::uint32_t to = 0; to < 3; ++to) {
      for (const std::uint16_t path_bit : {std::uint16_t{0}, std::uint16_t{1}}) {
        const wire::Lid destination{static_cast<std::uint16_t>(lid(to).value + path_bit)};
        BOOST_TEST(routes.find(10 + from, destination).device == 10 + to);
        BOOST_TEST(routes.pass(10 + from, destination, kBytes).device == 10 + to);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_passes_is_counted_at_each_port) {
  routes.pass(10, lid(2), kBytes);
  const auto counts = [&](std::uint32_t node, std::uint8_t port) { return routes.counters(node, port); };
  BOOST_TEST(counts(0, 1).transmitted_packets == 1);
  BOOST_TEST(counts(0, 1).transmitted_bytes == kBytes);
  BOOST_TEST(counts(kLeft, 1).received_packets == 1);
  BOOST_TEST(counts(kLeft, 3).transmitted_packets == 1);
  BOOST_TEST(counts(kRight, 2).received_bytes == kBytes);
  BOOST_TEST(counts(kRight, 1).transmitted_packets == 1);
  BOOST_TEST(counts(2, 1).received_packets == 1);
  BOOST_TEST(counts(kLeft, 2).transmitted_packets == 0);
  routes.find(10, lid(2));
  BOOST_TEST(counts(0, 1).transmitted_packets == 1);
}

BOOST_AUTO_TEST_CASE(an_own_lid_does_not_leave_the_adapter) {
  BOOST_TEST(routes.pass(10, {static_cast<std::uint16_t>(lid(0).value + 1)}, kBytes).device == 10);
  BOOST_TEST(routes.counters(0, 1).transmitted_packets == 0);
}

BOOST_AUTO_TEST_CASE(a_new_table_changes_no_counter) {
  routes.pass(10, lid(1), kBytes);
  write();
  BOOST_TEST(routes.counters(kLeft, 2).transmitted_packets == 1);
}

BOOST_AUTO_TEST_CASE(where_there_is_no_way) {
  BOOST_TEST(is_blocked(0, {40}));    // no route
  BOOST_TEST(is_blocked(0, {1000}));  // beyond the table
  BOOST_TEST(is_blocked(0, wire::kPermissiveLid));
  BOOST_TEST(is_blocked(77, lid(0)));  // nobody's port
  left.linear[40] = 0;                 // the switch itself
  left.linear[41] = 2;                 // to an adapter with another LID
  left.linear[42] = 200;               // the switch has no such port
  write();
  for (const wire::Lid lid : {wire::Lid{40}, wire::Lid{41}, wire::Lid{42}})
    BOOST_TEST(is_blocked(0, lid), "LID " << lid.value);
}

BOOST_AUTO_TEST_CASE(a_port_without_a_lid_sends_nothing) {
  adapters[0].lid = {};
  write();
  BOOST_TEST(is_blocked(0, lid(1)));
  BOOST_TEST(is_blocked(0, {0}));
  BOOST_TEST(group(0).empty());
}

// A link takes data when both of its ports are active.
BOOST_AUTO_TEST_CASE(each_end_of_a_link_can_stop_it) {
  LidPort* const ends[] = {&adapters[0].ports[1], &left.ports[1],  &left.ports[3],
                           &right.ports[2],       &right.ports[1], &adapters[2].ports[1]};
  for (LidPort* end : ends) {
    end->is_active = false;
    write();
    BOOST_TEST(is_blocked(0, lid(2)));
    BOOST_TEST((group(0).empty() || group(0) == Devices{11}));
    end->is_active = true;
  }
  write();
  BOOST_TEST(!is_blocked(0, lid(2)));
  BOOST_TEST(routes.counters(kLeft, 3).discards > 0);
}

BOOST_AUTO_TEST_CASE(a_circle_ends) {
  right.linear[lid(2).value] = 2;
  write();
  BOOST_TEST(is_blocked(0, lid(2)));
}

BOOST_AUTO_TEST_CASE(a_group_is_everybody_but_the_sender) {
  BOOST_TEST((group(0) == Devices{11, 12}));
  BOOST_TEST((group(2) == Devices{10, 11}));
  left.groups[1].reset(2);
  write();
  BOOST_TEST((group(0) == Devices{12}));
  BOOST_TEST(group(0, {0xC000}).empty());
  BOOST_TEST(group(0, {0xFFFE}).empty());
}

BOOST_AUTO_TEST_CASE(a_group_reaches_nobody_twice) {
  // A second cable between the switches makes a circle.
  left.ports.push_back({kRight, 3, true});
  right.ports.push_back({kLeft, 4, true});
  left.groups[1].set(4);
  right.groups[1].set(3);
  write();
  BOOST_TEST((group(0) == Devices{11, 12}));
}

BOOST_AUTO_TEST_CASE(two_adapters_need_no_switch) {
  LidRoutes direct;
  adapters[0].ports[1] = {1, 1, true};
  adapters[1].ports[1] = {0, 1, true};
  direct.set_node(0, adapters[0]);
  direct.set_node(1, adapters[1]);
  BOOST_TEST(direct.pass(10, lid(1), kBytes).device == 11u);
  BOOST_TEST((direct.pass_to_group(10, kGroup, kBytes) == Devices{11}));
}

// IBTA 7.12.2: too many are more than the port's threshold, and good packets count against them.
BOOST_AUTO_TEST_CASE(damaged_packets_are_too_many_now_and_then) {
  left.ports[1].most_physical_errors = 2;
  write();
  const LidPlace at{kLeft, 1};
  const auto damage = [&](int packets) {
    for (int i = 0; i < packets; ++i) routes.count_damaged(at, kBytes, false);
    return routes.counters(at).line.integrity;
  };
  BOOST_TEST(damage(2) == 0u);
  BOOST_TEST(damage(1) == 1u);
  BOOST_TEST(damage(2) == 1u);  // the count began anew
  routes.pass(10, lid(1), kBytes);
  BOOST_TEST(damage(1) == 1u);
  BOOST_TEST(damage(1) == 2u);
  for (int i = 0; i < 100; ++i) routes.pass(10, lid(1), kBytes);
  BOOST_TEST(damage(2) == 2u);
  // It is of the link, which begins anew.
  left.ports[1].is_active = false;
  write();
  left.ports[1].is_active = true;
  write();
  BOOST_TEST(damage(2) == 2u);
  BOOST_TEST(damage(1) == 3u);
  BOOST_TEST(routes.counters(at).line.damaged == 12u);
  BOOST_TEST(routes.counters(at).received_packets == 12u + 101u);
}

// Where nothing is allowed, each one is too many; one that has been counted as passing is counted once.
BOOST_AUTO_TEST_CASE(each_damaged_packet_may_be_too_many) {
  routes.pass(10, lid(1), kBytes);
  routes.count_damaged({kLeft, 1}, kBytes, true);
  BOOST_TEST(routes.counters(kLeft, 1).line.integrity == 1u);
  BOOST_TEST(routes.counters(kLeft, 1).received_packets == 1u);
  BOOST_TEST((routes.peer_of({0, 1}) == LidPlace{kLeft, 1}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
