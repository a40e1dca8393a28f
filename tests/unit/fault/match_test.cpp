// Which packets a rule takes.
#include <boost/test/unit_test.hpp>

#include "tests/unit/fault/planned_ports.hpp"

namespace urnic::fault::test {

using wire::Operation;

namespace {

// The PSNs of 100 to 105 that arrive through `rule` with the action drop.
std::string left_by(const std::string& rule) {
  PlannedPorts ports(PlannedPorts::rule(rule + "\naction = \"drop\""));
  for (std::uint32_t psn = 100; psn <= 105; ++psn) ports.send_psn(psn);
  return ports.arrived();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(match)

BOOST_AUTO_TEST_CASE(a_rule_without_conditions_takes_all_packets_towards_the_switch_once) {
  PlannedPorts ports(PlannedPorts::rule("action = \"mark_ecn\""));
  ports.send({.from = 0, .to = 1});
  ports.send({.from = 1, .to = 0});
  BOOST_TEST(ports.matches() == 2);
}

BOOST_AUTO_TEST_CASE(by_device_and_direction) {
  PlannedPorts ports(
      "[[fault]]\ndevice = \"urnic0\"\naction = \"drop\"\n"
      "[[fault]]\ndevice = \"urnic0\"\ndirection = \"rx\"\naction = \"drop\"\n");
  ports.send({.from = 0, .to = 1});
  BOOST_TEST(ports.matches(0) == 1);
  BOOST_TEST(ports.matches(1) == 0);
  ports.send({.from = 1, .to = 0});
  BOOST_TEST(ports.matches(0) == 1);
  BOOST_TEST(ports.matches(1) == 1);
  ports.send({.from = 1, .to = 1});
  BOOST_TEST(ports.arrived() == "100 ");
}

BOOST_AUTO_TEST_CASE(by_filter_expression) {
  BOOST_TEST(left_by("filter = \"udp dst port 4791 and ip src 192.0.2.0\"") == "");
  BOOST_TEST(left_by("filter = \"ip6\"") == "100 101 102 103 104 105 ");
  // The last byte of the BTH is the PSN's last: offset 14 + 20 + 8 + 11.
  BOOST_TEST(left_by("filter = \"ether[53] == 102\"") == "100 101 103 104 105 ");
  // Filters do not read the payload.
  BOOST_TEST(left_by("filter = \"ether[54] == 0x5a\"") == "100 101 102 103 104 105 ");
}

BOOST_AUTO_TEST_CASE(by_the_sending_qps_number_and_ordinal) {
  for (const std::string condition : {"qp = 0x12", "qp_ordinal = 2"}) {
    PlannedPorts ports(PlannedPorts::rule(condition + "\naction = \"drop\""));
    ports.send({.psn = 1}, 1);  // QP 0x11
    ports.send({.psn = 2}, 2);  // QP 0x12
    ports.send({.psn = 3}, 3);
    BOOST_TEST(ports.arrived() == "1 3 ");
  }
}

BOOST_AUTO_TEST_CASE(by_the_receiving_qps_number_and_ordinal) {
  for (const std::string condition : {"qp = 0x22", "qp_ordinal = 2"}) {
    PlannedPorts ports(PlannedPorts::rule("direction = \"rx\"\n" + condition + "\naction = \"drop\""));
    ports.send({.psn = 1, .destination_qp = 0x21});
    ports.send({.psn = 2, .destination_qp = 0x22});
    BOOST_TEST(ports.arrived() == "1 ");
  }
}

BOOST_AUTO_TEST_CASE(by_opcode) {
  for (const std::string name :
       {"\"RC RDMA Write First\"", "\"rdma_write_first\"", "[\"Send First\", \"RDMA Write First\"]"}) {
    PlannedPorts ports(PlannedPorts::rule("opcode = " + name + "\naction = \"drop\""));
    ports.send({.operation = Operation::write_middle, .psn = 1});
    ports.send({.operation = Operation::write_first, .psn = 2});
    ports.send({.operation = Operation::send_only, .psn = 3});
    BOOST_TEST(ports.arrived() == "1 3 ");
  }
}

BOOST_AUTO_TEST_CASE(by_psn) {
  BOOST_TEST(left_by("psn = 103") == "100 101 102 104 105 ");
  BOOST_TEST(left_by("psn = [101, 105]") == "100 102 103 104 ");
  BOOST_TEST(left_by("relative_psn = 2") == "100 101 103 104 105 ");
}

BOOST_AUTO_TEST_CASE(a_relative_psn_wraps_around) {
  PlannedPorts ports(PlannedPorts::rule("relative_psn = 16777215\naction = \"drop\""));
  ports.send_psn(99);
  ports.send_psn(100);
  BOOST_TEST(ports.arrived() == "100 ");
}

BOOST_AUTO_TEST_CASE(by_transmission) {
  PlannedPorts ports(PlannedPorts::rule("transmission = 2\naction = \"drop\""));
  for (const std::uint32_t psn : {100u, 101u, 100u, 101u, 100u}) ports.send_psn(psn);
  BOOST_TEST(ports.arrived() == "100 101 100 ");
  // A packet of another QP with this PSN is another packet, and so is a response.
  ports.send({.psn = 102}, 1);
  ports.send({.psn = 102}, 2);
  ports.send({.operation = Operation::acknowledge, .psn = 102}, 1);
  BOOST_TEST(ports.arrived() == "100 101 100 102 102 102 ");
}

BOOST_AUTO_TEST_CASE(by_occurrence_every_and_count) {
  BOOST_TEST(left_by("occurrence = 2") == "100 102 103 104 105 ");
  BOOST_TEST(left_by("every = 3") == "100 101 103 104 ");
  BOOST_TEST(left_by("count = 2") == "102 103 104 105 ");
  BOOST_TEST(left_by("every = 2\ncount = 1") == "100 102 103 104 105 ");
}

BOOST_AUTO_TEST_CASE(each_qp_is_counted_by_itself) {
  PlannedPorts ports(PlannedPorts::rule("occurrence = 2\naction = \"drop\""));
  for (std::uint32_t i = 0; i < 3; ++i) {
    ports.send({.psn = 10 + i}, 1);
    ports.send({.psn = 20 + i}, 2);
  }
  BOOST_TEST(ports.arrived() == "10 20 12 22 ");
}

// They do not say which QP sent them.
BOOST_AUTO_TEST_CASE(packets_from_outside_count_as_those_of_their_receivers_peer) {
  PlannedPorts ports(PlannedPorts::rule("occurrence = 2\naction = \"drop\""));
  for (std::uint32_t i = 0; i < 3; ++i) {
    ports.send_from_outside({.psn = 10 + i, .destination_qp = 0x21});
    ports.send_from_outside({.psn = 20 + i, .destination_qp = 0x22});
  }
  BOOST_TEST(ports.arrived() == "10 20 12 22 ");
}

BOOST_AUTO_TEST_CASE(a_relative_psn_from_outside_is_the_receivers_knowledge) {
  const std::string rule = PlannedPorts::rule("relative_psn = 1\naction = \"drop\"");
  for (const bool connected : {true, false}) {
    PlannedPorts ports(rule);
    if (connected)
      ports.receivers[1].connection = {.send_psn = wire::Psn(300), .receive_psn = wire::Psn(200)};
    for (const std::uint32_t psn : {1u, 200u, 201u, 301u}) ports.send_from_outside({.psn = psn});
    for (const std::uint32_t psn : {1u, 201u, 300u, 301u})
      ports.send_from_outside({.operation = Operation::acknowledge, .psn = psn});
    BOOST_TEST(ports.arrived() == (connected ? "1 200 301 1 201 300 " : "1 200 201 301 1 201 300 301 "));
  }
}

BOOST_AUTO_TEST_CASE(packets_of_a_vlan_are_packets) {
  for (const bool ipv4 : {true, false}) {
    PlannedPorts ports(PlannedPorts::rule("psn = 102\nopcode = \"Send Only\"\naction = \"drop\""));
    for (std::uint32_t psn = 100; psn <= 104; ++psn) ports.send({.psn = psn, .ipv4 = ipv4, .vlan_tag = 5});
    BOOST_TEST(ports.arrived() == "100 101 103 104 ");
  }
  PlannedPorts ports(PlannedPorts::rule("filter = \"vlan 5 and udp dst port 4791\"\naction = \"drop\""));
  for (const unsigned tag : {0u, 5u, 6u})
    ports.send({.psn = 100 + tag, .vlan_tag = static_cast<std::uint16_t>(tag)});
  BOOST_TEST(ports.arrived() == "100 106 ");
}

BOOST_AUTO_TEST_CASE(conditions_are_joined_by_and) {
  PlannedPorts ports(PlannedPorts::rule(
      "qp_ordinal = 1\npsn = 100\ntransmission = 2\nopcode = \"Send Only\"\naction = \"drop\""));
  for (int i = 0; i < 2; ++i) {
    for (std::uint32_t queue_pair = 1; queue_pair <= 2; ++queue_pair) ports.send({.psn = 100}, queue_pair);
    ports.send({.psn = 101});
  }
  BOOST_TEST(ports.arrived() == "100 100 101 100 101 ");
}

BOOST_AUTO_TEST_CASE(what_is_no_roce_packet_matches_nothing) {
  PlannedPorts ports(PlannedPorts::rule("action = \"drop\""));
  std::array<std::byte, 14> bytes{};
  bytes[0] = std::byte{2};
  bytes[5] = std::byte{1};
  ports.ports[0]->transmit({bytes, {}, {}}, {}, ports.now);
  BOOST_TEST(ports.matches() == 0);
  BOOST_TEST(ports.receivers[1].arrivals.size() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::fault::test
