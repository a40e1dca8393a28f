// A switch that is joined to a LAN outside of the process.
#include <boost/test/unit_test.hpp>
#include <deque>

#include "device_model/link/outer_port.hpp"
#include "device_model/link/trunk.hpp"
#include "device_model/link/trunk_ports.hpp"
#include "sample_frames.hpp"

namespace urnic::link::test {

namespace {

constexpr Load kEverything{100, 1 << 20};

struct FakeLan final : OuterPort {
  std::vector<std::vector<std::byte>> left;
  std::deque<std::vector<std::byte>> coming;
  std::vector<std::vector<std::byte>> given;
  std::optional<transport::Time> due;
  bool room = true;

  void take(Port& port, transport::Time now, const Load&) override {
    for (; !coming.empty(); coming.pop_front()) {
      given.push_back(coming.front());
      port.transmit({given.back(), {}, {}}, {.queue_pair = kUnknownQpn}, now);
    }
  }
  void release() override { given.clear(); }
  std::uint32_t unreleased() const override { return static_cast<std::uint32_t>(given.size()); }
  void arrive(const wire::Frame& frame, const PacketOrigin&) override { left.push_back(bytes_of(frame)); }
  void flush() override {}
  bool has_room(transport::Time) const override { return room; }
  std::optional<transport::Time> next_due() const override { return due; }
};

struct JoinedSwitch : TwoPorts {
  FakeLan lan;
  JoinedSwitch() { frame_switch.join_lan(lan); }

