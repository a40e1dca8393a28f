// A device whose port leads out of the process: what leaves, what comes, and whom it does not reach.
#include "device_model/link/outer_port.hpp"

#include <boost/test/unit_test.hpp>
#include <deque>

#include "sample_frames.hpp"

namespace urnic::link::test {

namespace outer_port {

constexpr Load kEverything{100, 1 << 20};

// An outside that remembers what leaves and gives what the test puts in.
struct FakeOutside final : OuterPort {
  std::vector<std::vector<std::byte>> queued;  // in pieces that must stay in place until `flush`
  std::vector<std::vector<std::byte>> left;
  std::deque<std::vector<std::byte>> coming;
  std::vector<std::vector<std::byte>> given;
  std::uint32_t flushes = 0;
  bool room = true;

  void take(Port& port, transport::Time now, const Load& most) override {
    for (std::uint32_t i = 0; i < most.frames && !coming.empty(); ++i) {
      given.push_back(std::move(coming.front()));
      coming.pop_front();
      port.transmit({given.back(), {}, {}}, {.identity = {0, 0, ++count_}, .queue_pair = kUnknownQpn}, now);
    }
  }
  void release() override { given.clear(); }
  std::uint32_t unreleased() const override { return static_cast<std::uint32_t>(given.size()); }
  void arrive(const wire::Frame& frame, const PacketOrigin&) override {
    waiting_.push_back({bytes_of({frame.headers, {}, {}}), frame.payload, bytes_of({frame.trailer, {}, {}})});
  }
  void flush() override {
    ++flushes;
    for (const Waiting& frame : waiting_)
      left.push_back(bytes_of({frame.headers, frame.payload, frame.trailer}));
    waiting_.clear();
  }
  bool has_room(transport::Time) const override { return room; }
  transport::Time room_at() const override { return transport::Time{transport::Nanoseconds(5'000)}; }

 private:
  struct Waiting {
    std::vector<std::byte> headers;
    std::span<const std::byte> payload;
    std::vector<std::byte> trailer;
  };
  std::vector<Waiting> waiting_;
  std::uint64_t count_ = 0;
};

// urnic0's port leads out; urnic1 stays on the switch.
struct Outside : TwoPorts {
  FakeOutside outside;
  Outside() { frame_switch.connect(0, outside); }

  void come(const Sample& sample) { outside.coming.push_back(bytes_of(SampleFrame(sample).frame())); }
};

}  // namespace outer_port

BOOST_FIXTURE_TEST_SUITE(outer_port, Outside)

BOOST_AUTO_TEST_CASE(frames_leave_with_the_flush_whatever_their_address) {
  const SampleFrame to_neighbour({.psn = 1, .to = 1});
  const SampleFrame to_another({.psn = 2, .to = 9});
  for (const SampleFrame* frame : {&to_neighbour, &to_another}) ports[0]->transmit(frame->frame(), {}, now);
  BOOST_TEST(outside.left.empty());
  frame_switch.flush();
  BOOST_REQUIRE_EQUAL(outside.left.size(), 2u);
  BOOST_TEST((outside.left[0] == bytes_of(to_neighbour.frame())));
  BOOST_TEST((outside.left[1] == bytes_of(to_another.frame())));
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(frame_switch.unknown_destination() == 0u);
}

BOOST_AUTO_TEST_CASE(what_comes_goes_to_the_device_and_stays_until_it_is_released) {
  come({.psn = 7, .from = 9, .to = 0});
  come({.psn = 8, .from = 9, .to = 1});  // whatever its address
  BOOST_TEST(frame_switch.deliver_due(now, kEverything).frames == 2u);
  BOOST_TEST(receivers[0].psns() == "7 8 ");
  BOOST_TEST((receivers[0].arrivals[0].origin.queue_pair == kUnknownQpn));
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(frame_switch.owes_release());
  BOOST_TEST(frame_switch.count() == 2u);
  frame_switch.release();
  BOOST_TEST(!frame_switch.owes_release());
  BOOST_TEST(frame_switch.count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_round_takes_no_more_than_it_may) {
  for (std::uint32_t psn = 0; psn < 10; ++psn) come({.psn = psn, .from = 9, .to = 0});
  BOOST_TEST(frame_switch.deliver_due(now, {4, 1 << 20}).frames == 4u);
  BOOST_TEST(receivers[0].psns() == "0 1 2 3 ");
}

BOOST_AUTO_TEST_CASE(devices_on_the_switch_do_not_reach_it) {
  send({.from = 1, .to = 0});
  BOOST_TEST(frame_switch.unknown_destination() == 1u);
  std::vector<std::byte> to_all(64, std::byte{0xFF});
  ports[1]->transmit({to_all, {}, {}}, {}, now);
  frame_switch.flush();
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_TEST(receivers[1].arrivals.size() == 1u);
  BOOST_TEST(outside.left.empty());
}

BOOST_AUTO_TEST_CASE(groups_leave_too) {
  std::vector<std::byte> to_all(64, std::byte{0xFF});
  ports[0]->transmit({to_all, {}, {}}, {}, now);
  frame_switch.flush();
  BOOST_REQUIRE_EQUAL(outside.left.size(), 1u);
  BOOST_TEST(receivers[1].arrivals.empty());
}

BOOST_AUTO_TEST_CASE(the_devices_link_acts_in_both_directions) {
  frame_switch.link(0).configure(Direction::transmit, {.loss = 1});
  send({.to = 9});
  frame_switch.flush();
  BOOST_TEST(outside.left.empty());
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().drops(DropCause::loss) == 1u);

  frame_switch.link(0).configure(Direction::transmit, {});
  frame_switch.link(0).configure(Direction::receive, {.loss = 1});
  come({.from = 9, .to = 0});
  frame_switch.deliver_due(now, kEverything);
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_TEST(frame_switch.link(0).channel(Direction::receive).counters().drops(DropCause::loss) == 1u);
}

// The copy in a slot is given back by `release`: what leaves must be gone before.
BOOST_AUTO_TEST_CASE(a_delayed_frame_leaves_before_its_slot_is_free) {
  frame_switch.link(0).configure(Direction::transmit, {.delay = transport::Nanoseconds(1'000)});
  send({.psn = 3, .to = 9});
  now += transport::Nanoseconds(1'000);
  frame_switch.deliver_due(now, kEverything);
  BOOST_TEST(outside.left.empty());
  frame_switch.release();
  BOOST_REQUIRE_EQUAL(outside.left.size(), 1u);
  BOOST_TEST((outside.left[0] == bytes_of(SampleFrame({.psn = 3, .to = 9}).frame())));
}

BOOST_AUTO_TEST_CASE(a_cut_link_lets_nothing_through) {
  frame_switch.link(0).cut(transport::Time::max());
  send({.to = 9});
  come({.from = 9, .to = 0});
  frame_switch.deliver_due(now, kEverything);
  frame_switch.flush();
  BOOST_TEST(outside.left.empty());
  BOOST_TEST(receivers[0].arrivals.empty());
}

BOOST_AUTO_TEST_CASE(captures_see_what_leaves_and_what_comes_once_before_the_link) {
  const SampleFrame frame({.psn = 1, .to = 9});
  ports[0]->transmit(frame.frame(), {}, now);
  come({.psn = 2, .from = 9, .to = 0});
  frame_switch.deliver_due(now, kEverything);
  std::uint32_t before = 0;
  for (const auto& seen : observer.all) {
    before += seen.point == CapturePoint::before_link;
    BOOST_TEST(seen.device == "urnic0");
  }
  BOOST_TEST(before == 2u);
}

BOOST_AUTO_TEST_CASE(the_device_waits_while_the_outside_has_no_room) {
  BOOST_TEST(ports[0]->room(now, 1024) >= 1024u);
  outside.room = false;
  BOOST_TEST(ports[0]->room(now, 1024) == 0u);
  BOOST_TEST((ports[0]->room_at(1024) == outside.room_at()));
  BOOST_TEST(ports[1]->room(now, 1024) >= 1024u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
