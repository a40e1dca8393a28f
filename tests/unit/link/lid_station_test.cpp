// A process that speaks packets of InfiniBand itself: a host of the subnet, as one more port of the switch.
#include <sys/socket.h>

#include <array>
#include <boost/test/unit_test.hpp>

#include "device_model/link/frame_pool.hpp"
#include "device_model/link/frames/station_port.hpp"
#include "sample_frames.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::link::test {
namespace lid_station {

constexpr Load kEverything{100, 1 << 20};
constexpr wire::Lid kFirst{1};
constexpr wire::Lid kSecond{2};
constexpr wire::Lid kStation{4};
constexpr wire::Lid kNobody{9};
constexpr wire::Lid kGroup = wire::kFirstMulticastLid;
constexpr std::uint32_t kHub = 2;
constexpr std::uint32_t kHost = 3;

// From the LRH to the ICRC, as devices hand packets to their ports.
std::vector<std::byte> packet(wire::Lid from, wire::Lid to, std::uint8_t tag = 0) {
  std::vector<std::byte> bytes(40, std::byte{tag});
  encode(wire::infiniband::LocalRouteHeader{.destination = to, .source = from}, bytes.data());
  return bytes;
}

// The same on a link.
std::vector<std::byte> on_link(std::vector<std::byte> bytes) {
  wire::infiniband::append_variant_crc(bytes);
  return bytes;
}

// Devices are at the ports 1 and 2 of a switch, the station's host is at port 3.
struct InSubnet : TwoPorts {
  StationPort port;
  std::uint32_t number = frame_switch.add_station(port);
  memory::Descriptor far;

