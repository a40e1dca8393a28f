// Deadlocks inside a subnet: found where they are, and nowhere else.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "device_model/link/subnet_links/deadlock.hpp"
#include "tests/unit/link/subnet_bench.hpp"

namespace urnic::link::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kPackets = 40;

// Before it are packets with one way each, to `others`.
WaitsFor wait(std::uint32_t number, const std::vector<std::uint32_t>& others, bool can_end = false) {
  WaitsFor waits{.lane = {{number, 1}, {number + 1, 2}, 0}, .can_end = can_end};
  for (const std::uint32_t other : others) waits.packets.insert({other});
  return waits;
}
WaitsFor wait_for_all(std::uint32_t number, const std::vector<std::uint32_t>& others) {
  WaitsFor waits = wait(number, {});
  waits.packets.insert(others);
  return waits;
}

std::vector<std::uint32_t> circle(std::vector<WaitsFor> lanes) {
  std::vector<std::uint32_t> nodes;
  for (const WaitingLane& each : find_deadlock(std::move(lanes))) nodes.push_back(each.sender.node);
  return nodes;
}

using Nodes = std::vector<std::uint32_t>;

// Each host sends to the one two further on.
void fill(Ring& ring, const std::vector<std::uint8_t>& levels) {
  for (std::uint32_t host = 0; host < ring.hosts; ++host)
    ring.begin_flow(host, Ring::lid_of((host + 2) % ring.hosts), kLarge, kPackets, levels[host]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(subnet_deadlock)

BOOST_AUTO_TEST_CASE(circles_of_waits) {
  BOOST_TEST(circle({}).empty());
  BOOST_TEST((circle({wait(0, {1}), wait(1, {0})}) == Nodes{0, 1}));
  BOOST_TEST((circle({wait(0, {0})}) == Nodes{0}));
  // The first one waits for the circle and is not in it.
  BOOST_TEST((circle({wait(0, {1}), wait(1, {2}), wait(2, {3}), wait(3, {1})}) == Nodes{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(what_can_go_on_is_no_deadlock) {
  BOOST_TEST(circle({wait(0, {})}).empty());
  BOOST_TEST(circle({wait(0, {1}), wait(1, {0}, true)}).empty());
  // A chain, whose end goes on.
  BOOST_TEST(circle({wait(0, {1}), wait(1, {2}), wait(2, {3}), wait(3, {}, true)}).empty());
  // In the buffer of the circle there is a packet with another way.
  BOOST_TEST(circle({wait(0, {1}), wait(1, {0, 2}), wait(2, {}, true)}).empty());
}

// A packet for a group leaves a buffer when all of its copies have left.
BOOST_AUTO_TEST_CASE(a_packet_for_a_group_waits_for_all_its_ways) {
  // One of its ways goes on, the other one is in the circle.
  BOOST_TEST((circle({wait_for_all(0, {1, 2}), wait(1, {0}), wait(2, {}, true)}) == Nodes{0, 1}));
  BOOST_TEST(circle({wait_for_all(0, {1, 2}), wait(1, {}, true), wait(2, {}, true)}).empty());
  BOOST_TEST(circle({wait_for_all(0, {}), wait(1, {0})}).empty());
}

BOOST_AUTO_TEST_CASE(a_ring_with_one_lane_stands_still) {
  for (const std::uint8_t size : {std::uint8_t{3}, std::uint8_t{4}, std::uint8_t{5}}) {
    Ring ring(size);
    ring.output.lanes = 1;
    ring.begin();
    fill(ring, std::vector<std::uint8_t>(size, 0));
    ring.run_for(milliseconds(500));
    const auto arrived = ring.arrivals.size();
    BOOST_TEST(ring.subnet->deadlocks() == 1u);
    BOOST_REQUIRE(ring.subnet->deadlock().size() == std::size_t{size});
    // From switch to switch, each by its port 2 to the next one's port 3.
    for (std::size_t i = 0; i < size; ++i) {
      const WaitingLane& here = ring.subnet->deadlock()[i];
      const WaitingLane& next = ring.subnet->deadlock()[(i + 1) % size];
      BOOST_TEST(unsigned{here.sender.port} == 2u);
      BOOST_TEST(unsigned{here.receiver.port} == 3u);
      BOOST_TEST(here.receiver.node == next.sender.node);
    }
    ring.run_for(std::chrono::seconds(10));
    BOOST_TEST(ring.arrivals.size() == arrived);
    BOOST_TEST(ring.lost.empty());
    BOOST_TEST(ring.subnet->deadlocks() == 1u);
  }
}

// The layers of opensm's lash: those that go from the last switch to the first have a lane of their own.
BOOST_AUTO_TEST_CASE(a_ring_with_two_lanes_goes_on) {
  Ring ring(4);
  ring.output.lanes = 2;
  ring.begin();
  fill(ring, {0, 0, 1, 1});
  ring.run();
  BOOST_TEST(ring.arrivals.size() == 4 * kPackets);
  BOOST_TEST(ring.lost.empty());
  BOOST_TEST(ring.subnet->deadlocks() == 0u);
  BOOST_TEST(ring.is_at_rest());
}

// The other lane of the same links has enough to send all the time.
BOOST_AUTO_TEST_CASE(a_lane_that_goes_on_does_not_hide_it) {
  Ring ring(4);
  ring.output.lanes = 2;
  ring.begin();
  fill(ring, {0, 0, 0, 0});
  ring.run_for(milliseconds(50));
  for (std::uint32_t host = 0; host < 4; ++host) ring.send(host, Ring::lid_of((host + 1) % 4), kLarge, 1);
  for (int i = 0; i < 20'000 && ring.subnet->deadlocks() == 0; ++i) {
    for (std::uint32_t host = 0; host < 4; ++host) ring.send(host, Ring::lid_of((host + 1) % 4), kLarge, 1);
    ring.run_for(std::chrono::microseconds(16));
  }
  BOOST_TEST(ring.subnet->deadlocks() == 1u);
  for (const WaitingLane& each : ring.subnet->deadlock()) BOOST_TEST(unsigned{each.lane} == 0u);
}

// Two service levels on one lane are as one.
BOOST_AUTO_TEST_CASE(two_service_levels_on_one_lane_do_not_help) {
  Ring ring(4);
  ring.output.lanes = 1;
  ring.begin();
  fill(ring, {0, 0, 1, 1});
  ring.run_for(milliseconds(500));
  BOOST_TEST(ring.subnet->deadlocks() == 1u);
}

BOOST_AUTO_TEST_CASE(the_life_at_the_head_of_a_queue_ends_a_deadlock) {
  Ring ring(4);
  ring.output.lanes = 1;
  ring.output.head_of_queue_life = 16;  // 0.27 s
  ring.begin();
  fill(ring, std::vector<std::uint8_t>(4, 0));
  ring.run();
  BOOST_TEST(ring.subnet->deadlocks() >= 1u);
  BOOST_TEST(ring.subnet->deadlock().empty());
  BOOST_TEST(!ring.subnet->last_deadlock().empty());
  BOOST_TEST(!ring.lost.empty());
  BOOST_TEST(ring.arrivals.size() + ring.lost.size() == 4 * kPackets);
  BOOST_TEST(ring.is_at_rest());
}

// A manager writes it when the packets have stood for long.
BOOST_AUTO_TEST_CASE(a_life_that_comes_late_ends_a_deadlock_now) {
  Ring ring(4);
  ring.output.lanes = 1;
  ring.begin();
  fill(ring, std::vector<std::uint8_t>(4, 0));
  ring.run_for(std::chrono::seconds(100));
  const auto before = ring.arrivals.size();
  for (std::uint32_t at = 4; at < 8; ++at) {
    for (LidOutput& port : ring.node(at).outputs) port.head_of_queue_life = 18;
    ring.write(at);
  }
  ring.run();
  BOOST_TEST(ring.steps_back == 0u);
  BOOST_TEST(!ring.lost.empty());
  BOOST_TEST((ring.lost_at.front() == transport::Time(std::chrono::seconds(100))));
  BOOST_TEST(std::is_sorted(ring.lost_at.begin(), ring.lost_at.end()));
  for (std::size_t i = before; i < ring.arrivals.size(); ++i)
    BOOST_TEST((ring.arrivals[i].at >= transport::Time(std::chrono::seconds(100))));
  BOOST_TEST(ring.arrivals.size() + ring.lost.size() == 4 * kPackets);
  BOOST_TEST(ring.is_at_rest());
}

// Half of each buffer has left it already: its credits come late, and then all goes on.
BOOST_AUTO_TEST_CASE(credits_under_way_are_no_deadlock) {
  Ring ring(4);
  ring.output.lanes = 1;
  ring.settings.hop_delay = milliseconds(300);
  ring.begin();
  for (std::uint32_t host = 0; host < 4; ++host) {
    ring.send(host, Ring::lid_of((host + 1) % 4), kLarge);
    ring.send(host, Ring::lid_of((host + 2) % 4), kLarge);
  }
  ring.run();
  BOOST_TEST(ring.arrivals.size() == 8u);
  BOOST_TEST(ring.subnet->deadlocks() == 0u);
  BOOST_TEST(ring.is_at_rest());
}

// Many senders to one device wait for long, and not for ever.
BOOST_AUTO_TEST_CASE(a_device_that_takes_nothing_is_no_deadlock) {
  Ring ring(4);
  ring.output.lanes = 1;
  ring.begin();
  ring.busy_until[3] = transport::Time(std::chrono::seconds(5));
  for (const std::uint32_t host : {0u, 1u, 2u}) ring.begin_flow(host, Ring::lid_of(3), kLarge, kPackets);
  ring.run_for(std::chrono::seconds(4));
  BOOST_TEST(ring.arrivals.empty());
  BOOST_TEST(ring.subnet->deadlocks() == 0u);
  ring.run();
  BOOST_TEST(ring.arrivals.size() == 3 * kPackets);
  BOOST_TEST(ring.is_at_rest());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