  void come(const Sample& sample) { come(bytes_of(SampleFrame(sample).frame())); }
  void come(std::vector<std::byte> frame) {
    lan.coming.push_back(std::move(frame));
    frame_switch.deliver_due(now, kEverything);
    frame_switch.release();
  }
  static std::vector<std::byte> to_all(std::uint8_t from) {
    std::vector<std::byte> frame = bytes_of(SampleFrame({.from = from}).frame());
    std::fill_n(frame.begin(), 6, std::byte{0xFF});
    return frame;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lan, JoinedSwitch)

BOOST_AUTO_TEST_CASE(devices_reach_each_other_and_the_lan) {
  send({.psn = 1, .to = 1});
  send({.psn = 2, .to = 9});
  BOOST_TEST(receivers[1].psns() == "1 ");
  BOOST_REQUIRE_EQUAL(lan.left.size(), 1u);
  BOOST_TEST((lan.left[0] == bytes_of(SampleFrame({.psn = 2, .to = 9}).frame())));
  BOOST_TEST(frame_switch.unknown_destination() == 0u);
}

BOOST_AUTO_TEST_CASE(what_comes_goes_to_its_device_only) {
  come({.psn = 5, .from = 9, .to = 1});
  come({.psn = 6, .from = 9, .to = 8});  // to another station of the LAN
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_TEST(receivers[1].psns() == "5 ");
  BOOST_TEST((receivers[1].arrivals[0].origin.queue_pair == kUnknownQpn));
  BOOST_TEST(lan.left.empty());
}

BOOST_AUTO_TEST_CASE(groups_are_heard_by_all) {
  come(to_all(9));
  BOOST_TEST(receivers[0].arrivals.size() == 1u);
  BOOST_TEST(receivers[1].arrivals.size() == 1u);
  BOOST_TEST(lan.left.empty());
  ports[0]->transmit({to_all(0), {}, {}}, {}, now);
  BOOST_TEST(lan.left.size() == 1u);
  BOOST_TEST(receivers[1].arrivals.size() == 2u);
}

// Such a frame would pass as that device's.
BOOST_AUTO_TEST_CASE(a_devices_own_source_address_is_refused) {
  come({.from = 0, .to = 1});
  come(to_all(1));
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(frame_switch.refused_sources() == 2u);
  BOOST_REQUIRE(observer.last(CapturePoint::dropped) != nullptr);
}

BOOST_AUTO_TEST_CASE(short_frames_do_no_harm) {
  for (std::size_t length = 0; length < 20; ++length) come(std::vector<std::byte>(length, std::byte{0xFF}));
  BOOST_TEST(frame_switch.count() == 0u);
}

BOOST_AUTO_TEST_CASE(the_devices_link_acts_in_both_directions) {
  frame_switch.link(0).configure(Direction::transmit, {.loss = 1});
  frame_switch.link(0).configure(Direction::receive, {.loss = 1});
  send({.to = 9});
  come({.from = 9, .to = 0});
  come({.psn = 3, .from = 9, .to = 1});
  BOOST_TEST(lan.left.empty());
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_TEST(receivers[1].psns() == "3 ");
}

BOOST_AUTO_TEST_CASE(captures_see_what_comes_before_its_devices_link) {
  come({.from = 9, .to = 1});
  BOOST_REQUIRE(observer.last(CapturePoint::before_link) != nullptr);
  BOOST_TEST(observer.last(CapturePoint::before_link)->device == "urnic1");
  BOOST_TEST(observer.last(CapturePoint::after_link)->device == "urnic1");
}

BOOST_AUTO_TEST_CASE(devices_wait_while_the_lan_has_no_room) {
  lan.room = false;
  BOOST_TEST(ports[0]->room(now, 1024) == 0u);
  BOOST_TEST(ports[1]->room(now, 1024) == 0u);
}

BOOST_AUTO_TEST_CASE(the_lan_may_have_something_to_do_by_itself) {
  BOOST_TEST(!frame_switch.next_due());
  lan.due = now + transport::Nanoseconds(5);
  BOOST_TEST((frame_switch.next_due() == lan.due));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

// urnic0 and the LAN are the first engine's, urnic1 is the second one's.
struct TwoEngines {
  transport::Time now{transport::Nanoseconds(1'000'000)};
  FakeLan lan;
  Switch switches[2];
  TrunkPorts trunk_ports[2] = {TrunkPorts(switches[0]), TrunkPorts(switches[1])};
  Trunk there{nullptr};
  Trunk back{nullptr};
  RememberingReceiver receivers[2];
  Port* ports[2];

  TwoEngines() {
    ports[0] = &switches[0].attach(mac_of(0), receivers[0], "urnic0");
    switches[1].attach_remote(mac_of(0), back, "urnic0");
    switches[0].attach_remote(mac_of(1), there, "urnic1");
    ports[1] = &switches[1].attach(mac_of(1), receivers[1], "urnic1");
    trunk_ports[0].add_outgoing(there, [] {});
    trunk_ports[0].add_incoming(back);
    trunk_ports[1].add_outgoing(back, [] {});
    trunk_ports[1].add_incoming(there);
    switches[0].join_lan(lan);
    switches[1].join_lan_by(back);
  }
  void rounds() {
    for (int i = 0; i < 4; ++i) {
      trunk_ports[i % 2].reclaim();
      switches[i % 2].deliver_due(now, kEverything);
      trunk_ports[i % 2].take(now, 100, 100'000);
      switches[i % 2].release();
      trunk_ports[i % 2].release();
      trunk_ports[i % 2].publish();
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lan_of_two_engines, TwoEngines)

BOOST_AUTO_TEST_CASE(frames_pass_both_ways) {
  lan.coming.push_back(bytes_of(SampleFrame({.psn = 5, .from = 9, .to = 1}).frame()));
  rounds();
  BOOST_TEST(receivers[1].psns() == "5 ");
  BOOST_TEST(receivers[0].arrivals.empty());
  ports[1]->transmit(SampleFrame({.psn = 6, .from = 1, .to = 9}).frame(), {}, now);
  rounds();
  BOOST_REQUIRE_EQUAL(lan.left.size(), 1u);
  BOOST_TEST((lan.left[0] == bytes_of(SampleFrame({.psn = 6, .from = 1, .to = 9}).frame())));
}

BOOST_AUTO_TEST_CASE(groups_are_heard_on_all_engines_and_outside) {
  std::vector<std::byte> frame = JoinedSwitch::to_all(1);
  ports[1]->transmit({frame, {}, {}}, {}, now);
  rounds();
  BOOST_TEST(lan.left.size() == 1u);
  BOOST_TEST(receivers[0].arrivals.size() == 1u);
  lan.coming.push_back(JoinedSwitch::to_all(9));
  rounds();
  BOOST_TEST(receivers[0].arrivals.size() == 2u);
  BOOST_TEST(receivers[1].arrivals.size() == 2u);
  BOOST_TEST(lan.left.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_receivers_link_acts) {
  switches[1].link(1).configure(Direction::receive, {.loss = 1});
  lan.coming.push_back(bytes_of(SampleFrame({.from = 9, .to = 1}).frame()));
  rounds();
  BOOST_TEST(receivers[1].arrivals.empty());
}

BOOST_AUTO_TEST_CASE(the_trunk_waits_for_the_lan) {
  lan.room = false;
  ports[1]->transmit(SampleFrame({.from = 1, .to = 9}).frame(), {}, now);
  rounds();
  BOOST_TEST(lan.left.empty());
  lan.room = true;
  rounds();
  BOOST_TEST(lan.left.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
