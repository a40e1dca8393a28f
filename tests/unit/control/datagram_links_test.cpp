// Management datagrams on the links of devices, under virtual time: lost, late, doubled and damaged, in each
// direction; and what is not, which passes at once.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>

#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/linked_subnet.hpp"
#include "tests/unit/control/umad_program.hpp"

namespace urnic::control::test {
namespace {

// A program at the first of two devices, which asks the other one for its NodeInfo.
struct AskingProgram {
  AskingProgram() {
    ib_user_mad_reg_req2 request{};
    request.qpn = 0;
    request.mgmt_class = static_cast<std::uint8_t>(wire::mad::ManagementClass::subnet_directed_route);
    request.mgmt_class_version = wire::mad::kSubnetClassVersion;
    BOOST_REQUIRE(program.ask(UmadRequestKind::register_agent2, request) == 0);
    agent = request.id;
  }
  void load(const std::string& text) {
    admin.ask({{"cmd", "fault"}, {"do", "load"}, {"name", "plan.toml"}, {"text", text}});
  }
  // What the program reads then.
  UmadPacket ask(std::uint32_t timeout_ms, std::uint32_t retries) {
    UmadPacket packet = packet_to(wire::kPermissiveLid.value, encode(question({1, 2})), agent);
    packet.header.qpn = 0;
    packet.header.timeout_ms = timeout_ms;
    packet.header.retries = retries;
    BOOST_TEST(program.write(packet) == 0);
    UmadPacket read;
    BOOST_TEST(program.read(read) != 0u);
    return read;
  }

