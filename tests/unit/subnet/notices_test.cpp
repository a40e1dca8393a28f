// Traps: what nodes tell the manager unasked, and cables that are pulled.
#include "device_model/subnet/notices.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>

#include "managed_fabric.hpp"
#include "wire/byte_order.hpp"

namespace urnic::subnet::test {
namespace {

using std::chrono::nanoseconds;

// A manager runs at the adapter "one", whose LID all ports know.
struct Watched : ManagedFabric {
  Watched() {
    activate();
    network.set_manager(kOne, true);
    repress_all();
    rest();
  }

  // Until each agent may speak at once.
  void rest() {
    network.repeat_traps();
    network.repeat_traps();
    BOOST_REQUIRE(!network.trap_interval().has_value());
  }

  struct Heard {
    Smp smp;
    Notice notice;
    std::uint16_t from = 0;
  };

  // The traps that have arrived at "one" since the last call.
  std::vector<Heard> heard() {
    std::vector<Heard> traps;
    for (const Arrival& arrival : arrived) {
      Smp smp;
      if (arrival.adapter != kOne || decode(arrival.datagram.mad, smp) != MadError::none ||
          smp.header.method != Method::trap)
        continue;
      traps.push_back({smp, decode_data<Notice>(smp.data), arrival.datagram.source.value});
    }
    arrived.clear();
    return traps;
  }

  // As opensm does: the trap itself, with another method.
  void repress(const Heard& trap) {
    Smp smp = trap.smp;
    smp.header.method = Method::trap_repress;
    send(kOne, smp, {trap.from});
  }

  // The port of "other", which is in Initialize.
  void activate_other() {
    for (const PortState state : {PortState::armed, PortState::active}) {
      PortInfo wanted = network.port(kOther);
      wanted.state = state;
      wanted.physical_state = PhysicalState::no_change;
      Smp smp = along(question(Method::set, SubnetAttribute::port_info, 1), {1, 2, 1});
      smp.data = encode_data(wanted);
      send(kOne, smp);
    }
  }

  // Hears all that had to wait.
  void rest_and_repress() {
    for (int turn = 0; turn < 4; ++turn) {
      network.repeat_traps();
      repress_all();
    }
  }

