// Frames over impaired links, in virtual time.
#include "device_model/link/link.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {

using transport::Nanoseconds;

BOOST_FIXTURE_TEST_SUITE(links, TwoPorts)

BOOST_AUTO_TEST_CASE(a_perfect_wire_passes_the_senders_own_bytes) {
  frame_switch.link(0);
  frame_switch.link(1).configure(Direction::receive, LinkSettings{.seed = 7});
  send_psn(100);
  BOOST_REQUIRE_EQUAL(receivers[1].arrivals.size(), 1);
  BOOST_TEST(receivers[1].arrivals[0].direct);
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().packets == 0);
}

BOOST_AUTO_TEST_CASE(a_direction_stays_a_perfect_wire_while_the_other_one_loses) {
  frame_switch.link(0).configure(Direction::receive, {.loss = 1});
  send_psn(100);
  BOOST_TEST(frame_switch.link(0).plain(Direction::transmit));
  BOOST_TEST(receivers[1].psns() == "100 ");
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().packets == 0);
}

BOOST_AUTO_TEST_CASE(links_that_only_lose_or_change_packets_take_no_time) {
  BOOST_TEST(!frame_switch.takes_time());
  frame_switch.link(0).configure(Direction::transmit, {.loss = 0.5, .duplicate = 0.5, .corrupt = 0.5});
  BOOST_TEST(!frame_switch.takes_time());
  for (const LinkSettings& settings :
       {LinkSettings{.rate_gbps = 1}, LinkSettings{.delay = Nanoseconds(1)},
        LinkSettings{.jitter = Nanoseconds(1)}, LinkSettings{.reorder = 0.1}, LinkSettings{.pfc = true}}) {
    frame_switch.link(1).configure(Direction::receive, settings);
    BOOST_TEST(frame_switch.takes_time());
    frame_switch.link(1).configure(Direction::receive, {});
    BOOST_TEST(!frame_switch.takes_time());
  }
}

BOOST_AUTO_TEST_CASE(delays_add_up_over_both_links) {
  frame_switch.link(0).configure(Direction::transmit, {.delay = Nanoseconds(5000)});
  frame_switch.link(1).configure(Direction::receive, {.delay = Nanoseconds(2000)});
  send_psn(100);
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(((*frame_switch.next_due() - now) == Nanoseconds(5000)));
  advance(6999);
  BOOST_TEST(receivers[1].arrivals.empty());
  advance(1);
  BOOST_REQUIRE_EQUAL(receivers[1].arrivals.size(), 1);
  BOOST_TEST(!receivers[1].arrivals[0].direct);
  BOOST_TEST((receivers[1].arrivals[0].error == wire::ParseError::none));
  BOOST_TEST(!frame_switch.next_due());
}

// The time at which a frame enters the second link is when it left the first, however late that was noticed.
BOOST_AUTO_TEST_CASE(a_late_look_does_not_add_to_the_delay) {
  frame_switch.link(0).configure(Direction::transmit, {.delay = Nanoseconds(5000)});
  frame_switch.link(1).configure(Direction::receive, {.delay = Nanoseconds(5000)});
  send_psn(100);
  now += Nanoseconds(9000);
  frame_switch.deliver_due(now, {100, 1 << 20});
  BOOST_TEST(((*frame_switch.next_due() - now) == Nanoseconds(1000)));
}

BOOST_AUTO_TEST_CASE(loss_is_counted_and_told_to_observers) {
  frame_switch.link(0).configure(Direction::transmit, {.loss = 1});
  send_psn(100);
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().drops(DropCause::loss) == 1);
  BOOST_REQUIRE_EQUAL(observer.all.size(), 2);
  BOOST_TEST((observer.all[0].point == CapturePoint::before_link));
  BOOST_TEST(observer.all[0].remarks == "");
  BOOST_TEST((observer.all[1].point == CapturePoint::dropped));
  BOOST_TEST(observer.all[1].remarks == "urnic0 tx: lost by chance");
  BOOST_TEST(observer.all[1].device == "urnic0");
}

BOOST_AUTO_TEST_CASE(loss_at_the_receiving_side_is_that_links) {
  frame_switch.link(1).configure(Direction::receive, {.loss = 1});
  send_psn(100);
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(frame_switch.link(1).channel(Direction::receive).counters().drops(DropCause::loss) == 1);
  BOOST_TEST(observer.all.back().remarks == "urnic1 rx: lost by chance");
  send({.from = 1, .to = 0});  // the other way is not concerned
  BOOST_TEST(receivers[0].arrivals.size() == 1);
}

BOOST_AUTO_TEST_CASE(a_burst_says_so) {
  frame_switch.link(0).configure(Direction::transmit, {.burst_start = 1, .burst_end = 0});
  send_psn(100);
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().drops(DropCause::burst) == 1);
  BOOST_TEST(observer.all.back().remarks == "urnic0 tx: lost in a burst");
}

