#include "device_model/link/switch.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_model/link/frames_in_flight.hpp"
#include "wire/infiniband/local_route_header.hpp"

namespace urnic::link::test {

namespace built_in_switch {

struct Receiver final : FrameReceiver {
  std::vector<wire::Frame> frames;
  void arrive(const wire::Frame& frame, const PacketOrigin&) override { frames.push_back(frame); }
};

// Writes down the order in which observers and receivers see a frame.
struct Observer final : FrameObserver {
  explicit Observer(std::string& log, char name) : log_(log), name_(name) {}
  void observe(const Observation& seen) override {
    log_ += name_;
    log_ += seen.point == CapturePoint::before_link  ? '<'
            : seen.point == CapturePoint::after_link ? '>'
                                                     : '-';
  }

 private:
  std::string& log_;
  char name_;
};

wire::MacAddress mac(std::uint8_t fifth, std::uint8_t sixth) { return {{0x02, 0, 0, 0, fifth, sixth}}; }

// A frame whose Ethernet header names `to` and `from`.
struct TestFrame {
  std::array<std::byte, 14> headers{};
  std::array<std::byte, 4> payload{};
  std::array<std::byte, 4> trailer{};

  TestFrame(const wire::MacAddress& to, const wire::MacAddress& from) {
    for (std::size_t i = 0; i < 6; ++i) {
      headers[i] = static_cast<std::byte>(to.bytes[i]);
      headers[6 + i] = static_cast<std::byte>(from.bytes[i]);
    }
  }
  wire::Frame frame() const { return {headers, payload, trailer}; }
};

constexpr Load kEverything{100, 1 << 20};

// The inside of a subnet, which keeps what enters.
struct Keeper final : LidFabric {
  PooledFrame* kept = nullptr;
  void node_changed(std::uint32_t, transport::Time) override {}
  void enter(PooledFrame& frame, std::uint32_t, transport::Time) override { kept = &frame; }
  void pass_next() override {}
  std::optional<transport::Time> next_due() const override { return {}; }
  void fall_silent(std::uint32_t, transport::Time, transport::Time) override {}
  void end_silence(std::uint32_t) override {}
  std::size_t room(std::uint32_t, std::size_t least) const override { return least; }
  transport::Time room_at(std::uint32_t) const override { return {}; }
};

struct Fixture {
  Switch frame_switch;
  Receiver one;
  Receiver two;
  Port& port_one = frame_switch.attach(mac(0, 1), one);
  Port& port_two = frame_switch.attach(mac(0, 2), two);
};

}  // namespace built_in_switch

BOOST_FIXTURE_TEST_SUITE(built_in_switch, Fixture)

BOOST_AUTO_TEST_CASE(forwards_by_destination_without_copying) {
  const TestFrame sent(mac(0, 2), mac(0, 1));
  port_one.transmit(sent.frame(), {}, {});
  BOOST_TEST(one.frames.empty());
  BOOST_REQUIRE_EQUAL(two.frames.size(), 1);
  BOOST_TEST(two.frames[0].headers.data() == sent.headers.data());
  BOOST_TEST(two.frames[0].payload.data() == sent.payload.data());
  BOOST_TEST(two.frames[0].trailer.data() == sent.trailer.data());
  port_two.transmit(TestFrame(mac(0, 1), mac(0, 2)).frame(), {}, {});
  BOOST_TEST(one.frames.size() == 1);
  BOOST_TEST(two.frames.size() == 1);
}

BOOST_AUTO_TEST_CASE(a_frame_to_the_senders_own_address_comes_back) {
  port_one.transmit(TestFrame(mac(0, 1), mac(0, 1)).frame(), {}, {});
  BOOST_TEST(one.frames.size() == 1);
  BOOST_TEST(two.frames.empty());
}

BOOST_AUTO_TEST_CASE(counts_what_nobody_takes) {
  BOOST_TEST(frame_switch.unknown_destination() == 0);
  port_one.transmit(TestFrame(mac(0, 3), mac(0, 1)).frame(), {}, {});
  port_one.transmit(TestFrame({}, mac(0, 1)).frame(), {}, {});  // all zero
  BOOST_TEST(frame_switch.unknown_destination() == 2);
  BOOST_TEST(one.frames.empty());
  BOOST_TEST(two.frames.empty());
}

BOOST_AUTO_TEST_CASE(a_frame_to_a_group_goes_to_every_port) {
  for (const wire::MacAddress& group : {wire::MacAddress{{0x01, 0x00, 0x5E, 1, 2, 3}},
                                        wire::MacAddress{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}}) {
    port_one.transmit(TestFrame(group, mac(0, 1)).frame(), {}, {});
  }
  BOOST_TEST(one.frames.size() == 2);
  BOOST_TEST(two.frames.size() == 2);
  BOOST_TEST(frame_switch.unknown_destination() == 0);
}

// A frame that a program has made itself is in one piece, and may have an address that no port has.
BOOST_AUTO_TEST_CASE(a_programs_frame_to_an_unknown_address_goes_to_every_port_but_the_senders) {
  Receiver three;
  frame_switch.attach(mac(0, 3), three);
  const TestFrame unknown(mac(0, 77), mac(0, 1));
  port_one.transmit({.headers = unknown.headers, .payload = {}, .trailer = {}}, {}, {});
  BOOST_TEST(one.frames.empty());
  BOOST_TEST((two.frames.size() == 1 && three.frames.size() == 1));
  BOOST_TEST(frame_switch.unknown_destination() == 1);
  const TestFrame known(mac(0, 3), mac(0, 1));
  port_one.transmit({.headers = known.headers, .payload = {}, .trailer = {}}, {}, {});
  BOOST_TEST((two.frames.size() == 1 && three.frames.size() == 2));
  const TestFrame home(mac(0, 1), mac(0, 1));
  port_one.transmit({.headers = home.headers, .payload = {}, .trailer = {}}, {}, {});
  BOOST_TEST((one.frames.size() == 1 && two.frames.size() == 1));
}

BOOST_AUTO_TEST_CASE(a_programs_frame_to_an_unknown_address_travels_over_links) {
  frame_switch.link(0).configure(Direction::transmit, {.delay = transport::Nanoseconds(1000)});
  frame_switch.link(1).configure(Direction::receive, {.delay = transport::Nanoseconds(500)});
  const TestFrame unknown(mac(0, 77), mac(0, 1));
  port_one.transmit({.headers = unknown.headers, .payload = {}, .trailer = {}}, {}, {});
  const TestFrame home(mac(0, 1), mac(0, 1));
  port_one.transmit({.headers = home.headers, .payload = {}, .trailer = {}}, {}, {});
  frame_switch.deliver_due(transport::Time(transport::Nanoseconds(1000)), kEverything);
  BOOST_TEST(one.frames.size() == 1);  // the one that was sent home
  frame_switch.deliver_due(transport::Time(transport::Nanoseconds(1500)), kEverything);
  BOOST_TEST(two.frames.size() == 1);
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().packets == 2u);
}