  InSubnet() {
    set_adapter(0, 0, kFirst, 1);
    set_adapter(1, 1, kSecond, 2);
    set_adapter(kHost, number, kStation, 3);
    LidNode hub{.ports = {{}, {0, 1, true}, {1, 1, true}, {kHost, 1, true}}, .linear = {0xFF, 1, 2, 0xFF, 3}};
    hub.groups.resize(1);
    for (const std::size_t member : {1, 2, 3}) hub.groups[0].set(member);
    frame_switch.set_lid_node(kHub, std::move(hub), now);
    open();
  }
  void set_adapter(std::uint32_t node, std::uint32_t device, wire::Lid lid, std::uint8_t hub_port) {
    frame_switch.set_lid_node(node, {.device = device, .lid = lid, .ports = {{}, {kHub, hub_port, true}}},
                              now);
  }
  void open() {
    int ends[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
    far = memory::Descriptor(ends[1]);
    port.open_in_subnet(memory::Descriptor(ends[0]));
  }

  void send_far(const std::vector<std::byte>& bytes) {
    BOOST_REQUIRE(::send(far.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  std::vector<std::vector<std::byte>> received() const {
    std::vector<std::vector<std::byte>> frames;
    std::vector<std::byte> bytes(9000);
    for (;;) {
      const ssize_t size = recv(far.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (size <= 0) return frames;
      frames.emplace_back(bytes.begin(), bytes.begin() + size);
    }
  }
  void send_from(std::uint32_t device, const std::vector<std::byte>& bytes) {
    ports[device]->transmit(
        {.headers = bytes, .payload = {}, .trailer = {}, .link_layer = wire::LinkLayer::infiniband}, {}, now);
    frame_switch.flush();
  }
  void round() {
    frame_switch.deliver_due(now, kEverything);
    frame_switch.release();
  }
};

// The inside of a subnet that has so much room.
struct Inside final : LidFabric {
  std::size_t free = 0;
  std::vector<PooledFrame*> entered;

  void node_changed(std::uint32_t, transport::Time) override {}
  void enter(PooledFrame& frame, std::uint32_t, transport::Time) override {
    free -= kSlotBytes;
    entered.push_back(&frame);
  }
  void pass_next() override {}
  std::optional<transport::Time> next_due() const override { return {}; }
  void fall_silent(std::uint32_t, transport::Time, transport::Time) override {}
  void end_silence(std::uint32_t) override {}
  std::size_t room(std::uint32_t, std::size_t) const override { return free; }
  transport::Time room_at(std::uint32_t) const override { return {}; }
};

}  // namespace lid_station

BOOST_FIXTURE_TEST_SUITE(lid_station, InSubnet)

BOOST_AUTO_TEST_CASE(packets_to_its_lid_leave_by_its_socket_with_a_vcrc) {
  send_from(0, packet(kFirst, kStation, 7));
  const auto packets = received();
  BOOST_REQUIRE(packets.size() == 1u);
  BOOST_CHECK(packets[0] == on_link(packet(kFirst, kStation, 7)));
  BOOST_TEST(frame_switch.lid_routes().counters(kHub, 3).transmitted_packets == 1u);
}

BOOST_AUTO_TEST_CASE(its_packets_reach_devices_as_from_outside) {
  send_far(on_link(packet(kStation, kSecond, 5)));
  round();
  BOOST_REQUIRE(receivers[1].arrivals.size() == 1u);
  BOOST_CHECK(receivers[1].arrivals[0].bytes == packet(kStation, kSecond, 5));
  BOOST_CHECK(receivers[1].arrivals[0].origin.queue_pair == kUnknownQpn);
  BOOST_TEST(receivers[0].arrivals.empty());
  for (const auto point : {CapturePoint::before_link, CapturePoint::after_link}) {
    BOOST_REQUIRE(observer.last(point) != nullptr);
    BOOST_TEST(observer.last(point)->device == "urnic1");
  }
}

// IBTA 7.8.2.
BOOST_AUTO_TEST_CASE(a_packet_with_a_wrong_vcrc_ends_at_its_port) {
  std::vector<std::byte> wrong = on_link(packet(kStation, kSecond));
  wrong.back() ^= std::byte{1};
  for (const auto& bytes : {wrong, packet(kStation, kSecond), std::vector<std::byte>(14)}) send_far(bytes);
  round();
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(observer.all.empty());
  BOOST_TEST(port.is_open());
}

BOOST_AUTO_TEST_CASE(packets_to_nobody_are_dropped) {
  send_far(on_link(packet(kStation, kNobody)));
  send_far(on_link(std::vector<std::byte>(15)));
  round();
  for (const auto& receiver : receivers) BOOST_TEST(receiver.arrivals.empty());
  BOOST_REQUIRE(observer.last(CapturePoint::dropped) != nullptr);
  BOOST_TEST(observer.last(CapturePoint::dropped)->remarks == "a switch has no route to the LID");
}

// Its port takes part in the subnet as every other one does.
BOOST_AUTO_TEST_CASE(without_an_active_port_nothing_passes) {
  frame_switch.set_lid_node(kHost, {.device = number, .lid = kStation, .ports = {{}, {kHub, 3, false}}}, now);
  send_far(on_link(packet(kStation, kSecond)));
  round();
  send_from(0, packet(kFirst, kStation));
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(received().empty());
}

BOOST_AUTO_TEST_CASE(groups_go_both_ways) {
  send_far(on_link(packet(kStation, kGroup)));
  round();
  for (const auto& receiver : receivers) BOOST_TEST(receiver.arrivals.size() == 1u);
  BOOST_TEST(received().empty());
  send_from(0, packet(kFirst, kGroup));
  BOOST_TEST(received().size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_devices_links_act_on_its_packets) {
  frame_switch.link(1).configure(Direction::receive, {.loss = 1});
  frame_switch.link(0).configure(Direction::transmit, {.loss = 1});
  send_far(on_link(packet(kStation, kSecond)));
  round();
  send_from(0, packet(kFirst, kStation));
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(received().empty());
}

BOOST_AUTO_TEST_CASE(its_packets_wait_while_the_subnet_takes_none) {
  Inside inside;
  frame_switch.set_lid_fabric(inside);
  for (int i = 0; i < 3; ++i) send_far(on_link(packet(kStation, kSecond)));
  round();
  BOOST_TEST(inside.entered.empty());
  inside.free = 2 * kSlotBytes;
  round();
  BOOST_TEST(inside.entered.size() == 2u);
  inside.free = kSlotBytes;
  round();
  BOOST_REQUIRE(inside.entered.size() == 3u);
  frame_switch.lid_exit().leave(*inside.entered[0], 1, now);
  BOOST_TEST(receivers[1].arrivals.size() == 1u);
  frame_switch.lid_exit().leave(*inside.entered[1], number, now);
  frame_switch.flush();
  BOOST_TEST(received().size() == 1u);
}

BOOST_AUTO_TEST_CASE(one_station_follows_the_other) {
  port.close();
  send_from(0, packet(kFirst, kStation));
  open();
  send_from(0, packet(kFirst, kStation, 3));
  BOOST_TEST(received().size() == 1u);
  send_far(on_link(packet(kStation, kFirst)));
  round();
  BOOST_TEST(receivers[0].arrivals.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
