// A process that speaks Ethernet frames itself, as one more port of the switch.
#include <sys/socket.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "device_model/link/frames/station_port.hpp"
#include "sample_frames.hpp"

namespace urnic::link::test {
namespace station {

constexpr Load kEverything{100, 1 << 20};
constexpr std::uint8_t kStation = 9;

// The process's end.
struct Far {
  memory::Descriptor socket;

  void send(const std::vector<std::byte>& frame) const {
    BOOST_REQUIRE(::send(socket.get(), frame.data(), frame.size(), 0) == static_cast<ssize_t>(frame.size()));
  }
  void send(const Sample& sample) const { send(bytes_of(SampleFrame(sample).frame())); }
  std::vector<std::vector<std::byte>> received() const {
    std::vector<std::vector<std::byte>> frames;
    std::vector<std::byte> bytes(9000);
    for (;;) {
      const ssize_t size = recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size <= 0) return frames;
      frames.emplace_back(bytes.begin(), bytes.begin() + size);
    }
  }
};

struct WithStation : TwoPorts {
  StationPort port;
  Far far;

  WithStation() {
    frame_switch.add_station(port);
    open(kStation);
  }
  void open(std::uint8_t address) {
    int ends[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
    far.socket = memory::Descriptor(ends[1]);
    frame_switch.set_station(port, mac_of(address));
    port.open(memory::Descriptor(ends[0]), mac_of(address));
  }
  void round() {
    frame_switch.deliver_due(now, kEverything);
    frame_switch.release();
  }
};

std::vector<std::byte> to_all(std::uint8_t from) {
  std::vector<std::byte> frame = bytes_of(SampleFrame({.from = from}).frame());
  std::fill_n(frame.begin(), 6, std::byte{0xFF});
  return frame;
}

}  // namespace station

BOOST_FIXTURE_TEST_SUITE(station, WithStation)

BOOST_AUTO_TEST_CASE(frames_to_its_address_leave_by_its_socket) {
  send({.psn = 7, .to = kStation});
  BOOST_TEST(far.received().empty());
  frame_switch.flush();
  const auto frames = far.received();
  BOOST_REQUIRE(frames.size() == 1u);
  BOOST_CHECK(frames[0] == bytes_of(SampleFrame({.psn = 7, .to = kStation}).frame()));
  BOOST_TEST(frame_switch.unknown_destination() == 0u);
}

BOOST_AUTO_TEST_CASE(its_frames_reach_devices_as_from_outside) {
  far.send({.psn = 5, .from = kStation, .to = 1});
  round();
  BOOST_REQUIRE(receivers[1].arrivals.size() == 1u);
  const PacketOrigin& origin = receivers[1].arrivals[0].origin;
  BOOST_CHECK(origin.queue_pair == kUnknownQpn);
  BOOST_CHECK(origin.device == mac_of(kStation));
  BOOST_CHECK(origin.selective_acks == transport::SelectiveAcks::outside);
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_REQUIRE(observer.last(CapturePoint::before_link) != nullptr);
  BOOST_TEST(observer.last(CapturePoint::before_link)->device == "urnic1");
}

// It would pass as another device, or as somebody of a LAN.
BOOST_AUTO_TEST_CASE(its_frames_have_its_own_address) {
  for (const std::uint8_t from : std::array<std::uint8_t, 3>{0, 1, 77}) far.send({.from = from, .to = 1});
  round();
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(frame_switch.refused_sources() == 3u);
  BOOST_REQUIRE(observer.last(CapturePoint::dropped) != nullptr);
}

BOOST_AUTO_TEST_CASE(frames_to_nobody_are_dropped) {
  far.send({.from = kStation, .to = 55});
  far.send(std::vector<std::byte>(5));
  round();
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(port.is_open());
}

BOOST_AUTO_TEST_CASE(groups_go_both_ways) {
  far.send(to_all(kStation));
  round();
  BOOST_TEST(receivers[0].arrivals.size() == 1u);
  BOOST_TEST(receivers[1].arrivals.size() == 1u);
  BOOST_TEST(far.received().empty());
  const std::vector<std::byte> frame = to_all(0);
  ports[0]->transmit({frame, {}, {}}, {}, now);
  frame_switch.flush();
  BOOST_TEST(far.received().size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_device_s_link_acts_on_its_frames) {
  frame_switch.link(1).configure(Direction::receive, {.loss = 1});
  far.send({.from = kStation, .to = 1});
  round();
  BOOST_TEST(receivers[1].arrivals.empty());
}

BOOST_AUTO_TEST_CASE(one_station_follows_the_other) {
  frame_switch.set_station(port, std::nullopt);
  port.close();
  send({.to = kStation});
  BOOST_TEST(frame_switch.unknown_destination() == 1u);
  open(kStation + 1);
  send({.psn = 3, .to = kStation + 1});
  send({.psn = 4, .to = kStation});
  frame_switch.flush();
  BOOST_TEST(far.received().size() == 1u);
  far.send({.from = kStation + 1, .to = 0});
  round();
  BOOST_TEST(receivers[0].arrivals.size() == 1u);
  // And an address that was another's before.
  frame_switch.set_station(port, std::nullopt);
  port.close();
  open(kStation);
  send({.to = kStation});
  frame_switch.flush();
  BOOST_TEST(far.received().size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_address_is_one_port_s) {
  BOOST_CHECK_THROW(frame_switch.set_station(port, mac_of(1)), std::invalid_argument);
}

// A socket at its end is readable for ever: the engine would never sleep.
BOOST_AUTO_TEST_CASE(a_process_that_has_gone_is_noticed) {
  far.send({.psn = 1, .from = kStation, .to = 1});
  far.socket.reset();
  round();
  BOOST_TEST(receivers[1].arrivals.size() == 1u);
  round();
  BOOST_TEST(!port.is_open());
  send({.to = kStation});
  frame_switch.flush();
}

// As on a cable: nobody waits for a process that does not read.
BOOST_AUTO_TEST_CASE(a_process_that_does_not_read_loses_frames) {
  for (int i = 0; i < 10'000; ++i) {
    send({.to = kStation});
    if (i % 100 == 0) frame_switch.flush();
  }
  frame_switch.flush();
  BOOST_TEST(!far.received().empty());
  send({.psn = 42, .to = kStation});
  frame_switch.flush();
  BOOST_TEST(far.received().size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
