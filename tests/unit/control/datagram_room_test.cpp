// How many management datagrams may be under way on links, or wait behind them: no maker's flood takes the
// room of the others. How those are counted that find none, and that captures see them.
#include <boost/test/unit_test.hpp>
#include <string>

#include "device_model/subnet/added_host.hpp"
#include "tests/unit/control/linked_subnet.hpp"

namespace urnic::control::test {
namespace {

constexpr std::uint32_t kHalfOfWaiting = DatagramLinks::kArrived / 2;
constexpr std::uint32_t kHalfUnderWay = link::FramesInFlight::kFrames / 2;
const std::string kDevice = "[[devices]]\nlink_layer = \"infiniband\"\n";
// A link that may drop is one that impairs; this rule drops nothing.
const std::string kMatchesNothing = "qp = 5\naction = \"drop\"";

// Bit 0 of the BTH: a service that the specification reserves.
const std::string kNoPacket = "device = \"urnic0\"\ncount = 1\naction = \"corrupt_before_icrc\"\nbits = 0";

struct FourDevices : LinkedSubnet {
  FourDevices()
      : LinkedSubnet(parse_configuration(
            "subnet_manager = \"built_in\"\n" + kDevice + kDevice + kDevice + kDevice, "lab.toml")) {}

  void flood(std::size_t device_index, const Smp& smp, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) send_from(*device(device_index).adapter, smp);
  }
  std::uint64_t dropped(std::size_t index) { return counters(index).management_dropped; }
};

// Notes what captures see as dropped.
struct Losses final : link::FrameObserver {
  explicit Losses(link::Switch& shown) : at(shown) { at.add_observer(*this); }
  ~Losses() { at.remove_observer(*this); }
  void observe(const link::Observation& seen) override {
    if (seen.point != link::CapturePoint::dropped) return;
    lines.push_back(std::string(seen.device) + " " + std::string(name(seen.direction)) + ": " +
                    std::string(seen.remarks));
  }