BOOST_AUTO_TEST_CASE(duplicates_arrive_twice) {
  frame_switch.link(0).configure(Direction::transmit, {.duplicate = 1});
  send_psn(100);
  BOOST_TEST(receivers[1].psns() == "100 100 ");
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().by_link.duplicated == 1);
  BOOST_TEST(observer.all.back().remarks == "urnic0 tx: duplicated by chance");
  frame_switch.link(0).configure(Direction::transmit, {.delay = Nanoseconds(10), .duplicate = 1});
  send_psn(101);
  advance(10);
  BOOST_TEST(receivers[1].psns() == "100 100 101 101 ");
}

BOOST_AUTO_TEST_CASE(a_reordered_packet_comes_behind_the_next_n) {
  frame_switch.link(0).configure(Direction::transmit, {.reorder = 1, .reorder_packets = 2});
  send_psn(100);
  frame_switch.link(0).configure(Direction::transmit, {});
  for (std::uint32_t psn = 101; psn <= 104; ++psn) send_psn(psn);
  BOOST_TEST(receivers[1].psns() == "101 102 100 103 104 ");
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().by_link.reordered == 1);
  BOOST_TEST(frame_switch.link(0).plain());
}

BOOST_AUTO_TEST_CASE(a_reordered_packet_that_nobody_follows_comes_after_its_hold) {
  frame_switch.link(0).configure(Direction::transmit, {.reorder = 1, .reorder_hold = Nanoseconds(500)});
  send_psn(100);
  advance(499);
  BOOST_TEST(receivers[1].psns() == "");
  advance(1);
  BOOST_TEST(receivers[1].psns() == "100 ");
}

// A tag belongs to it: no CRC of the packet's own would find a wrong one.
BOOST_AUTO_TEST_CASE(corruption_turns_over_one_bit_behind_the_ethernet_header) {
  frame_switch.link(0).configure(Direction::transmit, {.corrupt = 1});
  for (std::uint32_t psn = 0; psn < 400; ++psn) {
    const bool tagged = psn >= 200;
    send({.psn = psn, .vlan_tag = static_cast<std::uint16_t>(tagged ? 5 : 0)});
    const auto& sent_bytes = observer.last(CapturePoint::before_link)->bytes;
    const auto& arrived = receivers[1].arrivals.back().bytes;
    BOOST_REQUIRE_EQUAL(arrived.size(), sent_bytes.size());
    int differing = 0;
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const int bits = __builtin_popcount(std::to_integer<unsigned>(arrived[i] ^ sent_bytes[i]));
      if (i < (tagged ? 18u : 14u)) BOOST_REQUIRE_EQUAL(bits, 0);
      differing += bits;
    }
    BOOST_REQUIRE_EQUAL(differing, 1);
  }
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().by_link.corrupted == 400);
}

BOOST_AUTO_TEST_CASE(marks_what_can_be_told_and_keeps_the_checksums_right) {
  // 1 bit a nanosecond: the second packet waits for the first.
  frame_switch.link(1).configure(Direction::receive, {.rate_gbps = 1, .ecn_threshold_packets = 1});
  for (const std::uint16_t tag : {std::uint16_t{0}, std::uint16_t{5}}) {
    for (const bool ipv4 : {true, false}) {
      for (const std::uint8_t traffic_class :
           std::initializer_list<std::uint8_t>{0x29, 0x2A, 0x28}) {  // ECT(1), ECT(0), not ECT
        receivers[1].arrivals.clear();
        for (int i = 0; i < 3; ++i) send({.traffic_class = traffic_class, .ipv4 = ipv4, .vlan_tag = tag});
        advance(1'000'000);
        BOOST_REQUIRE_EQUAL(receivers[1].arrivals.size(), 3);
        const auto& first = receivers[1].arrivals[0].parsed.network;
        const auto& third = receivers[1].arrivals[2];
        BOOST_TEST(first.traffic_class == traffic_class);
        BOOST_TEST((third.error == wire::ParseError::none));
        BOOST_TEST(third.parsed.network.vlan_tag == tag);
        BOOST_TEST(third.parsed.network.traffic_class == (traffic_class == 0x28 ? 0x28 : 0x2B));
      }
    }
  }
  const LinkCounters counters = frame_switch.link(1).channel(Direction::receive).counters();
  BOOST_TEST(counters.by_link.congestion_marked == 8);
  BOOST_TEST(counters.not_ecn_capable == 4);
}

