// Two switches with a trunk each way: frames between them meet the same links as on one switch.
#include "device_model/link/trunk_ports.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "device_model/link/frames/station_port.hpp"
#include "device_model/link/trunk.hpp"
#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {

namespace two_switches {

using transport::Nanoseconds;

// Answers every packet in the receiver's place.
struct Answering final : FaultHook {
  SampleFrame answer{{.operation = wire::Operation::acknowledge, .psn = 55, .from = 1, .to = 0}};
  std::vector<std::byte> bytes = bytes_of(answer.frame());
  void judge(const PacketAtLink&, transport::Time, Verdict& verdict) override {
    verdict.touched = true;
    verdict.answer = bytes;
    verdict.remarks.add("refused");
  }
};

struct TwoSwitches {
  transport::Time now{Nanoseconds(1'000'000)};
  Switch switches[2];
  TrunkPorts trunk_ports[2] = {TrunkPorts(switches[0]), TrunkPorts(switches[1])};
  Trunk there{nullptr};
  Trunk back{nullptr};
  RememberingReceiver receivers[2];
  RememberingObserver observers[2];
  Port* ports[2];
  int woken[2] = {};

  TwoSwitches() {
    ports[0] = &switches[0].attach(mac_of(0), receivers[0], "urnic0");
    switches[1].attach_remote(mac_of(0), back, "urnic0", &switches[0].pause(0));
    switches[0].attach_remote(mac_of(1), there, "urnic1");
    ports[1] = &switches[1].attach(mac_of(1), receivers[1], "urnic1");
    trunk_ports[0].add_outgoing(there, [this] { ++woken[1]; });
    trunk_ports[0].add_incoming(back);
    trunk_ports[1].add_outgoing(back, [this] { ++woken[0]; });
    trunk_ports[1].add_incoming(there);
    for (int i = 0; i < 2; ++i) switches[i].add_observer(observers[i]);
  }
  void send_psn(std::uint32_t psn) {
    const SampleFrame frame({.psn = psn});
    ports[0]->transmit(frame.frame(), {{0, 1, psn}, wire::Qpn{0x11}, wire::Psn(100)}, now);
  }
  void round(int engine) {
    trunk_ports[engine].reclaim();
    switches[engine].deliver_due(now, {100, 1 << 20});
    trunk_ports[engine].take(now, 100, 100'000);
    switches[engine].release();
    trunk_ports[engine].release();
    trunk_ports[engine].publish();
  }
  void rounds() {
    for (int i = 0; i < 4; ++i) round(i % 2);
  }
};

}  // namespace two_switches

BOOST_FIXTURE_TEST_SUITE(two_switches, TwoSwitches)

BOOST_AUTO_TEST_CASE(a_queue_pauses_a_device_of_the_other_engine) {
  switches[0].link(0).configure(Direction::transmit, {.pfc = true});
  switches[1].link(1).configure(Direction::receive,
                                {.rate_gbps = 1, .pfc = true, .pfc_xoff_bytes = 0, .pfc_xon_bytes = 0});
  BOOST_TEST(ports[0]->room(now, 4096) > 0);
  send_psn(100);
  rounds();
  BOOST_TEST(ports[0]->room(now, 4096) == 0);
  now = ports[0]->room_at(4096);
  BOOST_TEST(ports[0]->room(now, 4096) > 0);
  rounds();
  BOOST_TEST(receivers[1].psns() == "100 ");
  BOOST_TEST(switches[0].link(0).channel(Direction::receive).counters().pauses == 1);
  BOOST_TEST(switches[1].link(1).channel(Direction::receive).counters().pauses_caused == 1);
}

BOOST_AUTO_TEST_CASE(a_frame_crosses_when_the_round_that_sent_it_ends) {
  send_psn(100);
  round(1);
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(woken[1] == 0);
  round(0);
  BOOST_TEST(woken[1] == 1);
  round(1);
  BOOST_REQUIRE_EQUAL(receivers[1].arrivals.size(), 1);
  BOOST_TEST((receivers[1].arrivals[0].error == wire::ParseError::none));
  BOOST_TEST(receivers[1].arrivals[0].direct);
  BOOST_TEST(receivers[1].psns() == "100 ");
  round(0);
  BOOST_TEST(woken[1] == 1);
}

BOOST_AUTO_TEST_CASE(each_link_is_seen_where_its_device_is) {
  switches[0].link(0).configure(Direction::transmit, {.delay = Nanoseconds(5000)});
  switches[1].link(1).configure(Direction::receive, {.delay = Nanoseconds(2000)});
  send_psn(100);
  rounds();
  BOOST_TEST(receivers[1].arrivals.empty());
  now += Nanoseconds(5000);
  rounds();
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(((*switches[1].next_due() - now) == Nanoseconds(2000)));
  now += Nanoseconds(2000);
  rounds();
  BOOST_TEST(receivers[1].psns() == "100 ");
  BOOST_REQUIRE_EQUAL(observers[0].all.size(), 1);
  BOOST_TEST((observers[0].all[0].point == CapturePoint::before_link));
  BOOST_REQUIRE_EQUAL(observers[1].all.size(), 1);
  BOOST_TEST((observers[1].all[0].point == CapturePoint::after_link));
  BOOST_TEST(observers[1].all[0].device == "urnic1");
}

BOOST_AUTO_TEST_CASE(remarks_of_the_senders_link_reach_the_receivers_observer) {
  switches[0].link(0).configure(Direction::transmit, {.duplicate = 1});
  send_psn(100);
  rounds();
  BOOST_TEST(receivers[1].psns() == "100 100 ");
  BOOST_REQUIRE(observers[1].last(CapturePoint::after_link) != nullptr);
  BOOST_TEST(observers[1].last(CapturePoint::after_link)->remarks == "urnic0 tx: duplicated by chance");
}

BOOST_AUTO_TEST_CASE(the_receivers_link_loses_there) {
  switches[1].link(1).configure(Direction::receive, {.loss = 1});
  send_psn(100);
  rounds();
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(switches[1].link(1).channel(Direction::receive).counters().drops(DropCause::loss) == 1);
}

BOOST_AUTO_TEST_CASE(a_faults_answer_goes_back_past_the_links) {
  Answering faults;
  switches[1].link(1).set_faults(&faults);
  switches[0].link(0).configure(Direction::receive, {.loss = 1});
  send_psn(100);
  rounds();
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(receivers[0].psns() == "55 ");
  BOOST_REQUIRE(observers[0].last(CapturePoint::after_link) != nullptr);
  BOOST_TEST(observers[0].last(CapturePoint::after_link)->remarks == "made by a fault: urnic1 rx: refused");
}

// To every port of every engine, once; each receiver's link is met where its device is.
BOOST_AUTO_TEST_CASE(a_frame_to_a_group_reaches_the_other_engines_devices) {
  switches[0].link(0).configure(Direction::transmit, {.delay = Nanoseconds(1000)});
  switches[1].link(1).configure(Direction::receive, {.delay = Nanoseconds(500)});
  std::vector<std::byte> bytes = bytes_of(SampleFrame({.psn = 100}).frame());
  bytes[0] = bytes[1] = std::byte{0x33};
  ports[0]->transmit({bytes, {}, {}}, {{0, 1, 100}, wire::Qpn{0x11}, wire::Psn(100)}, now);
  now += Nanoseconds(1000);
  rounds();
  BOOST_TEST(receivers[0].psns() == "100 ");
  BOOST_TEST(receivers[1].arrivals.empty());
  now += Nanoseconds(500);
  rounds();
  BOOST_TEST(receivers[0].psns() == "100 ");
  BOOST_TEST(receivers[1].psns() == "100 ");
  BOOST_TEST(switches[0].link(0).channel(Direction::transmit).counters().packets == 1u);
  BOOST_TEST(switches[0].unknown_destination() == 0);
}

BOOST_AUTO_TEST_CASE(no_more_is_taken_at_once_than_is_asked_for) {
  for (std::uint32_t psn = 0; psn < 10; ++psn) send_psn(psn);
  trunk_ports[0].publish();
  BOOST_TEST(trunk_ports[1].take(now, 4, 100'000));
  BOOST_TEST(receivers[1].arrivals.size() == 4);
  BOOST_TEST(trunk_ports[1].take(now, 100, 1));
  BOOST_TEST(receivers[1].arrivals.size() == 5);
  BOOST_TEST(trunk_ports[1].take(now, 100, 100'000));
  BOOST_TEST(receivers[1].arrivals.size() == 10);
  BOOST_TEST(!trunk_ports[1].take(now, 100, 100'000));
}

// A device that asks for room before it sends loses nothing; frames of one that does not are told to
// observers as dropped.
BOOST_AUTO_TEST_CASE(a_port_has_room_while_the_trunk_has) {
  std::uint32_t sent = 0;
  for (; ports[0]->room(now, 4096) != 0; ++sent) send_psn(sent);
  BOOST_TEST(sent > 0);
  BOOST_TEST(switches[0].trunk_overruns() == 0);
  for (; sent < Trunk::kFrames + 1; ++sent) send_psn(sent);
  BOOST_TEST(switches[0].trunk_overruns() == 1);
  BOOST_REQUIRE(observers[0].last(CapturePoint::dropped) != nullptr);
  BOOST_TEST(observers[0].last(CapturePoint::dropped)->remarks ==
             "switch: no room on the way to the receiver's engine");
  for (int i = 0; i < 40; ++i) round(i % 2);
  BOOST_TEST(receivers[1].arrivals.size() == Trunk::kFrames);
  BOOST_TEST(ports[0]->room(now, 4096) != 0);
}

// The other engine's switch knows no stations, and its device's link has to know who sends.
BOOST_AUTO_TEST_CASE(a_station_reaches_the_devices_of_its_own_engine_only) {
  constexpr std::uint8_t kStation = 9;
  StationPort station;
  switches[0].add_station(station);
  switches[0].set_station(station, mac_of(kStation));
  int ends[2];
  BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
  const memory::Descriptor far(ends[1]);
  station.open(memory::Descriptor(ends[0]), mac_of(kStation));
  switches[1].link(1).configure(Direction::receive, {.delay = Nanoseconds(100)});
  std::vector<std::byte> bytes = bytes_of(SampleFrame({.from = kStation, .to = 1}).frame());
  for (const std::size_t group_bytes : {0, 6}) {
    std::fill_n(bytes.begin(), group_bytes, std::byte{0xFF});
    BOOST_REQUIRE(send(far.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    rounds();
  }
  now += Nanoseconds(1000);
  rounds();
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(receivers[0].arrivals.size() == 1u);  // what was for a group
  BOOST_TEST(switches[0].unknown_destination() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
