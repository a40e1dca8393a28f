// Packets inside a subnet take time, wait for credits, and are not dropped for want of room (IBTA 7.6, 7.9,
// 18.2).
#include "device_model/link/subnet_links/timed_subnet.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/unit/link/subnet_bench.hpp"

namespace urnic::link::test {
namespace timed_subnet {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using transport::Nanoseconds;
using transport::Time;

// Senders at the ports of one switch, a receiver at another one, a link between them.
struct Incast : SubnetBench {
  static constexpr std::uint32_t kSenders = 8;
  Incast() {
    for (std::uint32_t i = 0; i <= kSenders; ++i) add_host();
    left = add_switch(kSenders + 1);
    right = add_switch(2);
    for (std::uint32_t host = 0; host < kSenders; ++host)
      connect({host, 1}, {left, static_cast<std::uint8_t>(host + 1)});
    connect({kReceiver, 1}, {right, 1});
    connect({left, kSenders + 1}, {right, 2});
    route(left, kReceiver, kSenders + 1);
    route(right, kReceiver, 1);
    begin();
  }
  static constexpr std::uint32_t kReceiver = kSenders;
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

}  // namespace timed_subnet

BOOST_AUTO_TEST_SUITE(timed_subnet)

// Stored and forwarded: once on each line, and a hop's delay behind each.
BOOST_AUTO_TEST_CASE(a_packet_takes_its_time_on_each_line) {
  Star star(2);
  star.begin();
  star.send(0, Star::lid_of(1), kBytes);
  star.run();
  BOOST_REQUIRE(star.arrivals.size() == 1u);
  BOOST_TEST((star.arrivals[0].at == Time(2 * (kOnLine + kHop))));
  BOOST_TEST(star.is_at_rest());
}

BOOST_AUTO_TEST_CASE(packets_follow_each_other_at_the_rate_in_their_order) {
  Star star(2);
  star.begin();
  for (int i = 0; i < 20; ++i) star.send(0, Star::lid_of(1), kBytes);
  star.run();
  BOOST_REQUIRE(star.arrivals.size() == 20u);
  for (std::uint32_t i = 0; i < 20; ++i) {
    BOOST_TEST((star.arrivals[i].at == Time(2 * (kOnLine + kHop) + i * kOnLine)));
    BOOST_TEST(star.arrivals[i].tag == i);
  }
}

BOOST_AUTO_TEST_CASE(the_slowest_line_counts) {
  Star star(2);
  star.begin();
  star.node(star.hub).outputs[2].megabits_per_second = kSlow / 4;
  star.write(star.hub);
  for (int i = 0; i < 20; ++i) star.send(0, Star::lid_of(1), kBytes);
  star.run();
  BOOST_TEST((star.arrivals.back().at - star.arrivals.front().at == 19 * 4 * kOnLine));
  BOOST_TEST(star.lost.empty());
}

// What is due late is carried out as of its time: the caller was busy.
BOOST_AUTO_TEST_CASE(lateness_changes_nothing) {
  Star star(2);
  star.begin();
  star.send(0, Star::lid_of(1), kBytes);
  star.now = Time(milliseconds(1));
  star.send(0, Star::lid_of(1), kBytes);
  star.run();
  BOOST_TEST((star.arrivals[0].at == Time(2 * (kOnLine + kHop))));
  BOOST_TEST((star.arrivals[1].at == Time(milliseconds(1)) + 2 * (kOnLine + kHop)));
}

BOOST_AUTO_TEST_CASE(eight_to_one_stops_the_senders_and_drops_nothing) {
  constexpr std::uint32_t kPackets = 100;
  Incast incast;
  const std::uint32_t buffer = incast.settings.buffer_bytes / kBlockBytes;
  for (std::uint32_t host = 0; host < Incast::kSenders; ++host)
    incast.begin_flow(host, Incast::lid_of(Incast::kReceiver), kBytes, kPackets);
  std::uint32_t fullest = 0;
  while (incast.arrivals.size() < Incast::kSenders * kPackets) {
    incast.run_for(microseconds(2));
    for (std::uint8_t port = 1; port <= Incast::kSenders + 1; ++port)
      for (const std::uint32_t node : {incast.left, incast.right})
        if (port < incast.node(node).ports.size())
          fullest = std::max(fullest, incast.subnet->used_blocks({node, port}, 0));
    for (std::uint32_t host = 0; host < Incast::kSenders; ++host)
      fullest = std::max(fullest, incast.subnet->used_blocks({host, 1}, 0));
    // The inputs take turns: nobody has had more than two packets more than another one.
    std::vector<std::uint32_t> shares;
    for (std::uint32_t host = 0; host < Incast::kSenders; ++host) shares.push_back(incast.arrived_from(host));
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
    if (incast.arrivals.size() < Incast::kSenders * (kPackets - 20)) BOOST_TEST(*most - *least <= 2u);
  }
  BOOST_TEST(incast.lost.empty());
  BOOST_TEST(fullest <= buffer);
  BOOST_TEST(fullest > buffer - 16);  // no further packet fits
  // The line to the receiver was never idle.
  BOOST_TEST((incast.arrivals.back().at - incast.arrivals.front().at ==
              (Incast::kSenders * kPackets - 1) * kOnLine));
  incast.run();
  for (std::uint32_t host = 0; host < Incast::kSenders; ++host)
    BOOST_TEST(incast.routes.counters(host, 1).transmit_wait > 0u);
  BOOST_TEST(incast.is_at_rest());
}

// Ticks of 4 bytes: 16 ns here.
BOOST_AUTO_TEST_CASE(the_time_without_credits_is_counted) {
  Star star(2);
  star.begin();
  star.busy_until[1] = Time(milliseconds(500));
  star.begin_flow(0, Star::lid_of(1), kLarge, 10);
  star.run_for(milliseconds(450));
  BOOST_TEST(star.arrivals.empty());
  // Also while it lasts.
  const std::uint64_t counted = star.routes.counters(star.hub, 2).transmit_wait;
  BOOST_TEST(counted > 390'000'000u / 16);
  star.run();
  const std::uint64_t whole = star.routes.counters(star.hub, 2).transmit_wait;
  BOOST_TEST(whole > 499'900'000u / 16);
  BOOST_TEST(whole < 500'300'000u / 16);
  BOOST_TEST(star.routes.counters(1, 1).transmit_wait == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_receiver_stops_its_sender) {
  Star star(3);
  star.begin();
  star.device_takes = microseconds(40);  // ten times as long as the line
  star.begin_flow(0, Star::lid_of(1), kBytes, 50);
  star.run();
  BOOST_TEST(star.arrivals.size() == 50u);
  BOOST_TEST(star.lost.empty());
  BOOST_TEST((star.arrivals.back().at - star.arrivals.front().at == 49 * microseconds(40)));
  BOOST_TEST(star.is_at_rest());
}

// One that stands still does not keep others waiting whose packets go elsewhere.
BOOST_AUTO_TEST_CASE(another_output_goes_on) {
  Star star(4);
  star.begin();
  star.busy_until[1] = Time(milliseconds(50));
  star.begin_flow(0, Star::lid_of(1), kBytes, 50);
  star.begin_flow(2, Star::lid_of(3), kBytes, 50);
  star.run_for(milliseconds(1));
  BOOST_TEST(star.arrived_at(3) == 50u);
  BOOST_TEST(star.arrived_at(1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_device_has_room_until_its_line_falls_behind) {
  Star star(2);
  star.begin();
  const std::size_t at_rest = star.subnet->room(0, kLarge);
  BOOST_TEST(at_rest >= kLarge);
  star.busy_until[1] = Time(milliseconds(1));
  star.begin_flow(0, Star::lid_of(1), kLarge, 100);
  star.run_for(microseconds(500));
  BOOST_TEST(star.subnet->room(0, kLarge) < kLarge);
  BOOST_TEST((star.subnet->room_at(0) > star.now));
  BOOST_TEST(star.subnet->room(0, 100) == star.subnet->room(0, kLarge));
  BOOST_TEST(star.subnet->room(1, kLarge) == at_rest);
  star.run();
  BOOST_TEST(star.subnet->room(0, kLarge) == at_rest);
}

BOOST_AUTO_TEST_CASE(lanes_share_a_port_by_their_weights) {
  Star star(3);
  star.output.low = {{0, 48}, {1, 16}};
  star.begin();
  star.begin_flow(0, Star::lid_of(2), kBytes, 400, 0);
  star.begin_flow(1, Star::lid_of(2), kBytes, 400, 1);
  star.run_for(milliseconds(1));
  const std::uint32_t heavy = star.arrived_from(0);
  const std::uint32_t light = star.arrived_from(1);
  BOOST_TEST(heavy + light > 200u);
  BOOST_TEST(std::abs(static_cast<int>(heavy) - 3 * static_cast<int>(light)) <= 12);
  for (const auto& each : star.arrivals) BOOST_TEST(each.lane == each.service_level);
}

// The lane with priority does not see the others' queue.
BOOST_AUTO_TEST_CASE(a_lane_of_high_priority_passes) {
  Star star(3);
  star.output.high = {{1, 255}};
  star.output.low = {{0, 255}};
  star.output.high_limit = 255;
  star.begin();
  star.begin_flow(0, Star::lid_of(2), kLarge, 200, 0);
  star.run_for(milliseconds(1));
  star.send(1, Star::lid_of(2), 98, 1);
  const Time sent = star.now;
  star.run_for(milliseconds(1));
  const auto urgent = std::find_if(star.arrivals.begin(), star.arrivals.end(),
                                   [](const auto& each) { return each.service_level == 1; });
  BOOST_REQUIRE((urgent != star.arrivals.end()));
  // It waits for the packet on the line, 16 us.
  BOOST_TEST((urgent->at - sent < microseconds(20)));
}

// A lane without credits keeps no other one waiting.
BOOST_AUTO_TEST_CASE(each_lane_has_credits_of_its_own) {
  Ring ring(3);
  ring.begin();
  // Lane 0 of the link from switch 0 to switch 1 is full of packets for a host that takes none.
  ring.busy_until[1] = Time(std::chrono::seconds(1));
  ring.begin_flow(0, Ring::lid_of(1), kLarge, 20, 0);
  ring.run_for(milliseconds(1));
  BOOST_TEST(ring.subnet->used_blocks({3, 2}, 0) > 120u);
  ring.send(0, Ring::lid_of(2), kBytes, 1);
  ring.run_for(milliseconds(1));
  BOOST_TEST(ring.arrived_at(2) == 1u);
}

// Small packets leave less room than a large one needs, again and again.
BOOST_AUTO_TEST_CASE(large_packets_of_a_device_do_not_starve_behind_small_ones) {
  Star star(2);
  star.output.lanes = 1;
  star.begin();
  star.device_takes = microseconds(40);
  star.begin_flow(0, Star::lid_of(1), kLarge, 200, 1);
  star.begin_flow(0, Star::lid_of(1), 256, 200, 0);
  star.run_until(Time(microseconds(40 * 200)));
  const auto small = std::count_if(star.arrivals.begin(), star.arrivals.end(),
                                   [](const auto& each) { return each.service_level == 0; });
  const auto large = static_cast<std::ptrdiff_t>(star.arrivals.size()) - small;
  BOOST_TEST(small + large > 180);
  BOOST_TEST(std::abs(small - large) <= 10);
}

BOOST_AUTO_TEST_CASE(a_service_level_without_a_lane_is_dropped) {
  Star star(2);
  star.output.lanes = 2;
  star.begin();
  LidOutput& port = star.node(star.hub).outputs[2];
  for (LaneOfServiceLevel& table : port.lane_of) {
    table[1] = 15;  // VL 15 is not for data
    table[2] = 2;   // there are VL 0 and 1
  }
  star.write(star.hub);
  for (std::uint8_t level = 0; level < 4; ++level) star.send(0, Star::lid_of(1), kBytes, level);
  star.run();
  BOOST_TEST(star.arrivals.size() == 2u);
  BOOST_TEST(star.lost.size() == 2u);
  BOOST_TEST(has(star.lost, "no virtual lane"));
  BOOST_TEST(star.routes.counters(star.hub, 2).discards == 2u);
  BOOST_TEST(star.is_at_rest());
}

// A manager gives more lanes to one end, then to the other one.
BOOST_AUTO_TEST_CASE(a_lane_is_there_when_both_ends_have_it) {
  Star star(2);
  star.begin();
  star.node(star.hub).outputs[2].lanes = 1;
  star.node(1).outputs[1].lanes = 1;
  star.write(star.hub);
  star.write(1);
  const auto arrives = [&] {
    const auto before = star.arrivals.size();
    star.send(0, Star::lid_of(1), kBytes, 1);
    star.run();
    return star.arrivals.size() == before + 1;
  };
  BOOST_TEST(!arrives());
  star.node(star.hub).outputs[2].lanes = 8;
  star.write(star.hub);
  BOOST_TEST(!arrives());
  star.node(1).outputs[1].lanes = 8;
  star.write(1);
  BOOST_TEST(arrives());
}

// Queues are for the lanes that ports can have.
BOOST_AUTO_TEST_CASE(ports_with_fewer_lanes_work_as_others) {
  Star star(3);
  star.output.lanes = star.output.most_lanes = 2;
  star.begin();
  for (const std::uint32_t host : {0u, 1u})
    for (const std::uint8_t level : {std::uint8_t{0}, std::uint8_t{1}})
      star.begin_flow(host, Star::lid_of(2), kBytes, 50, level);
  star.run();
  BOOST_TEST(star.arrived_at(2) == 200u);
  BOOST_TEST(star.is_at_rest());
}

// The lane is chosen anew at each port.
BOOST_AUTO_TEST_CASE(the_input_port_counts_for_the_lane) {
  Star star(3);
  star.begin();
  star.node(star.hub).outputs[3].lane_of[1][0] = 4;
  star.node(star.hub).outputs[3].lane_of[2][0] = 5;
  star.write(star.hub);
  star.send(0, Star::lid_of(2), kBytes);
  star.run();
  star.send(1, Star::lid_of(2), kBytes);
  star.run();
  BOOST_TEST(unsigned{star.arrivals.at(0).lane} == 4u);
  BOOST_TEST(unsigned{star.arrivals.at(1).lane} == 5u);
}

BOOST_AUTO_TEST_CASE(a_group_reaches_its_ports_and_waits_for_each) {
  constexpr wire::Lid kGroup = wire::kFirstMulticastLid;
  Star star(4);
  star.begin();
  for (const std::size_t port : {1, 2, 3}) star.node(star.hub).groups[0].set(port);
  star.write(star.hub);
  star.busy_until[2] = Time(milliseconds(10));
  star.begin_flow(0, kGroup, kLarge, 20);
  star.run_for(milliseconds(5));
  // The one that takes none stops the sender, when the buffer at its input is full of what waits for it.
  BOOST_TEST(star.arrived_at(2) == 0u);
  BOOST_TEST(star.arrived_at(1) < 20u);
  star.run();
  BOOST_TEST(star.arrived_at(0) == 0u);
  BOOST_TEST(star.arrived_at(1) == 20u);
  BOOST_TEST(star.arrived_at(2) == 20u);
  BOOST_TEST(star.arrived_at(3) == 0u);
  BOOST_TEST(star.is_at_rest());
}

BOOST_AUTO_TEST_CASE(where_there_is_no_way) {
  Star star(2);
  star.begin();
  star.send(0, {40}, kBytes);
  star.send(0, {5000}, kBytes);
  star.send(0, {0xC000}, kBytes);
  star.node(star.hub).linear[41] = 0;
  star.node(star.hub).linear[42] = 2;   // to a host with another LID
  star.node(star.hub).linear[43] = 77;  // no such port
  star.node(star.hub).linear[44] = 1;   // back to where it came from
  star.write(star.hub);
  for (std::uint16_t lid = 41; lid <= 44; ++lid) star.send(0, {lid}, kBytes);
  star.run();
  BOOST_TEST(star.lost.size() == 7u);
  BOOST_TEST(star.arrivals.empty());
  BOOST_TEST(star.is_at_rest());
}

BOOST_AUTO_TEST_CASE(a_port_without_a_lid_sends_nothing) {
  Star star(2);
  star.begin();
  star.node(0).lid = {};
  star.write(0);
  star.send(0, Star::lid_of(1), kBytes);
  star.send(0, wire::kFirstMulticastLid, kBytes);
  star.run();
  BOOST_TEST(star.lost.size() == 2u);
  BOOST_TEST(star.routes.counters(star.hub, 1).received_packets == 0u);
}

BOOST_AUTO_TEST_CASE(a_circle_of_routes_ends) {
  Ring ring(3);
  ring.begin();
  for (std::uint32_t at = 3; at < 6; ++at) {
    ring.node(at).linear[50] = 2;
    ring.write(at);
  }
  ring.send(0, {50}, kBytes);
  ring.run();
  BOOST_TEST(has(ring.lost, "circle"));
  BOOST_TEST(ring.is_at_rest());
}

// Each of four switches sends what is for the group to the three others.
BOOST_AUTO_TEST_CASE(a_circle_of_groups_ends_and_keeps_nobody_waiting) {
  constexpr wire::Lid kGroup = wire::kFirstMulticastLid;
  constexpr std::uint32_t kSwitches = 4;
  SubnetBench mesh;
  for (std::uint32_t i = 0; i < kSwitches; ++i) mesh.add_host();
  for (std::uint32_t i = 0; i < kSwitches; ++i) mesh.add_switch(kSwitches);
  // A switch's port n + 1 leads to switch n; the one that would lead to itself, to its host.
  for (std::uint8_t one = 0; one < kSwitches; ++one) {
    const auto own = static_cast<std::uint8_t>(one + 1);
    mesh.connect({one, 1}, {kSwitches + one, own});
    for (std::uint8_t other = 0; other < kSwitches; ++other) {
      const auto port = static_cast<std::uint8_t>(other + 1);
      if (one < other) mesh.connect({kSwitches + one, port}, {kSwitches + other, own});
      mesh.route(kSwitches + one, other, port);
      mesh.node(kSwitches + one).groups[0].set(port);
    }
  }
  mesh.begin();
  for (int i = 0; i < 10; ++i) mesh.send(0, kGroup, kBytes);
  mesh.begin_flow(1, SubnetBench::lid_of(2), kBytes, 100);
  mesh.run_for(milliseconds(50));
  BOOST_TEST(mesh.arrived_from(1) == 100u);
  BOOST_TEST(has(mesh.lost, "circle"));
  // Four arrivals at switches for each of them, and three copies at most for each arrival.
  BOOST_TEST(mesh.arrived_from(0) + mesh.lost.size() <= 10 * kSwitches * 3);
  for (std::uint32_t host = 1; host < kSwitches; ++host) BOOST_TEST(mesh.arrived_at(host) >= 10u);
  BOOST_TEST(mesh.is_at_rest());
}

// What waits for it is dropped and counted, what is on it is lost; credits are whole when it comes back.
BOOST_AUTO_TEST_CASE(a_link_that_goes_down_and_comes_back) {
  Star star(2);
  star.begin();
  star.busy_until[1] = Time(milliseconds(2));
  star.begin_flow(0, Star::lid_of(1), kLarge, 30);
  star.run_for(milliseconds(1));
  star.node(star.hub).ports[2].is_active = false;
  star.write(star.hub);
  BOOST_TEST(star.routes.counters(star.hub, 2).discards > 0u);
  star.run();
  const auto arrived = star.arrivals.size();
  BOOST_TEST(arrived + star.lost.size() == 30u);
  BOOST_TEST(star.is_at_rest());
  star.node(star.hub).ports[2].is_active = true;
  star.write(star.hub);
  star.begin_flow(0, Star::lid_of(1), kLarge, 30);
  star.run();
  BOOST_TEST(star.arrivals.size() == arrived + 30);
  BOOST_TEST(star.is_at_rest());
}

BOOST_AUTO_TEST_CASE(each_port_counts_what_passes) {
  Incast incast;
  for (int i = 0; i < 3; ++i) incast.send(0, Incast::lid_of(Incast::kReceiver), kBytes);
  incast.run();
  const LidPlace senders[] = {{0, 1}, {incast.left, Incast::kSenders + 1}, {incast.right, 1}};
  const LidPlace receivers[] = {{incast.left, 1}, {incast.right, 2}, {Incast::kReceiver, 1}};
  for (const LidPlace place : senders) {
    BOOST_TEST(incast.routes.counters(place).transmitted_packets == 3u);
    BOOST_TEST(incast.routes.counters(place).transmitted_bytes == 3 * kBytes);
  }
  for (const LidPlace place : receivers)
    BOOST_TEST(incast.routes.counters(place).received_bytes == 3 * kBytes);
}

// Everything that the others do, at once, with drops; and then it works as before.
BOOST_AUTO_TEST_CASE(after_a_storm_all_is_free) {
  Ring ring(5);
  ring.output.lanes = 2;
  ring.output.head_of_queue_life = 8;
  ring.output.stall_count = 3;
  ring.begin();
  for (std::uint32_t from = 0; from < 5; ++from)
    for (std::uint32_t to = 0; to < 5; ++to)
      if (from != to)
        ring.begin_flow(from, Ring::lid_of(to), 300 + 800 * to, 60, static_cast<std::uint8_t>(from % 3));
  for (int i = 0; i < 20; ++i) {
    ring.run_for(microseconds(700));
    const std::uint32_t at = 5 + static_cast<std::uint32_t>(i) % 5;
    ring.node(at).ports[2].is_active = !ring.node(at).ports[2].is_active;
    ring.write(at);
  }
  ring.run();
  // Nobody has waited for longer than all has lasted; a tick is 16 ns.
  for (std::uint32_t node = 0; node < 10; ++node)
    for (std::uint8_t port = 1; port < ring.node(node).ports.size(); ++port)
      BOOST_TEST(ring.routes.counters(node, port).transmit_wait <=
                 static_cast<std::uint64_t>(ring.now.time_since_epoch().count()) / 16);
  BOOST_TEST(ring.steps_back == 0u);
  BOOST_TEST(ring.arrivals.size() + ring.lost.size() == 20 * 60u);
  BOOST_TEST(ring.is_at_rest());
  const auto before = ring.arrivals.size();
  ring.send(0, Ring::lid_of(1), kBytes);
  ring.run();
  BOOST_TEST(ring.arrivals.size() == before + 1);
}

BOOST_AUTO_TEST_CASE(more_packets_than_there_is_memory_for_are_dropped) {
  Star star(2);
  star.settings.most_packets = 10;
  star.begin();
  for (int i = 0; i < 30; ++i) star.send(0, Star::lid_of(1), kBytes);
  star.run();
  BOOST_TEST(star.arrivals.size() == 10u);
  BOOST_TEST(has(star.lost, "too many"));
  BOOST_TEST(star.is_at_rest());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
