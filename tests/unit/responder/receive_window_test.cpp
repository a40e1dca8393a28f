#define BOOST_TEST_DYN_LINK
#include "device_model/transport/responder/receive_window.hpp"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "tests/unit/transport_bench/packets.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Psn;

namespace {

constexpr std::uint32_t kWindow = 1000;

struct Window {
  ReorderPool pool{4096};
  ReceiveWindow window{&pool, kWindow};

  bool hold(Psn psn, std::uint32_t psns = 1) {
    return window.hold(rc_packet(wire::Operation::send_middle, psn.value()).inbound(), psns);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(receive_window, Window)

BOOST_AUTO_TEST_CASE(what_arrives_is_in_order_new_known_or_too_far_across_the_wrap) {
  for (const std::uint32_t expected : {0u, 5u, 0xFFFFFFu, 0xFFFFFEu, 0x800000u}) {
    const Psn at(expected);
    window.start(at);
    BOOST_REQUIRE(hold(at + 2));
    BOOST_CHECK(window.arrival(at) == Arrival::in_order);
    BOOST_CHECK(window.arrival(at + 1) == Arrival::out_of_order);
    BOOST_CHECK(window.arrival(at + 2) == Arrival::held_already);
    BOOST_CHECK(window.arrival(at + 3) == Arrival::out_of_order);
    BOOST_CHECK(window.arrival(at + (kWindow - 1)) == Arrival::out_of_order);
    BOOST_CHECK(window.arrival(at + kWindow) == Arrival::beyond);
    BOOST_CHECK(window.arrival(at + 0x7FFFFF) == Arrival::beyond);
    BOOST_CHECK(window.arrival(at - 1) == Arrival::duplicate);
    BOOST_CHECK(window.arrival(at - 0x7FFFFF) == Arrival::duplicate);
  }
}

BOOST_AUTO_TEST_CASE(held_packets_come_out_when_they_are_expected) {
  window.start(Psn(0xFFFFFE));
  BOOST_REQUIRE(hold(Psn(0xFFFFFF)) && hold(Psn(0)) && hold(Psn(2)));
  BOOST_CHECK(window.take_expected() == nullptr);
  for (const std::uint32_t psn : {0xFFFFFFu, 0u}) {
    window.advance(Psn(psn));
    const HeldPacket* const packet = window.take_expected();
    BOOST_REQUIRE(packet != nullptr);
    BOOST_CHECK(packet->first() == Psn(psn));
    window.retire(*packet);
  }
  window.advance(Psn(1));
  BOOST_CHECK(window.take_expected() == nullptr);
  BOOST_CHECK(window.has_hole());
}

BOOST_AUTO_TEST_CASE(what_a_read_has_covered_is_given_back) {
  window.start(Psn(0));
  BOOST_REQUIRE(hold(Psn(3)) && hold(Psn(5)) && hold(Psn(8)));
  window.advance(Psn(8));
  const HeldPacket* const packet = window.take_expected();
  BOOST_REQUIRE(packet != nullptr);
  BOOST_CHECK(packet->first() == Psn(8));
  BOOST_CHECK(!window.has_hole());
  window.retire(*packet);
  pool.batch_flushed();
  BOOST_CHECK_EQUAL(pool.in_use(), 0u);
}

BOOST_AUTO_TEST_CASE(starting_again_gives_all_back) {
  window.start(Psn(0));
  BOOST_REQUIRE(hold(Psn(3)));
  window.start(Psn(1));
  BOOST_CHECK(!window.has_hole());
  BOOST_CHECK(window.arrival(Psn(3)) == Arrival::out_of_order);
}

BOOST_AUTO_TEST_CASE(a_report_says_what_is_executed_held_and_missing) {
  window.start(Psn(0xFFFFFC));  // missing: -4, -2, 1
  for (const std::uint32_t psn : {0xFFFFFDu, 0xFFFFFFu, 0u, 2u}) BOOST_REQUIRE(hold(Psn(psn)));
  const wire::SelectiveAckEth report = window.report(Psn(2));
  BOOST_CHECK(report.latest == Psn(2));
  // From bit 0 on: 1, 0, -1, -2, -3, -4, then what has been executed.
  BOOST_CHECK_EQUAL(report.earlier, (~std::uint64_t{0} << 6) | 0b010110);
  BOOST_CHECK_EQUAL(window.report(Psn(0xFFFFFB)).earlier, ~std::uint64_t{0});
  BOOST_CHECK_EQUAL(window.report(Psn(0xFFFFFD)).earlier, ~std::uint64_t{0} << 1);
}

BOOST_AUTO_TEST_CASE(a_held_read_has_arrived_with_all_its_psns) {
  window.start(Psn(0));
  BOOST_REQUIRE(hold(Psn(2), 5) && hold(Psn(9)));
  BOOST_CHECK_EQUAL(window.report(Psn(9)).earlier, (~std::uint64_t{0} << 9) | 0b1111100);
  // One that began far before and reaches into what is reported.
  BOOST_REQUIRE(hold(Psn(500), 400) && hold(Psn(903)));
  BOOST_CHECK_EQUAL(window.report(Psn(903)).earlier, ~std::uint64_t{0} << 3);
}

BOOST_AUTO_TEST_CASE(reports_agree_with_a_set_of_numbers) {
  std::mt19937 chance(1);
  for (int round = 0; round < 50; ++round) {
    const Psn base(0xFFFF00 + static_cast<std::uint32_t>(chance() % 512));
    window.start(base);
    std::set<std::uint32_t> arrived;  // by distance from `base`
    const auto density = static_cast<std::uint32_t>(2 + chance() % 20);
    for (std::uint32_t offset = 1; offset < 300; ++offset) {
      if (chance() % density == 0) continue;
      BOOST_REQUIRE(hold(base + offset));
      arrived.insert(offset);
    }
    for (const std::uint32_t latest : arrived) {
      std::uint64_t expected = 0;
      for (std::uint32_t bit = 0; bit < 64; ++bit) {
        const bool executed = latest < 1 + bit;
        if (executed || arrived.contains(latest - 1 - bit)) expected |= std::uint64_t{1} << bit;
      }
      BOOST_REQUIRE_EQUAL(window.report(base + latest).earlier, expected);
    }
    pool.batch_flushed();
  }
}

BOOST_AUTO_TEST_CASE(last_held_looks_between_two_psns) {
  window.start(Psn(0));
  BOOST_REQUIRE(hold(Psn(5)) && hold(Psn(9)));
  BOOST_CHECK(window.last_held(Psn(1), Psn(8)) == Psn(5));
  BOOST_CHECK(window.last_held(Psn(5), Psn(9)) == Psn(9));
  BOOST_CHECK(!window.last_held(Psn(6), Psn(8)));
  BOOST_CHECK(!window.last_held(Psn(1), Psn(4)));
}

BOOST_AUTO_TEST_SUITE_END()
