// Management datagrams and data on one device's link: neither takes the other's room.
#include <boost/test/unit_test.hpp>

#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {
namespace {

struct SharedLink : DatagramExit {
  SharedLink() {
    frame_switch.set_datagram_exit(*this, 2);
    frame_switch.link(0).configure(Direction::transmit, {.delay = std::chrono::seconds(2)});
  }
  void come_out(const wire::Frame&, const PacketOrigin&, std::uint32_t number, Direction passed,
                std::string_view) override {
    BOOST_TEST(number == 0u);
    BOOST_TEST((passed == Direction::transmit));
    ++came_out;
  }
  // Data until the device has no room; how many.
  std::uint32_t fill_with_data() {
    const SampleFrame frame;
    std::uint32_t sent = 0;
    for (; sent < FramesInFlight::kFrames && port.room(now, 1) != 0; ++sent)
      port.transmit(frame.frame(), {{0, 1, sent + 1}, wire::Qpn{0x11}, wire::Psn(100)}, now);
    return sent;
  }
  LinkPassage pass(std::uint32_t maker) {
    const SampleFrame frame;
    const PacketOrigin origin{.identity = {.count = 1}};
    return frame_switch.pass_link(0, Direction::transmit, {frame.frame(), origin, maker, {}}, now);
  }
  std::uint32_t fill_with_datagrams(std::uint32_t maker) {
    std::uint32_t passed = 0;
    while (passed < FramesInFlight::kFrames && pass(maker) == LinkPassage::under_way) ++passed;
    return passed;
  }

  transport::Time now{transport::Nanoseconds(1'000'000)};
  Switch frame_switch;
  RememberingReceiver first, second;
  Port& port = frame_switch.attach(mac_of(0), first, "a");
  Port& other = frame_switch.attach(mac_of(1), second, "b");
  std::uint32_t came_out = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(datagram_passage, SharedLink)

// IBTA 7.6.4: virtual lane 15 has a buffer of its own.
BOOST_AUTO_TEST_CASE(data_leave_room_for_management) {
  BOOST_TEST(fill_with_data() == FramesInFlight::kFrames / 2);
  BOOST_TEST((pass(0) == LinkPassage::under_way));
  now += std::chrono::seconds(2);
  frame_switch.deliver_due(now, {FramesInFlight::kFrames, std::size_t{1} << 30});
  frame_switch.release();
  BOOST_TEST(came_out == 1u);
  BOOST_TEST(frame_switch.count() == 0u);
}

BOOST_AUTO_TEST_CASE(management_leaves_room_for_data_and_for_other_makers) {
  BOOST_TEST(fill_with_datagrams(0) == FramesInFlight::kFrames / 2);
  BOOST_TEST((pass(1) == LinkPassage::under_way));
  BOOST_TEST(port.room(now, 1) > 0u);
  BOOST_TEST(fill_with_datagrams(1) == FramesInFlight::kFrames / 4 - 1);
  BOOST_TEST(port.room(now, 1) > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