  RunningProcess process{{},
                         parse_configuration("subnet_manager = \"built_in\"\n"
                                             "[[devices]]\nlink_layer = \"infiniband\"\n"
                                             "[[devices]]\nlink_layer = \"infiniband\"\n",
                                             "lab.toml")};
  AdminProgram admin{process};
  UmadProgram program{process, 0};
  std::uint32_t agent = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(datagram_links, LinkedSubnet)

BOOST_AUTO_TEST_CASE(without_faults_the_answer_is_there_at_once) {
  send(question({1, 2}));
  BOOST_TEST(arrived.size() == 1u);
}

// A question passes one link from its sender and one to its receiver, and so does the answer.
BOOST_AUTO_TEST_CASE(each_of_four_links_loses_one) {
  for (const std::string link :
       {"device = \"urnic0\"\ndirection = \"tx\"", "device = \"urnic1\"\ndirection = \"rx\"",
        "device = \"urnic1\"\ndirection = \"tx\"", "device = \"urnic0\"\ndirection = \"rx\""}) {
    load(rule(link + "\nqp = 0\ncount = 1\naction = \"drop\""));
    BOOST_TEST_CONTEXT(link) {
      BOOST_TEST(answers({1, 2}) == 0u);
      BOOST_TEST(answers({1, 2}) == 1u);
      BOOST_TEST(plan->states()[0].matches == 1u);
    }
  }
}

BOOST_AUTO_TEST_CASE(between_a_device_and_a_switch_there_is_one_link) {
  load(rule("device = \"urnic1\"\naction = \"drop\"") +
       rule("device = \"urnic1\"\ndirection = \"rx\"\naction = \"drop\""));
  BOOST_TEST(answers({1}) == 1u);
  load(rule("device = \"urnic0\"\ndirection = \"rx\"\naction = \"drop\""));
  BOOST_TEST(answers({1}) == 0u);
}

BOOST_AUTO_TEST_CASE(rules_name_attributes_and_methods) {
  load(
      rule("device = \"urnic1\"\ndirection = \"rx\"\nmad = \"SubnGet(PortInfo)\"\noccurrence = 2\naction = "
           "\"drop\""));
  for (const std::size_t expected : {1u, 0u, 1u}) {
    BOOST_TEST(answers({1, 2}) == 1u);
    arrived.clear();
    send(question({1, 2}, SubnetAttribute::port_info));
    run();
    BOOST_TEST(arrived.size() == expected);
  }
  load(rule("device = \"urnic1\"\nmad = [\"SubnSet\", \"SubnGetResp\"]\naction = \"drop\""));
  BOOST_TEST(answers({1, 2}) == 0u);
  load(rule("device = \"urnic1\"\nmad = \"PerformanceGetResp\"\naction = \"drop\""));
  BOOST_TEST(answers({1, 2}) == 1u);
}

BOOST_AUTO_TEST_CASE(by_lid_both_ends_have_a_link) {
  Smp smp = question({});
  smp.header.management_class = wire::mad::ManagementClass::subnet_lid_routed;
  send(smp, lid(kOther));
  BOOST_TEST(arrived.size() == 1u);
  for (const std::string link : {"device = \"urnic0\"", "device = \"urnic1\"\ndirection = \"rx\"",
                                 "device = \"urnic1\"", "device = \"urnic0\"\ndirection = \"rx\""}) {
    load(rule(link + "\ncount = 1\naction = \"drop\""));
    for (const std::size_t expected : {0u, 1u}) {
      arrived.clear();
      send(smp, lid(kOther));
      run();
      BOOST_TEST_CONTEXT(link) BOOST_TEST(arrived.size() == expected);
    }
  }
}

// IBTA 13.4.9: the agent repeats a trap until it is repressed.
BOOST_AUTO_TEST_CASE(a_trap_that_is_lost_comes_again) {
  fabric.subnet().set_manager(*device(kAsker).adapter, true);
  load(rule(
      "device = \"urnic0\"\ndirection = \"rx\"\nmad = \"SubnTrap(Notice)\"\ncount = 1\naction = \"drop\""));
  const auto from_switch = [&] {
    return std::count_if(arrived.begin(), arrived.end(),
                         [&](const subnet::Datagram& each) { return each.source == switch_lid(); });
  };
  fabric.subnet().set_cable({*device(kOther).adapter, 1}, false);
  run();
  BOOST_TEST(from_switch() == 0);
  BOOST_TEST(plan->states()[0].matches == 1u);
  for (int interval = 0; interval < 2; ++interval) fabric.subnet().repeat_traps();
  run();
  BOOST_TEST(from_switch() == 1);
}

// As Linux's ib_umad does for the program.
BOOST_AUTO_TEST_CASE(what_a_program_asks_is_repeated_or_times_out) {
  AskingProgram asking;
  const std::string lost =
      "device = \"urnic1\"\ndirection = \"rx\"\nmad = \"SubnGet(NodeInfo)\"\naction = \"drop\"\n";
  asking.load(rule(lost + "count = 2"));
  const UmadPacket answer = asking.ask(50, 100);
  BOOST_TEST(answer.header.status == 0u);
  BOOST_TEST(std::to_integer<unsigned>(answer.mad[3]) == 0x81u);
  asking.load(rule(lost));
  BOOST_TEST(asking.ask(20, 2).header.status == static_cast<std::uint32_t>(ETIMEDOUT));
  const auto rules = asking.admin.ask({{"cmd", "fault"}, {"do", "list"}}).at("plan").at("rules");
  BOOST_TEST(rules.at(0).at("matches") == 3);
}

// Other classes than subnet management, to and from a switch.
BOOST_AUTO_TEST_CASE(general_services_of_a_switch_have_a_link) {
  send_general(switch_lid());
  BOOST_TEST(arrived.size() == 1u);
  for (const std::string link : {"direction = \"tx\"", "direction = \"rx\""}) {
    load(rule(link + "\ndevice = \"urnic0\"\nqp = 1\ncount = 1\naction = \"drop\""));
    for (const std::size_t expected : {0u, 1u}) {
      arrived.clear();
      send_general(switch_lid());
      run();
      BOOST_TEST_CONTEXT(link) BOOST_TEST(arrived.size() == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(one_may_come_late_or_twice) {
  load(rule("device = \"urnic1\"\ndirection = \"rx\"\naction = \"delay\"\ndelay_us = 500"));
  send(question({1, 2}));
  run(Nanoseconds(499'999));
  BOOST_TEST(arrived.empty());
  run(Nanoseconds(500'000));
  BOOST_TEST(arrived.size() == 1u);
  load(rule("device = \"urnic1\"\ndirection = \"rx\"\naction = \"duplicate\""));
  BOOST_TEST(answers({1, 2}) == 2u);
}

// One of two waits until the other has passed.
BOOST_AUTO_TEST_CASE(one_may_come_behind_the_next) {
  load(rule("device = \"urnic0\"\ncount = 1\naction = \"reorder\"\nhold_us = 1000000"));
  send(question({1, 2}, SubnetAttribute::port_info));
  run();
  BOOST_TEST(arrived.empty());
  send(question({1, 2}));
  run();
  BOOST_REQUIRE(arrived.size() == 2u);
  Smp smp;
  decode(arrived[1].mad, smp);
  BOOST_TEST(smp.header.attribute.value == static_cast<std::uint16_t>(SubnetAttribute::port_info));
}

// IBTA 7.8.1, 16.1.3.5: the port that gets it drops and counts it.
BOOST_AUTO_TEST_CASE(a_damaged_one_is_counted_where_it_comes_in) {
  const std::string damage = "\ncount = 1\naction = \"corrupt_after_icrc\"";
  load(rule("device = \"urnic1\"\ndirection = \"rx\"" + damage));
  BOOST_TEST(answers({1, 2}) == 0u);
  BOOST_TEST(counters(kOther).port.receive_errors == 1u);
  load(rule("device = \"urnic0\"" + damage));
  BOOST_TEST(answers({1, 2}) == 0u);
  const auto place = fabric.subnet().node(*device(kAsker).adapter).ports[1].peer;
  BOOST_TEST(std::as_const(home()).lid_routes().counters(place->node, place->port).line.damaged == 1u);
  BOOST_TEST(answers({1, 2}) == 1u);
}

// A new ICRC hides what has changed: each bit of the headers and the attribute, one after the other. Some of
// them are not looked at, and what is an answer now is nobody's.
BOOST_AUTO_TEST_CASE(one_that_has_become_something_else_is_harmless) {
  unsigned answered = 0;
  for (unsigned bit = 0; bit < 8 * (12 + 8 + 64); ++bit) {
    load(rule("device = \"urnic0\"\ncount = 1\naction = \"corrupt_before_icrc\"\nbits = " +
              std::to_string(bit)));
    const std::size_t answers_now = answers({1, 2});
    BOOST_TEST_CONTEXT("bit " << bit) {
      BOOST_TEST(answers_now <= 1u);
      BOOST_TEST(home().count() == 0u);
    }
    answered += answers_now == 1;
  }
  BOOST_TEST(answered > 0u);
  BOOST_TEST(answered < 8u * (12 + 8 + 64));
  BOOST_TEST(answers({1, 2}) == 1u);
}

// The seed and the packet decide, and not whether somebody looks.
BOOST_AUTO_TEST_CASE(chance_is_the_same_with_a_capture) {
  struct Blind final : link::FrameObserver {
    void observe(const link::Observation&) override {}
  } blind;
  link::LinkSettings settings;
  settings.seed = 7;
  settings.loss = 0.3;
  const auto fates = [&](bool is_observed) {
    LinkedSubnet subnet;
    if (is_observed) subnet.home().add_observer(blind);
    for (const Direction direction : {Direction::transmit, Direction::receive})
      subnet.configure(kOther, direction, settings);
    std::string each;
    for (int i = 0; i < 40; ++i) each += subnet.answers({1, 2}) == 1 ? '+' : '-';
    if (is_observed) subnet.home().remove_observer(blind);
    return each;
  };
  const std::string first = fates(false);
  BOOST_TEST(first == fates(true));
  BOOST_TEST(first.find('+') != std::string::npos);
  BOOST_TEST(first.find('-') != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_cable_that_is_pulled_out_loses_what_is_on_it) {
  load(rule("device = \"urnic1\"\ndirection = \"rx\"\naction = \"delay\"\ndelay_us = 500"));
  leave_alone(kAsker);
  send(question({1, 2}));
  fabric.subnet().set_cable({*device(kOther).adapter, 1}, false);
  run(Nanoseconds(500'000));
  BOOST_TEST(arrived.empty());
  fabric.subnet().set_cable({*device(kOther).adapter, 1}, true);
  send(question({1, 2}));
  run(Nanoseconds(1'000'000));
  BOOST_TEST(arrived.size() == 1u);
}

// IBTA 7.6.4, 7.9: virtual lane 15 needs no credits, and takes no time.
BOOST_AUTO_TEST_CASE(credits_do_not_hold_them_up) {
  Configuration configuration = infiniband_configuration();
  configuration.credits.emplace();
  LinkedSubnet subnet(configuration);
  subnet.load(rule("device = \"urnic1\"\ndirection = \"rx\"\ncount = 1\naction = \"drop\""));
  BOOST_TEST(subnet.answers({1, 2}) == 0u);
  BOOST_TEST(subnet.answers({1, 2}) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
