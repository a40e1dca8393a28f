// The actions of rules.
#include <boost/test/unit_test.hpp>
#include <tuple>

#include "tests/unit/fault/planned_ports.hpp"
#include "wire/aeth.hpp"

namespace urnic::fault::test {

using link::CapturePoint;
using link::Direction;
using link::DropCause;

namespace {

struct OneRule : PlannedPorts {
  explicit OneRule(const std::string& action)
      : PlannedPorts(rule("name = \"it\"\ndevice = \"urnic0\"\npsn = 101\naction = " + action)) {}
  void send_three() {
    for (std::uint32_t psn = 100; psn <= 102; ++psn) send_psn(psn);
  }
  link::LinkCounters counters() { return frame_switch.link(0).channel(Direction::transmit).counters(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(action)

BOOST_AUTO_TEST_CASE(drop) {
  OneRule ports("\"drop\"");
  ports.send_three();
  BOOST_TEST(ports.arrived() == "100 102 ");
  BOOST_TEST(ports.counters().drops(DropCause::fault) == 1);
  BOOST_TEST(ports.observer.last(CapturePoint::dropped)->remarks == "urnic0 tx: rule \"it\": dropped");
}

BOOST_AUTO_TEST_CASE(untouched_packets_are_the_senders_own_bytes) {
  OneRule ports("\"drop\"");
  ports.send_three();
  BOOST_TEST(ports.receivers[1].arrivals[1].direct);
  BOOST_TEST(ports.observer.last(CapturePoint::after_link)->remarks == "");
}

BOOST_AUTO_TEST_CASE(duplicate) {
  OneRule ports("\"duplicate\"\ncopies = 2");
  ports.send_three();
  BOOST_TEST(ports.arrived() == "100 101 101 101 102 ");
  BOOST_TEST(ports.counters().by_fault.duplicated == 2);
}

BOOST_AUTO_TEST_CASE(delay) {
  OneRule ports("\"delay\"\ndelay_us = 2.5");
  ports.send_three();
  BOOST_TEST(ports.arrived() == "100 102 ");
  ports.advance(2499);
  BOOST_TEST(ports.arrived() == "100 102 ");
  ports.advance(1);
  BOOST_TEST(ports.arrived() == "100 102 101 ");
  BOOST_TEST(ports.counters().by_fault.delayed == 1);
}

BOOST_AUTO_TEST_CASE(reorder) {
  OneRule ports("\"reorder\"\nbehind_packets = 2\nhold_us = 1000");
  ports.send_three();
  BOOST_TEST(ports.arrived() == "100 102 ");
  ports.send_psn(103);
  BOOST_TEST(ports.arrived() == "100 102 103 101 ");
  BOOST_TEST(ports.counters().by_fault.reordered == 1);
  ports.send_psn(101);
  ports.advance(1'000'000);  // no packet follows
  BOOST_TEST(ports.arrived() == "100 102 103 101 101 ");
}

BOOST_AUTO_TEST_CASE(corruption_before_the_icrc_stays_unseen_by_it) {
  OneRule ports("\"corrupt_before_icrc\"");
  ports.send_three();
  const auto& arrival = ports.receivers[1].arrivals[1];
  BOOST_TEST((arrival.error == wire::ParseError::none));
  BOOST_TEST((arrival.parsed.payload[0] == std::byte{0x5A ^ 0x80}));
  BOOST_TEST((arrival.parsed.payload[1] == std::byte{0x5A}));
  BOOST_TEST(ports.counters().by_fault.corrupted == 1);
}

BOOST_AUTO_TEST_CASE(corruption_after_the_icrc_is_seen_by_it) {
  OneRule ports("\"corrupt_after_icrc\"\nbits = [96, 98]");  // of the first payload byte
  ports.send_three();
  const auto& arrival = ports.receivers[1].arrivals[1];
  BOOST_TEST((arrival.error == wire::ParseError::bad_icrc));
  BOOST_TEST((arrival.bytes[14 + 20 + 8 + 12] == std::byte{0x5A ^ 0xA0}));
  BOOST_TEST(ports.arrived() == "100 101 102 ");
}

// Flips one bit that the packet has and one that it does not have.
BOOST_AUTO_TEST_CASE(only_bits_that_are_turned_over_are_named) {
  for (const std::string action : {"corrupt_before_icrc", "corrupt_after_icrc"}) {
    const std::string icrc = action == "corrupt_before_icrc" ? "before" : "after";
    OneRule some("\"" + action + "\"\nbits = [96, 30000]");
    some.send_three();
    BOOST_TEST(some.observer.all[3].remarks ==
               "urnic0 tx: rule \"it\": inverted " + icrc + " the ICRC, bits of BTH on: 96");
    BOOST_TEST(some.counters().by_fault.corrupted == 1);
    OneRule none("\"" + action + "\"\nbits = 30000");
    none.send_three();
    BOOST_TEST(none.observer.all[3].remarks ==
               "urnic0 tx: rule \"it\": inverted " + icrc +
                   " the ICRC, bits of BTH on: none, the packet does not have them");
    BOOST_TEST(none.counters().by_fault.corrupted == 0);
    BOOST_TEST((none.receivers[1].arrivals[1].error == wire::ParseError::none));
  }
}

struct Marking {
  std::uint8_t before;
  std::uint8_t after;
  std::string remark;
  std::uint64_t marked;
  std::uint64_t not_capable;
};

BOOST_AUTO_TEST_CASE(a_mark_has_one_remark_that_is_true_and_counts_once) {
  const std::vector<Marking> markings{
      {0, 0, "not marked congestion experienced, the sender has not set ECT", 0, 1},
      {1, 3, "marked congestion experienced", 1, 0},
      {2, 3, "marked congestion experienced", 1, 0},
      {3, 3, "marked congestion experienced before it came here", 0, 0},
  };
  for (const bool ipv4 : {true, false}) {
    for (const Marking& marking : markings) {
      OneRule ports("\"mark_ecn\"");
      ports.send({.psn = 101, .traffic_class = marking.before, .ipv4 = ipv4});
      const auto& arrival = ports.receivers[1].arrivals.at(0);
      BOOST_TEST((arrival.error == wire::ParseError::none));
      BOOST_TEST(arrival.parsed.network.traffic_class == marking.after);
      BOOST_TEST(ports.remarks() == "urnic0 tx: rule \"it\": " + marking.remark);
      BOOST_TEST(ports.counters().by_fault.congestion_marked == marking.marked);
      BOOST_TEST(ports.counters().by_link.congestion_marked == 0);
      BOOST_TEST(ports.counters().not_ecn_capable == marking.not_capable);
    }
  }
}

// The plan and the link's full queue both mark the packet; the mark counts as the plan's.
BOOST_AUTO_TEST_CASE(a_mark_by_the_plan_and_by_the_link_counts_once) {
  OneRule ports("\"mark_ecn\"");
  ports.frame_switch.link(0).configure(Direction::transmit, {.rate_gbps = 1, .ecn_threshold_packets = 1});
  for (std::uint32_t psn = 98; psn <= 101; ++psn) ports.send({.psn = psn, .traffic_class = 2});
  ports.advance(1'000'000);
  BOOST_TEST(ports.arrived() == "98 99 100 101 ");
  BOOST_TEST(ports.counters().by_fault.congestion_marked == 1);
  BOOST_TEST(ports.counters().by_link.congestion_marked == 1);  // PSN 100: two are before it
  BOOST_TEST(ports.remarks() == "urnic0 tx: rule \"it\": marked congestion experienced");
}

void check_answer(const std::string& action, std::uint8_t syndrome) {
  for (const bool ipv4 : {true, false}) {
    OneRule ports(action);
    ports.send({.psn = 101, .ipv4 = ipv4});
    BOOST_TEST(ports.arrived() == "");
    BOOST_REQUIRE_EQUAL(ports.receivers[0].arrivals.size(), 1);
    const auto& answer = ports.receivers[0].arrivals[0];
    BOOST_TEST((answer.error == wire::ParseError::none));
    BOOST_TEST((answer.parsed.network.destination_mac == link::test::mac_of(0)));
    BOOST_TEST((answer.parsed.network.source_mac == link::test::mac_of(1)));
    BOOST_TEST((answer.parsed.network.destination == link::test::gid_of(0, ipv4)));
    const auto& headers = answer.parsed.transport;
    BOOST_TEST((headers.bth.opcode == wire::Opcode(wire::Service::rc, wire::Operation::acknowledge)));
    BOOST_TEST(headers.bth.destination.value == 0x11);
    BOOST_TEST(headers.bth.psn.value() == 101);
    BOOST_TEST(headers.aeth.syndrome == syndrome);
    // The requester takes the answer, because it comes in the name of the QP that the request was for.
    BOOST_TEST(answer.origin.queue_pair.value == 0x22u);
    BOOST_TEST((answer.origin.device == link::test::mac_of(1)));
    BOOST_TEST(ports.counters().answered == 1);
    // Responses are not answered.
    ports.send({.operation = wire::Operation::acknowledge, .psn = 101, .ipv4 = ipv4});
    BOOST_TEST(ports.receivers[0].arrivals.size() == 1);
    BOOST_TEST(ports.arrived() == "101 ");
  }
}

BOOST_AUTO_TEST_CASE(answers_with_an_rnr_nak) {
  check_answer("\"rnr_nak\"\ntimer_code = 14", wire::rnr_nak_syndrome(14));
}

BOOST_AUTO_TEST_CASE(answers_with_a_nak_of_any_code) {
  check_answer("\"nak\"", wire::nak_syndrome(wire::NakCode::psn_sequence_error));
  check_answer("\"nak\"\ncode = \"remote_access_error\"",
               wire::nak_syndrome(wire::NakCode::remote_access_error));
  check_answer("\"nak\"\ncode = \"invalid_rd_request\"",
               wire::nak_syndrome(wire::NakCode::invalid_rd_request));
}

// IBTA A17.9.3.
BOOST_AUTO_TEST_CASE(notifies_the_sender_and_lets_the_packet_go_on) {
  for (const bool ipv4 : {true, false}) {
    OneRule ports("\"cnp\"");
    ports.send({.psn = 101, .ipv4 = ipv4});
    BOOST_TEST(ports.arrived() == "101 ");
    BOOST_REQUIRE_EQUAL(ports.receivers[0].arrivals.size(), 1);
    const auto& notification = ports.receivers[0].arrivals[0];
    BOOST_TEST((notification.error == wire::ParseError::none));
    BOOST_TEST((notification.parsed.network.destination == link::test::gid_of(0, ipv4)));
    BOOST_TEST(notification.parsed.network.traffic_class == 48 << 2);
    const auto& bth = notification.parsed.transport.bth;
    BOOST_TEST((bth.opcode == wire::kCongestionNotification));
    BOOST_TEST(bth.becn);
    BOOST_TEST(bth.destination.value == 0x11);
    BOOST_TEST(bth.psn.value() == 0);
    BOOST_TEST(notification.origin.queue_pair.value == 0x22u);
    BOOST_TEST(ports.counters().answered == 1);
    BOOST_TEST(ports.remarks() == "urnic0 tx: rule \"it\": its sender is notified of congestion");
  }
}

BOOST_AUTO_TEST_CASE(notifies_only_senders_of_data_that_are_acknowledged) {
  using wire::Operation;
  using wire::Service;
  const std::tuple<Service, Operation, bool> rows[] = {
      {Service::rc, Operation::send_only, true},    {Service::rc, Operation::read_response_only, true},
      {Service::rc, Operation::acknowledge, false}, {Service::xrc, Operation::send_only, true},
      {Service::uc, Operation::send_only, false},   {Service::ud, Operation::send_only, false},
  };
  for (const auto& [service, operation, notified] : rows) {
    OneRule ports("\"cnp\"");
    ports.send({.operation = operation, .psn = 101, .service = service});
    BOOST_TEST(ports.receivers[0].arrivals.size() == notified);
    BOOST_TEST(ports.receivers[1].arrivals.size() == 1u);
  }
}

// No requester waits for an answer to a packet of UC or UD.
BOOST_AUTO_TEST_CASE(answers_are_for_services_with_acknowledgements) {
  using wire::Service;
  for (const std::string action : {"\"rnr_nak\"", "\"nak\""}) {
    for (const Service service : {Service::rc, Service::xrc, Service::uc, Service::ud}) {
      OneRule ports(action);
      ports.send({.psn = 101, .service = service});
      const bool answered = service == Service::rc || service == Service::xrc;
      BOOST_TEST(ports.counters().answered == answered);
      BOOST_TEST(ports.receivers[0].arrivals.size() == answered);
      BOOST_TEST(ports.receivers[1].arrivals.size() == !answered);
      BOOST_TEST(ports.matches() == answered);
    }
  }
}

// Its sender has said nothing but its address. What the receiver would send to its peer can pass the port.
BOOST_AUTO_TEST_CASE(a_request_from_outside_is_answered_on_the_receivers_own_path) {
  wire::NetworkHeaders path;
  path.destination_mac = link::test::mac_of(0);
  path.source_mac = link::test::mac_of(1);
  path.destination = link::test::gid_of(0);
  path.source = link::test::gid_of(1);
  path.udp_source = 0xC123;
  OneRule ports("\"rnr_nak\"");
  ports.receivers[1].connection = link::Connection{path, wire::Qpn{0x77}, {}, {}};
  ports.send_from_outside({.psn = 101});
  BOOST_REQUIRE_EQUAL(ports.receivers[0].arrivals.size(), 1u);
  const auto& answer = ports.receivers[0].arrivals[0];
  BOOST_TEST((answer.error == wire::ParseError::none));
  BOOST_TEST((answer.parsed.network == path));
  BOOST_TEST(answer.parsed.transport.bth.destination.value == 0x77u);

  ports.receivers[1].connection->path.destination = link::test::gid_of(9);  // so this is a stranger's
  ports.send_from_outside({.psn = 101});
  BOOST_TEST(ports.receivers[0].arrivals.size() == 1u);
  BOOST_TEST(ports.arrived() == "101 ");
  BOOST_TEST(ports.counters().answered == 1u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_answered_is_not_said_to_be) {
  OneRule ports("\"rnr_nak\"");
  const link::test::SampleFrame sample({.psn = 101});
  std::vector<std::byte> damaged = link::test::bytes_of(sample.frame());
  damaged[14 + 10] ^= std::byte{1};  // of the IPv4 header checksum
  ports.ports[0]->transmit({damaged, {}, {}}, {}, ports.now);
  BOOST_TEST(ports.receivers[0].arrivals.empty());
  BOOST_TEST(ports.counters().answered == 0);
  BOOST_TEST(ports.remarks() ==
             "urnic0 tx: rule \"it\": its sender is not known, not answered with RNR NAK, timer 1");
}

BOOST_AUTO_TEST_CASE(cuts_the_link_and_restores_it) {
  OneRule ports("\"cut_link\"\nfor_us = 1");
  ports.send_three();
  BOOST_TEST(ports.arrived() == "100 ");
  BOOST_TEST(!ports.ports[0]->up(ports.now));
  ports.send({.from = 1, .to = 0});
  BOOST_TEST(ports.receivers[0].arrivals.empty());
  ports.advance(1000);
  BOOST_TEST(ports.ports[0]->up(ports.now));
  ports.send_psn(103);
  BOOST_TEST(ports.arrived() == "100 103 ");
  BOOST_TEST(ports.counters().drops(DropCause::cut) == 1);
}

BOOST_AUTO_TEST_CASE(stops_a_qp_both_ways_and_no_other) {
  OneRule ports("\"stop_qp\"");
  ports.send_three();
  BOOST_TEST(ports.arrived() == "100 ");
  ports.send({.psn = 500}, 2);
  BOOST_TEST(ports.arrived() == "100 500 ");
  ports.send({.psn = 600, .destination_qp = 0x11, .from = 1, .to = 0});
  ports.send({.psn = 601, .destination_qp = 0x12, .from = 1, .to = 0});
  BOOST_TEST(ports.receivers[0].psns() == "601 ");
  BOOST_TEST(ports.matches() == 1);
  BOOST_TEST(ports.observer.last(CapturePoint::dropped)->remarks ==
             "urnic0 rx: rule \"it\": dropped, QP 17 is stopped");
}

BOOST_AUTO_TEST_CASE(rules_act_together_in_their_order_until_one_takes_the_packet) {
  PlannedPorts ports(
      "[[fault]]\naction = \"duplicate\"\npsn = 1\n"
      "[[fault]]\naction = \"delay\"\ndelay_us = 1\n"
      "[[fault]]\naction = \"drop\"\npsn = 2\n"
      "[[fault]]\naction = \"mark_ecn\"\n");
  ports.send_psn(1);
  ports.send_psn(2);
  BOOST_TEST(ports.arrived() == "");
  ports.advance(1000);
  BOOST_TEST(ports.arrived() == "1 1 ");
  BOOST_TEST(ports.matches(1) == 2);
  BOOST_TEST(ports.matches(2) == 1);
  BOOST_TEST(ports.matches(3) == 2);
}

BOOST_AUTO_TEST_CASE(a_rule_counts_what_another_one_has_taken) {
  PlannedPorts ports(
      "[[fault]]\npsn = 1\ntransmission = 1\naction = \"drop\"\n"
      "[[fault]]\npsn = 1\ntransmission = 2\naction = \"drop\"\n");
  for (int i = 0; i < 3; ++i) ports.send_psn(1);
  BOOST_TEST(ports.arrived() == "1 ");
  BOOST_TEST(ports.matches(0) == 1);
  BOOST_TEST(ports.matches(1) == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::fault::test