// The sender's line carries it once, and what is lost there reaches nobody; each receiver's line has a copy.
BOOST_AUTO_TEST_CASE(a_frame_to_a_group_travels_once_over_its_senders_link) {
  frame_switch.link(0).configure(Direction::transmit, {.delay = transport::Nanoseconds(1000)});
  frame_switch.link(1).configure(Direction::receive, {.delay = transport::Nanoseconds(500)});
  port_one.transmit(TestFrame({{0x33, 0x33, 0, 0, 0, 1}}, mac(0, 1)).frame(), {}, {});
  BOOST_TEST(one.frames.empty());
  frame_switch.deliver_due(transport::Time(transport::Nanoseconds(1000)), kEverything);
  BOOST_TEST(one.frames.size() == 1);
  BOOST_TEST(two.frames.empty());
  frame_switch.deliver_due(transport::Time(transport::Nanoseconds(1500)), kEverything);
  BOOST_TEST(two.frames.size() == 1);
  BOOST_TEST(one.frames.size() == 1);
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().packets == 1u);
}

BOOST_AUTO_TEST_CASE(a_frame_without_an_address_is_taken_by_nobody) {
  const TestFrame whole(mac(0, 2), mac(0, 1));
  wire::Frame cut = whole.frame();
  cut.headers = cut.headers.first(5);
  port_one.transmit(cut, {}, {});
  port_one.transmit(wire::Frame{}, {}, {});
  BOOST_TEST(frame_switch.unknown_destination() == 2);
}