  link::Switch& at;
  std::vector<std::string> lines;
};
using Lines = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(datagram_room, FourDevices)

// One maker has no more under way than are free for all.
BOOST_AUTO_TEST_CASE(those_under_way_are_limited) {
  load(rule("device = \"urnic0\"\naction = \"delay\"\ndelay_us = 1000000"));
  flood(kAsker, question({1}), kHalfUnderWay + 5);
  BOOST_TEST(dropped(kAsker) == 5u);
}

// Towards devices, too: the flood is on the way to the second one, a question to the fourth passes.
BOOST_AUTO_TEST_CASE(a_flood_to_one_device_leaves_room_for_others) {
  load(rule("device = \"urnic1\"\ndirection = \"rx\"\naction = \"delay\"\ndelay_us = 2000000") +
       rule("device = \"urnic3\"\ndirection = \"rx\"\nqp = 0\naction = \"delay\"\ndelay_us = 10"));
  for (const std::size_t sender : {0u, 2u}) leave_alone(sender);
  flood(kAsker, question({1, 2}), kHalfUnderWay + 5);
  BOOST_TEST(dropped(kOther) == 5u);
  flood(2, question({1, 4}), 1);
  run(Nanoseconds(1'000'000));
  BOOST_TEST(dropped(3) == 0u);
  BOOST_TEST(plan->states()[1].matches == 1u);
  BOOST_TEST(counters(2).management_dropped == 0u);
}

// Those that have come out wait for the control thread: half of the places for the first maker that floods,
// half of the rest for the next one.
BOOST_AUTO_TEST_CASE(those_that_wait_are_limited) {
  load(rule(kMatchesNothing));
  for (std::size_t maker = 0; maker < 3; ++maker) {
    const std::uint32_t share = kHalfOfWaiting >> maker;
    flood(maker, question({1}), share);
    BOOST_TEST_CONTEXT("maker " << maker) BOOST_TEST(dropped(maker) == 0u);
    flood(maker, question({1}), 3);
    BOOST_TEST_CONTEXT("maker " << maker) BOOST_TEST(dropped(maker) == 3u);
  }
  for (int time = 0; time < 2; ++time) run();
  const std::uint64_t before = dropped(kAsker);  // answers of the switch, too
  flood(kAsker, question({1}), kHalfOfWaiting);
  BOOST_TEST(dropped(kAsker) == before);
}

// A host that has come later is a maker, too.
BOOST_AUTO_TEST_CASE(an_added_host_has_a_share) {
  subnet::Network& network = fabric.subnet();
  const auto place = subnet::free_switch_port(network.nodes(), *device(kAsker).adapter);
  BOOST_REQUIRE(place.has_value());
  const subnet::NodeIndex host = subnet::add_host(network, "host", *place);
  network.set_cable({host, 1}, true);
  load(rule("direction = \"rx\"\ndevice = \"urnic0\"\n" + kMatchesNothing));
  for (std::uint64_t flood = 1; flood <= 2; ++flood) {
    for (std::uint32_t i = 0; i < kHalfOfWaiting + 3; ++i) send_from(host, question({1, 1}));
    BOOST_TEST(dropped(kAsker) == 3 * flood);
    run();
  }
}

// IBTA 16.1.3.5: VL15Dropped is of virtual lane 15, QP1Dropped of what has come for queue pair 1,
// PortXmitDiscards of what has not left.
BOOST_AUTO_TEST_CASE(those_of_other_classes_are_not_of_lane_15) {
  load(rule(kMatchesNothing));
  for (std::uint32_t i = 0; i < kHalfOfWaiting + 3; ++i) send_general(switch_lid());
  const CounterSnapshot sender = counters(kAsker);
  BOOST_TEST(sender.transmit_discards == 3u);
  BOOST_TEST(sender.management.no_room == 0u);
  BOOST_TEST(sender.management_dropped == 0u);
  run();
  set_faults(nullptr);
  load(rule("direction = \"rx\"\ndevice = \"urnic1\"\n" + kMatchesNothing));
  leave_alone(kAsker);
  for (std::uint32_t i = 0; i < kHalfOfWaiting + 3; ++i) send_general(lid(kOther));
  const CounterSnapshot receiver = counters(kOther);
  BOOST_TEST(receiver.management.no_room == 3u);
  BOOST_TEST(receiver.transmit_discards == 0u);
  BOOST_TEST(receiver.management_dropped == 0u);
}

BOOST_AUTO_TEST_CASE(captures_see_those_that_find_no_room) {
  load(rule(kMatchesNothing));
  Losses losses(home());
  flood(kAsker, question({1}), kHalfOfWaiting + 1);
  BOOST_TEST(losses.lines == Lines{"urnic0 tx: subnet: too many management datagrams wait"},
             boost::test_tools::per_element());
}

// Its Q_Key is another one now.
BOOST_AUTO_TEST_CASE(captures_see_those_that_have_become_something_else) {
  load(rule("device = \"urnic0\"\nqp = 1\naction = \"corrupt_before_icrc\"\nbits = " +
            std::to_string(12 * 8 + 31)));
  Losses losses(home());
  send_general(switch_lid());
  run();
  BOOST_REQUIRE(losses.lines.size() == 1u);
  BOOST_TEST(losses.lines[0].starts_with("urnic0 tx: "));
  BOOST_TEST(losses.lines[0].ends_with("subnet: not for this queue pair, or without its Q_Key or class"));
}

// The receiver's cable is pulled out while one is on it.
BOOST_AUTO_TEST_CASE(captures_see_those_that_a_port_does_not_take) {
  load(rule("device = \"urnic1\"\ndirection = \"rx\"\naction = \"delay\"\ndelay_us = 500"));
  leave_alone(kAsker);
  Losses losses(home());
  send(question({1, 2}));
  fabric.subnet().set_cable({*device(kOther).adapter, 1}, false);
  run(Nanoseconds(500'000));
  BOOST_REQUIRE(losses.lines.size() == 1u);
  BOOST_TEST(losses.lines[0].starts_with("urnic1 rx: "));
  BOOST_TEST(losses.lines[0].ends_with("subnet: the port at the end takes no such packet"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(broken_datagrams)

// IBTA 16.1.3.5: the port at the link's other end counts it.
BOOST_FIXTURE_TEST_CASE(a_switch_counts_one_that_is_no_packet, LinkedSubnet) {
  const auto place = fabric.subnet().node(*device(kAsker).adapter).ports[1].peer;
  const auto errors = [&] {
    return std::as_const(home()).lid_routes().counters(place->node, place->port).receive_errors;
  };
  load(rule(kNoPacket));
  BOOST_TEST(answers({1, 2}) == 0u);
  BOOST_TEST(errors() == 1u);

  // Nothing comes to it through a cable that is pulled out.
  load(rule(kNoPacket));
  Smp smp = question({});
  smp.header.management_class = wire::mad::ManagementClass::subnet_lid_routed;
  fabric.subnet().set_cable({*device(kAsker).adapter, 1}, false);
  fabric.subnet_changed();
  send(smp, lid(kOther));
  run();
  BOOST_TEST(plan->states()[0].matches == 1u);
  BOOST_TEST(errors() == 1u);
}

// Two devices whose cable joins them to each other.
BOOST_AUTO_TEST_CASE(a_device_counts_one_that_is_no_packet) {
  LinkedSubnet subnet(parse_configuration("subnet_manager = \"built_in\"\n" + kDevice + kDevice +
                                              "[[fabric.links]]\nfrom = \"urnic0\"\nto = \"urnic1\"\n",
                                          "lab.toml"));
  BOOST_TEST(subnet.answers({1}) == 1u);
  subnet.load(rule(kNoPacket));
  BOOST_TEST(subnet.answers({1}) == 0u);
  BOOST_TEST(subnet.plan->states()[0].matches == 1u);
  BOOST_TEST(subnet.counters(kOther).port.receive_errors == 1u);
  BOOST_TEST(subnet.answers({1}) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