  void repress_all() {
    for (const Heard& trap : heard()) repress(trap);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(notices, Watched)

// IBTA 14.2.5.1, trap 128.
BOOST_AUTO_TEST_CASE(a_switch_tells_of_a_link_that_goes) {
  network.set_cable({kFar, 1}, false);
  const auto traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  const Notice& notice = traps[0].notice;
  BOOST_TEST(notice.trap == 128u);
  BOOST_TEST(notice.type == 1u);
  BOOST_TEST(notice.producer == 2u);
  BOOST_TEST(notice.issuer.value == 3u);
  BOOST_TEST(wire::load_be16(notice.details.data()) == 3u);
  BOOST_TEST(traps[0].from == 3u);
  BOOST_TEST((network.port(kOther).state == PortState::down));
  BOOST_TEST((network.port(kOther).physical_state == PhysicalState::polling));
  BOOST_TEST(network.port(kOther).lid.value == 4u);
  network.set_cable({kFar, 1}, true);
  BOOST_TEST((network.port(kOther).state == PortState::initialize));
}

// IBTA 13.4.9: the next trap leaves an interval later, whatever it tells.
BOOST_AUTO_TEST_CASE(traps_keep_their_distance) {
  network.set_cable({kFar, 1}, false);
  const auto first = heard();
  BOOST_REQUIRE(first.size() == 1u);
  repress(first[0]);
  network.set_cable({kFar, 1}, true);
  network.set_cable({kFar, 1}, false);
  BOOST_TEST(heard().empty());
  network.repeat_traps();  // it may be the end of the interval in which the first has been sent
  BOOST_TEST(heard().empty());
  network.repeat_traps();
  BOOST_TEST(heard().size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_interval_is_not_too_short) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {1}, 0);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  info.subnet_timeout = 0;
  set(SubnetAttribute::port_info, {1}, 0, encode_data(info));
  network.set_cable({kNear, 2}, false);
  BOOST_TEST((network.trap_interval() == std::chrono::milliseconds(10)));
}

// A port that is not active has nobody to speak to.
BOOST_AUTO_TEST_CASE(a_port_that_is_not_active_waits_with_its_traps) {
  network.set_cable({kOther, 1}, false);
  repress_all();
  network.set_cable({kOther, 1}, true);
  rest_and_repress();
  network.report(kOther, {.pkeys = 1});
  BOOST_TEST(heard().empty());
  activate_other();
  BOOST_TEST(heard().size() == 1u);
}

// Both ends of the link are one cable, and pulling it twice is one change.
BOOST_AUTO_TEST_CASE(a_cable_has_two_ends) {
  network.set_cable({kOther, 1}, false);
  network.set_cable({kFar, 1}, false);
  BOOST_TEST(heard().size() == 1u);
  BOOST_TEST(network.node(kFar).ports[1].times_down == 1u);
  network.set_cable({kFar, 1}, true);
  BOOST_TEST((network.port(kOther).state == PortState::initialize));
  network.set_cable({kFar, 4}, false);  // no cable there
  BOOST_TEST(!network.node(kFar).ports[4].is_pulled);
}

// A manager's Polling does not plug a cable in.
BOOST_AUTO_TEST_CASE(a_pulled_cable_stays_pulled) {
  network.set_cable({kOther, 1}, false);
  auto info = get<PortInfo>(SubnetAttribute::port_info, {1, 2}, 1);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::disabled;
  set(SubnetAttribute::port_info, {1, 2}, 1, encode_data(info));
  info.physical_state = PhysicalState::polling;
  set(SubnetAttribute::port_info, {1, 2}, 1, encode_data(info));
  BOOST_TEST((network.port(kOther).state == PortState::down));
}

// IBTA 13.4.9: a trap is sent again until the manager represses it.
BOOST_AUTO_TEST_CASE(a_trap_is_repeated_until_it_is_repressed) {
  network.set_cable({kFar, 1}, false);
  const auto first = heard();
  BOOST_REQUIRE(first.size() == 1u);
  BOOST_TEST((network.trap_interval() == nanoseconds{4096} * (1 << 18)));
  network.repeat_traps();
  network.repeat_traps();
  const auto second = heard();
  BOOST_REQUIRE(second.size() == 1u);
  BOOST_TEST((second[0].smp == first[0].smp));
  Heard other = first[0];
  other.smp.header.transaction = {12345};
  repress(other);
  BOOST_TEST(network.trap_interval().has_value());
  repress(first[0]);
  network.repeat_traps();
  BOOST_TEST(heard().empty());
  BOOST_TEST(!network.trap_interval().has_value());
}

// opensm's has that of the trap, which is none.
BOOST_AUTO_TEST_CASE(a_repress_needs_no_m_key) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {1, 2}, 0);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  info.m_key = 0xC0FFEE;
  info.m_key_protection = 2;
  BOOST_REQUIRE((set(SubnetAttribute::port_info, {1, 2}, 0, encode_data(info)) == MadStatus::ok));
  network.set_cable({kFar, 1}, false);
  const auto traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  repress(traps[0]);
  network.repeat_traps();
  network.repeat_traps();
  BOOST_TEST(!network.trap_interval().has_value());
}

// The manager has repressed the older one, and does not know the newer yet.
BOOST_AUTO_TEST_CASE(a_newer_change_is_a_newer_trap) {
  network.set_cable({kFar, 1}, false);
  const auto first = heard();
  network.set_cable({kFar, 1}, true);
  BOOST_REQUIRE(first.size() == 1u);
  repress(first[0]);
  network.repeat_traps();
  network.repeat_traps();
  const auto second = heard();
  BOOST_REQUIRE(second.size() == 1u);
  BOOST_TEST((second[0].smp.header.transaction != first[0].smp.header.transaction));
  repress(second[0]);
  rest();
}

// The far switch cannot reach the manager while the link between the switches is cut.
BOOST_AUTO_TEST_CASE(a_trap_that_finds_no_way_comes_later) {
  network.set_cable({kNear, 2}, false);
  auto traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  BOOST_TEST(traps[0].from == 2u);
  repress(traps[0]);
  network.repeat_traps();
  BOOST_TEST(heard().empty());
  network.set_cable({kNear, 2}, true);
  rest_and_repress();
  rest();
}

// IBTA 14.2.5.1, trap 144: here that a second manager has come.
BOOST_AUTO_TEST_CASE(an_adapter_tells_of_its_capabilities) {
  network.set_manager(kOther, true);
  const auto traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  const Notice& notice = traps[0].notice;
  BOOST_TEST(notice.trap == 144u);
  BOOST_TEST(notice.type == 4u);
  BOOST_TEST(notice.producer == 1u);
  BOOST_TEST(wire::load_be16(notice.details.data() + 2) == 4u);
  BOOST_TEST(wire::load_be32(notice.details.data() + 6) == network.port(kOther).capability_mask);
}

// IBTA 14.2.5.1, trap 256.
BOOST_AUTO_TEST_CASE(a_wrong_m_key_is_told) {
  auto info = get<PortInfo>(SubnetAttribute::port_info, {1, 2, 1}, 1);
  info.state = PortState::no_change;
  info.physical_state = PhysicalState::no_change;
  info.m_key = 0xC0FFEE;
  set(SubnetAttribute::port_info, {1, 2, 1}, 1, encode_data(info));
  Smp wrong = along(question(Method::set, SubnetAttribute::port_info, 1), {1, 2, 1});
  wrong.m_key = 0xBAD;
  arrived.clear();
  send(kOne, wrong);
  const auto traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  const Notice& notice = traps[0].notice;
  BOOST_TEST(notice.trap == 256u);
  BOOST_TEST(notice.type == 2u);
  const std::byte* const details = notice.details.data();
  BOOST_TEST(wire::load_be16(details + 2) == 4u);
  BOOST_TEST(std::to_integer<unsigned>(details[6]) == static_cast<unsigned>(Method::set));
  BOOST_TEST(wire::load_be16(details + 8) == static_cast<unsigned>(SubnetAttribute::port_info));
  BOOST_TEST(wire::load_be32(details + 10) == 1u);
  BOOST_TEST(wire::load_be64(details + 14) == 0xBADu);
  // A directed route of three hops, and the ports by which it goes back.
  BOOST_TEST(std::to_integer<unsigned>(details[23]) == 0x83u);
  BOOST_TEST(std::to_integer<unsigned>(details[25]) == 1u);
  BOOST_TEST(std::to_integer<unsigned>(details[26]) == 3u);
}

// IBTA 14.2.5.1, traps 257 and 258; the counters are PortInfo's (14.2.5.6) and stop at their largest value.
BOOST_AUTO_TEST_CASE(wrong_keys_are_counted_and_told) {
  KeyViolations violations{.pkeys = 3,
                           .key = 0x8007,
                           .source = {2},
                           .destination = {4},
                           .service_level = 5,
                           .source_qpn = 0x11,
                           .destination_qpn = 0x22};
  violations.destination_gid.bytes[15] = 9;
  network.report(kOther, violations);
  auto traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  BOOST_TEST(traps[0].notice.trap == 257u);
  BOOST_TEST(traps[0].from == 4u);
  const std::byte* const details = traps[0].notice.details.data();
  BOOST_TEST(wire::load_be16(details + 2) == 2u);
  BOOST_TEST(wire::load_be16(details + 4) == 4u);
  BOOST_TEST(wire::load_be32(details + 6) == 0x8007u);
  BOOST_TEST(wire::load_be32(details + 10) == 0x5000'0011u);
  BOOST_TEST(wire::load_be32(details + 14) == 0x22u);
  BOOST_TEST(std::to_integer<unsigned>(details[49]) == 9u);
  BOOST_TEST(network.port(kOther).pkey_violations == 3u);
  repress(traps[0]);
  rest();
  network.report(kOther, {.qkeys = 0x1'0000, .is_qkey = true, .key = 0x1EE7});
  traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  BOOST_TEST(traps[0].notice.trap == 258u);
  BOOST_TEST(network.port(kOther).qkey_violations == 0xFFFFu);
  BOOST_TEST(network.port(kOther).pkey_violations == 3u);
}

// IBTA 14.2.5.1, trap 129: an adapter's port, and two of a switch, each with a trap of its own.
BOOST_AUTO_TEST_CASE(too_many_errors_of_a_line_are_told) {
  network.report_integrity({kOther, 1});
  auto traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  const Notice& notice = traps[0].notice;
  BOOST_TEST(notice.trap == 129u);
  BOOST_TEST(notice.type == 1u);
  BOOST_TEST(notice.producer == 1u);
  BOOST_TEST(notice.issuer.value == 4u);
  BOOST_TEST(wire::load_be16(notice.details.data()) == 0u);
  BOOST_TEST(wire::load_be16(notice.details.data() + 2) == 4u);
  BOOST_TEST(std::to_integer<unsigned>(notice.details[4]) == 1u);
  repress(traps[0]);
  network.report_integrity({kFar, 3});
  repress_all();
  for (const PortNumber port : {PortNumber{1}, PortNumber{3}, PortNumber{1}})
    network.report_integrity({kFar, port});
  network.repeat_traps();
  network.repeat_traps();
  traps = heard();
  BOOST_REQUIRE(traps.size() == 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    BOOST_TEST(traps[i].notice.trap == 129u);
    BOOST_TEST(traps[i].notice.producer == 2u);
    BOOST_TEST(wire::load_be16(traps[i].notice.details.data() + 2) == 3u);
    BOOST_TEST(std::to_integer<unsigned>(traps[i].notice.details[4]) == (i == 0 ? 3u : 1u));
  }
}

// IBTA 14.2.5.1, trap 131, by both ends; the adapter's comes when it can speak again. The link trains when
// something comes through it, and not before.
BOOST_AUTO_TEST_CASE(a_silent_link_is_told_and_goes_down) {
  network.set_silence({kOther, 1}, true);
  auto traps = heard();
  BOOST_REQUIRE(traps.size() == 2u);
  BOOST_TEST(traps[0].notice.trap == 131u);
  BOOST_TEST(traps[0].from == 3u);
  BOOST_TEST(std::to_integer<unsigned>(traps[0].notice.details[4]) == 1u);
  BOOST_TEST(traps[1].notice.trap == 128u);
  for (const Heard& trap : traps) repress(trap);
  BOOST_TEST((network.port(kOther).state == PortState::down));
  BOOST_TEST((network.node(kFar).ports[1].info.state == PortState::down));
  BOOST_TEST(network.node(kOther).ports[1].times_down == 1u);
  set_port({1, 2}, 1, PortState::down);  // trains
  BOOST_TEST((network.port(kOther).state == PortState::down));
  network.set_silence({kOther, 1}, false);
  BOOST_TEST((network.port(kOther).state == PortState::initialize));
  BOOST_TEST((network.node(kFar).ports[1].info.state == PortState::initialize));
  rest_and_repress();
  activate_other();
  traps = heard();
  BOOST_REQUIRE(traps.size() == 1u);
  BOOST_TEST(traps[0].notice.trap == 131u);
  BOOST_TEST(traps[0].from == 4u);
}

// Whoever begins to manage reads the state of all.
BOOST_AUTO_TEST_CASE(without_a_manager_nothing_is_sent) {
  network.set_manager(kOne, false);
  network.set_cable({kFar, 1}, false);
  BOOST_TEST(!network.trap_interval().has_value());
  network.set_manager(kOther, true);
  BOOST_TEST(heard().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
