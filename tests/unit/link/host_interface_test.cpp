// A device's own network interface: its host's frames on the device's link. A socket that keeps messages
// apart stands for the TAP; a header is in front of each frame (tap_header.hpp).
#include "device_model/link/frames/host_interface.hpp"

#include <sys/socket.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <deque>

#include "sample_frames.hpp"

namespace urnic::link::test {
namespace host_interface {

constexpr Load kEverything{100, 1 << 20};

// The host of "urnic0".
struct WithHost : TwoPorts {
  memory::Descriptor host;
  memory::Descriptor tap = pair_with(host);
  HostInterface interface { std::move(tap), mac_of(0), 0 };
  std::deque<std::vector<std::byte>> under_way;  // stay in place until a flush

  WithHost() { frame_switch.add_host(0, interface, *ports[0]); }

  static memory::Descriptor pair_with(memory::Descriptor& other) {
    int ends[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
    other = memory::Descriptor(ends[0]);
    return memory::Descriptor(ends[1]);
  }
  void host_sends(const Sample& sample, bool to_all = false) const {
    std::vector<std::byte> frame = bytes_of(SampleFrame(sample).frame());
    if (to_all) std::fill_n(frame.begin(), 6, std::byte{0xFF});
    frame.insert(frame.begin(), sizeof(TapHeader), std::byte{});
    BOOST_REQUIRE(::send(host.get(), frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size()));
  }
  std::size_t host_receives() const {
    std::size_t frames = 0;
    std::array<std::byte, 9000> bytes;
    while (recv(host.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) ++frames;
    return frames;
  }
  void round() {
    frame_switch.deliver_due(now, kEverything);
    frame_switch.release();
  }
  void device_gets(const Sample& sample, bool to_all = false) {
    std::vector<std::byte>& frame = under_way.emplace_back(bytes_of(SampleFrame(sample).frame()));
    if (to_all) std::fill_n(frame.begin(), 6, std::byte{0xFF});
    interface.arrive({frame, {}, {}}, {});
  }
};

}  // namespace host_interface

BOOST_FIXTURE_TEST_SUITE(host_interface, WithHost)

BOOST_AUTO_TEST_CASE(frames_of_the_host_leave_by_the_devices_port) {
  host_sends({.psn = 5, .from = 0, .to = 1});
  round();
  BOOST_REQUIRE(receivers[1].arrivals.size() == 1u);
  BOOST_TEST(receivers[1].arrivals[0].psn() == 5u);
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_REQUIRE(observer.last(CapturePoint::before_link) != nullptr);
  BOOST_TEST(observer.last(CapturePoint::before_link)->device == "urnic0");
  BOOST_TEST(frame_switch.count() == 0u);
}

// As a stranger's: with the device's address they would pass as its own packets.
BOOST_AUTO_TEST_CASE(frames_of_the_host_have_no_device_as_their_origin) {
  host_sends({.from = 0, .to = 1});
  round();
  BOOST_REQUIRE(receivers[1].arrivals.size() == 1u);
  const PacketOrigin& origin = receivers[1].arrivals[0].origin;
  BOOST_CHECK(origin.device == wire::MacAddress{});
  BOOST_CHECK(origin.queue_pair == kUnknownQpn);
  BOOST_TEST(origin.identity.count == 1u);
}

BOOST_AUTO_TEST_CASE(frames_of_the_host_have_its_own_address) {
  for (const std::uint8_t from : std::array<std::uint8_t, 2>{1, 77}) host_sends({.from = from, .to = 1});
  host_sends({.psn = 8, .from = 0, .to = 1});
  round();
  BOOST_REQUIRE(receivers[1].arrivals.size() == 1u);
  BOOST_TEST(receivers[1].arrivals[0].psn() == 8u);
  BOOST_TEST(interface.counters().refused_sources == 2u);
  BOOST_TEST(interface.counters().received_frames == 3u);
}

BOOST_AUTO_TEST_CASE(the_link_acts_on_frames_of_the_host) {
  frame_switch.link(0).configure(Direction::transmit, {.loss = 1});
  host_sends({.from = 0, .to = 1});
  round();  // the queue pairs' turn
  round();
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_REQUIRE(observer.last(CapturePoint::dropped) != nullptr);
}

BOOST_AUTO_TEST_CASE(the_host_gets_what_is_for_the_device_and_for_groups) {
  device_gets({.from = 1, .to = 0});
  device_gets({.from = 1, .to = 0}, true);
  BOOST_TEST(host_receives() == 0u);
  frame_switch.flush();
  BOOST_TEST(host_receives() == 2u);
  BOOST_TEST(interface.counters().sent_frames == 2u);
}

// The switch gives a group's frames to their sender, too, and the device what it gets of others.
BOOST_AUTO_TEST_CASE(the_host_gets_nothing_of_its_own_and_nothing_for_others) {
  device_gets({.from = 0, .to = 1}, true);
  device_gets({.from = 1, .to = 5});
  const std::array<std::byte, 11> runt{};
  interface.arrive({runt, {}, {}}, {});
  frame_switch.flush();
  BOOST_TEST(host_receives() == 0u);
}

// Not in each round: a look costs a system call.
BOOST_AUTO_TEST_CASE(an_empty_interface_is_left_alone_for_a_moment) {
  round();
  host_sends({.from = 0, .to = 1});
  round();
  BOOST_TEST(receivers[1].arrivals.empty());
  now += transport::Nanoseconds(10'000);
  round();
  BOOST_TEST(receivers[1].arrivals.size() == 1u);
}

// Nothing wakes an engine with a silent interface but a frame, which it then takes at once.
BOOST_AUTO_TEST_CASE(an_engine_with_a_silent_interface_sleeps) {
  for (int i = 0; i < 3; ++i) {
    round();
    round();
    BOOST_TEST(!frame_switch.next_due().has_value());
    host_sends({.from = 0, .to = 1});
    frame_switch.woken();
    round();
    BOOST_TEST(receivers[1].arrivals.size() == i + 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_silent_interface_is_looked_at_ever_more_rarely) {
  constexpr std::array kPauses{10, 20, 40, 80, 160, 320, 320};  // in microseconds
  for (std::size_t looks = 0; looks < kPauses.size(); ++looks) {
    for (std::size_t i = 0; i < looks; ++i) {
      round();  // finds nothing
      now += transport::Nanoseconds(kPauses[i] * 1000);
    }
    round();
    host_sends({.from = 0, .to = 1});
    now += transport::Nanoseconds(kPauses[looks] * 1000 - 1);
    round();
    BOOST_TEST(receivers[1].arrivals.size() == looks);
    now += transport::Nanoseconds(1);
    round();
    BOOST_TEST(receivers[1].arrivals.size() == looks + 1);
  }
}

// The line is the queue pairs', too, and theirs is every second turn. What waits in the interface waits as in
// a NIC's queue.
BOOST_AUTO_TEST_CASE(the_host_waits_for_its_line) {
  frame_switch.link(0).configure(Direction::transmit, {.rate_gbps = 1});
  constexpr int kFrames = 60;
  for (int i = 0; i < kFrames; ++i) host_sends({.psn = static_cast<std::uint32_t>(i), .from = 0, .to = 1});
  round();
  BOOST_TEST(interface.counters().received_frames == 0u);
  BOOST_REQUIRE(frame_switch.next_due().has_value());
  BOOST_CHECK(*frame_switch.next_due() <= now);
  round();
  const std::uint64_t first = interface.counters().received_frames;
  BOOST_TEST(first > 0u);
  BOOST_TEST(first < kFrames);
  for (int i = 0; i < 1000 && receivers[1].arrivals.size() < kFrames; ++i) {
    const auto due = frame_switch.next_due();
    BOOST_REQUIRE(due.has_value());
    now = std::max(now, *due);
    round();
  }
  BOOST_TEST(receivers[1].arrivals.size() == static_cast<std::size_t>(kFrames));
  BOOST_TEST(frame_switch.ports() == 2u);
}

BOOST_AUTO_TEST_CASE(a_host_that_does_not_read_loses_frames) {
  for (int i = 0; i < 20'000; ++i) device_gets({.from = 1, .to = 0});
  BOOST_TEST(interface.counters().host_does_not_read > 0u);
  frame_switch.flush();
  BOOST_TEST(host_receives() > 0u);
  device_gets({.from = 1, .to = 0});
  frame_switch.flush();
  BOOST_TEST(host_receives() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
