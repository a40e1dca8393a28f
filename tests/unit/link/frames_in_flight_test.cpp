// Frames under way on all links of a switch: in which order they arrive, how long their bytes stay,
// and how many a device may have.
#include "device_model/link/frames_in_flight.hpp"

#include <boost/test/unit_test.hpp>
#include <initializer_list>

#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {

namespace frames_in_flight {

using transport::Nanoseconds;

// Notes which device takes which packet.
struct NotingReceiver final : FrameReceiver {
  std::string& notes;
  char name;
  std::vector<std::span<const std::byte>> bytes;

  NotingReceiver(std::string& where, char called) : notes(where), name(called) {}
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override {
    notes += name + std::to_string(origin.identity.count) + ' ';
    bytes.push_back(frame.headers);
  }
};

struct Bench {
  std::string notes;
  transport::Time now{Nanoseconds(1'000'000)};
  Switch frame_switch;
  NotingReceiver a{notes, 'a'};
  NotingReceiver b{notes, 'b'};
  Port* ports[2] = {&frame_switch.attach(mac_of(0), a, "a"), &frame_switch.attach(mac_of(1), b, "b")};
  std::uint64_t sent = 0;

  void delay_all(std::int64_t nanoseconds) {
    for (std::uint32_t device = 0; device < 2; ++device) {
      for (const Direction direction : {Direction::transmit, Direction::receive})
        frame_switch.link(device).configure(direction, {.delay = Nanoseconds(nanoseconds)});
    }
  }
  void send(std::uint8_t from) {
    const SampleFrame frame({.from = from, .to = static_cast<std::uint8_t>(1 - from)});
    ports[from]->transmit(frame.frame(), {{from, 1, ++sent}, wire::Qpn{0x11}, wire::Psn(100)}, now);
  }
};

}  // namespace frames_in_flight

BOOST_FIXTURE_TEST_SUITE(frames_in_flight, Bench)

BOOST_AUTO_TEST_CASE(frames_of_all_links_arrive_in_the_order_of_their_times) {
  delay_all(1000);
  for (const std::uint8_t from : std::initializer_list<std::uint8_t>{0, 1, 1, 0}) {
    send(from);
    now += Nanoseconds(1);
  }
  now += Nanoseconds(2000);
  frame_switch.deliver_due(now, {100, 1 << 20});
  BOOST_TEST(notes == "b1 a2 a3 b4 ");
}

// Whatever is asked for at once: no direction is served before the other one.
BOOST_AUTO_TEST_CASE(a_small_budget_serves_both_directions_alike) {
  delay_all(1000);
  for (int i = 0; i < 8; ++i) send(static_cast<std::uint8_t>(i % 2));
  now += Nanoseconds(2000);
  frame_switch.deliver_due(now, {4, 1 << 20});
  BOOST_TEST(notes == "b1 a2 b3 a4 ");
  BOOST_TEST(frame_switch.overdue(now));
  frame_switch.deliver_due(now, {100, 200});  // bytes: a frame of 122, and the one that goes beyond
  BOOST_TEST(notes == "b1 a2 b3 a4 b5 a6 ");
  frame_switch.deliver_due(now, {100, 1 << 20});
  BOOST_TEST(!frame_switch.overdue(now));
  frame_switch.release();
  BOOST_TEST(frame_switch.count() == 0);
}

// A frame that is late on a link must not be overtaken by one that the link would pass at once.
BOOST_AUTO_TEST_CASE(a_late_frame_is_not_overtaken) {
  frame_switch.link(0).configure(Direction::transmit, {.jitter = Nanoseconds(1000), .seed = 3});
  send(0);
  now += Nanoseconds(2000);
  for (int i = 0; i < 20; ++i) send(0);
  now += Nanoseconds(2000);
  frame_switch.deliver_due(now, {100, 1 << 20});
  std::string in_order;
  for (std::uint64_t i = 1; i <= sent; ++i) in_order += 'b' + std::to_string(i) + ' ';
  BOOST_TEST(notes == in_order);
}

BOOST_AUTO_TEST_CASE(a_frame_that_was_delivered_stays_until_the_batch_ends) {
  delay_all(1000);
  send(0);
  now += Nanoseconds(2000);
  frame_switch.deliver_due(now, {100, 1 << 20});
  BOOST_TEST(frame_switch.owes_release());
  const std::vector<std::byte> before(b.bytes[0].begin(), b.bytes[0].end());
  send(1);  // needs a slot of its own
  BOOST_TEST((before == std::vector<std::byte>(b.bytes[0].begin(), b.bytes[0].end())));
  BOOST_TEST(frame_switch.count() == 2u);
  frame_switch.release();
  BOOST_TEST(!frame_switch.owes_release());
  BOOST_TEST(frame_switch.count() == 1u);
}

// It moves from link to link in the slot that it has.
BOOST_AUTO_TEST_CASE(a_frame_under_way_is_copied_once) {
  delay_all(1000);
  send(0);
  BOOST_TEST(frame_switch.count() == 1u);
  now += Nanoseconds(1000);
  frame_switch.deliver_due(now, {100, 1 << 20});
  BOOST_TEST(frame_switch.count() == 1u);
  BOOST_TEST(!frame_switch.owes_release());
}

BOOST_AUTO_TEST_CASE(a_device_with_much_under_way_leaves_room_for_others) {
  delay_all(1'000'000'000);
  std::uint32_t of_first = 0;
  while (ports[0]->room(now, 1024) != 0) {
    send(0);
    ++of_first;
  }
  BOOST_TEST(of_first == FramesInFlight::kFrames / 2);
  BOOST_TEST((ports[0]->room_at(1024) == now + Nanoseconds(1'000'000'000)));
  std::uint32_t of_second = 0;
  while (ports[1]->room(now, 1024) != 0) {
    send(1);
    ++of_second;
  }
  BOOST_TEST(of_second == FramesInFlight::kFrames / 4);
  for (int hop = 0; hop < 2; ++hop) {
    now += Nanoseconds(1'000'000'000);
    do {
      frame_switch.deliver_due(now, {1000, 1 << 30});
      frame_switch.release();
    } while (frame_switch.overdue(now));
  }
  BOOST_TEST(frame_switch.count() == 0u);
  BOOST_TEST(ports[0]->room(now, 1024) > of_first * 1024u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