BOOST_AUTO_TEST_CASE(the_whole_address_counts) {
  // Addresses that differ in one byte only, each byte in turn.
  for (std::size_t i = 0; i < 6; ++i) {
    wire::MacAddress near = mac(0, 2);
    near.bytes[i] ^= 0x80;
    port_one.transmit(TestFrame(near, mac(0, 1)).frame(), {}, {});
  }
  BOOST_TEST(two.frames.empty());
  BOOST_TEST(frame_switch.unknown_destination() == 6);
}

BOOST_AUTO_TEST_CASE(an_address_is_attached_once) {
  Receiver third;
  BOOST_CHECK_THROW(frame_switch.attach(mac(0, 1), third), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_thousand_ports) {
  std::vector<Receiver> receivers(1000);
  for (std::size_t i = 0; i < receivers.size(); ++i)
    frame_switch.attach(mac(static_cast<std::uint8_t>(1 + i / 256), static_cast<std::uint8_t>(i)),
                        receivers[i]);
  for (std::size_t i = 0; i < receivers.size(); ++i)
    port_one.transmit(
        TestFrame(mac(static_cast<std::uint8_t>(1 + i / 256), static_cast<std::uint8_t>(i)), mac(0, 1))
            .frame(),
        {}, {});
  for (const Receiver& receiver : receivers) BOOST_REQUIRE_EQUAL(receiver.frames.size(), 1);
  BOOST_TEST(frame_switch.unknown_destination() == 0);
}

BOOST_AUTO_TEST_CASE(observers_see_every_frame_at_every_capture_point) {
  std::string log;
  Observer a(log, 'a');
  Observer b(log, 'b');
  frame_switch.add_observer(a);
  frame_switch.add_observer(b);
  struct Logging final : FrameReceiver {
    std::string& log;
    explicit Logging(std::string& where) : log(where) {}
    void arrive(const wire::Frame&, const PacketOrigin&) override { log += '!'; }
  } logging(log);
  frame_switch.attach(mac(0, 9), logging);

  port_one.transmit(TestFrame(mac(0, 9), mac(0, 1)).frame(), {}, {});
  BOOST_TEST(log == "a<b<a>b>!");
  port_one.transmit(TestFrame(mac(0, 77), mac(0, 1)).frame(), {}, {});  // also what nobody takes
  BOOST_TEST(log == "a<b<a>b>!a<b<a-b-");
  frame_switch.remove_observer(a);
  port_one.transmit(TestFrame(mac(0, 1), mac(0, 1)).frame(), {}, {});
  BOOST_TEST(log == "a<b<a>b>!a<b<a-b-b<b>");
}

BOOST_AUTO_TEST_CASE(its_ports_are_up) {
  BOOST_TEST(port_one.up({}));
  BOOST_TEST(port_two.up({}));
}

// There are so many frames; a copy inside a subnet for which there is none shows as every drop does.
BOOST_AUTO_TEST_CASE(observers_see_that_a_copy_could_not_be_made) {
  Keeper inside;
  frame_switch.set_lid_fabric(inside);
  frame_switch.set_lid_node(0, {.device = 0, .lid = {1}, .ports = std::vector<LidPort>(2)}, {});
  std::array<std::byte, 64> packet{};
  encode(wire::infiniband::LocalRouteHeader{.destination = wire::kFirstMulticastLid, .source = {1}},
         packet.data());
  port_one.transmit(
      {.headers = packet, .payload = {}, .trailer = {}, .link_layer = wire::LinkLayer::infiniband}, {}, {});
  BOOST_REQUIRE(inside.kept != nullptr);
  std::string log;
  Observer observer(log, 'a');
  frame_switch.add_observer(observer);
  LidExit& exit = frame_switch.lid_exit();
  std::uint32_t copies = 0;
  while (exit.copy(*inside.kept) != nullptr) ++copies;
  BOOST_TEST(copies == FramesInFlight::kFrames - 1);
  BOOST_TEST(log == "a-");
  frame_switch.remove_observer(observer);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