BOOST_AUTO_TEST_CASE(marks_by_the_bytes_that_wait) {
  frame_switch.link(1).configure(Direction::receive, {.rate_gbps = 1, .ecn_max_bytes = 1});
  for (int i = 0; i < 3; ++i) send({.traffic_class = 0x2A});
  advance(1'000'000);
  BOOST_REQUIRE_EQUAL(receivers[1].arrivals.size(), 3);
  BOOST_TEST(receivers[1].arrivals[0].parsed.network.traffic_class == 0x2A);
  BOOST_TEST(receivers[1].arrivals[1].parsed.network.traffic_class == 0x2B);
  BOOST_TEST(frame_switch.link(1).channel(Direction::receive).counters().by_link.congestion_marked == 2);
}

BOOST_AUTO_TEST_CASE(a_full_queue_at_the_receiving_side_drops) {
  frame_switch.link(1).configure(Direction::receive, {.rate_gbps = 1, .queue_packets = 2});
  for (std::uint32_t psn = 100; psn < 105; ++psn) send_psn(psn);
  advance(1'000'000);
  BOOST_TEST(receivers[1].psns() == "100 101 102 ");
  BOOST_TEST(frame_switch.link(1).channel(Direction::receive).counters().drops(DropCause::queue_full) == 2);
  BOOST_TEST(observer.last(CapturePoint::dropped)->remarks == "urnic1 rx: dropped, the queue is full");
}

BOOST_AUTO_TEST_CASE(a_cut_link_is_down_both_ways_until_it_is_restored) {
  BOOST_TEST(ports[0]->up(now));
  frame_switch.link(0).cut(now + Nanoseconds(1000));
  BOOST_TEST(!ports[0]->up(now));
  BOOST_TEST(ports[1]->up(now));
  send_psn(100);
  send({.from = 1, .to = 0});
  BOOST_TEST(receivers[1].arrivals.empty());
  BOOST_TEST(receivers[0].arrivals.empty());
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().drops(DropCause::cut) == 1);
  BOOST_TEST(frame_switch.link(0).channel(Direction::receive).counters().drops(DropCause::cut) == 1);
  advance(1000);
  BOOST_TEST(ports[0]->up(now));
  send_psn(101);
  BOOST_TEST(receivers[1].psns() == "101 ");
  BOOST_TEST(receivers[1].arrivals[0].direct);
}

// Two causes: a person cuts the link, and the wire behind it fails.
BOOST_AUTO_TEST_CASE(a_link_is_up_with_a_carrier_and_without_a_cut) {
  Link& link = frame_switch.link(1);
  link.set_carrier(false);
  send_psn(100);
  BOOST_TEST(receivers[1].arrivals.empty());
  link.cut(transport::Time::max());
  link.set_carrier(true);
  BOOST_TEST(!link.up(now));
  link.set_carrier(false);
  link.restore();
  BOOST_TEST(!link.up(now));
  link.set_carrier(true);
  BOOST_TEST(link.up(now));
  send_psn(101);
  BOOST_TEST(receivers[1].psns() == "101 ");
}

BOOST_AUTO_TEST_CASE(what_is_under_way_when_the_link_is_cut_does_not_arrive) {
  frame_switch.link(0).configure(Direction::transmit, {.delay = Nanoseconds(1000)});
  send_psn(100);
  frame_switch.link(0).cut(transport::Time::max());
  advance(1000);
  BOOST_TEST(receivers[1].arrivals.empty());
  frame_switch.link(0).restore();
  send_psn(101);
  advance(1000);
  BOOST_TEST(receivers[1].psns() == "101 ");
}

BOOST_AUTO_TEST_CASE(a_frame_too_many_under_way_is_dropped_and_counted) {
  frame_switch.remove_observer(observer);
  frame_switch.link(0).configure(Direction::transmit, {.delay = Nanoseconds(1'000'000)});
  for (std::uint32_t psn = 0; psn < FramesInFlight::kFrames + 3; ++psn) send_psn(psn);
  BOOST_TEST(frame_switch.link(0).channel(Direction::transmit).counters().drops(DropCause::buffer_full) == 3);
  advance(1'000'000);
  BOOST_TEST(receivers[1].arrivals.size() == FramesInFlight::kFrames);
  BOOST_TEST(frame_switch.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_device_is_told_how_much_its_line_takes) {
  BOOST_TEST(ports[0]->room(now, 4096) > 1'000'000'000);
  frame_switch.link(0).configure(Direction::transmit, {.rate_gbps = 8});
  const std::size_t room = ports[0]->room(now, 4096);
  BOOST_TEST(room == 20'000);
  send_psn(100);
  BOOST_TEST(ports[0]->room(now, 4096) < room);
  for (int i = 0; i < 200; ++i) send_psn(100);
  BOOST_TEST(ports[0]->room(now, 4096) == 0);
  now = ports[0]->room_at(4096);
  BOOST_TEST(ports[0]->room(now, 4096) >= 4096);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
