#define BOOST_TEST_DYN_LINK
#include "device_model/transport/responder/reorder_buffer.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "tests/unit/transport_bench/bench_memory.hpp"
#include "tests/unit/transport_bench/packets.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Psn;

namespace reorder_buffer {

Packet middle(std::uint32_t psn, std::size_t length = 8, std::uint8_t seed = 0) {
  return rc_packet(wire::Operation::send_middle, psn, pattern(length, seed));
}

constexpr std::uint32_t kWindow = 64;

bool hold(ReorderBuffer& packets, std::uint32_t psn) { return packets.hold(middle(psn).inbound(), 1); }

}  // namespace reorder_buffer

BOOST_AUTO_TEST_SUITE(reorder_buffer)

BOOST_AUTO_TEST_CASE(a_slot_keeps_headers_payload_and_congestion_mark) {
  ReorderPool pool(2);
  ReorderBuffer packets(&pool, kWindow);
  {
    const Packet packet = middle(7, ReorderPool::kSlotPayloadBytes, 3);
    InboundPacket inbound = packet.inbound();
    inbound.congestion_experienced = true;
    BOOST_REQUIRE(packets.hold(inbound, 5));
  }
  BOOST_CHECK_EQUAL(packets.last_until(Psn(7))->psns, 5u);
  const HeldPacket& held = packets.take_front();
  BOOST_CHECK(held.first() == Psn(7));
  BOOST_CHECK(held.packet().headers == middle(7, ReorderPool::kSlotPayloadBytes).headers);
  BOOST_CHECK(held.packet().congestion_experienced);
  BOOST_CHECK((std::vector<std::byte>(held.packet().payload.begin(), held.packet().payload.end())) ==
              pattern(ReorderPool::kSlotPayloadBytes, 3));
}

BOOST_AUTO_TEST_CASE(they_come_out_in_order_of_psn_across_the_wrap) {
  ReorderPool pool(16);
  ReorderBuffer packets(&pool, kWindow);
  for (std::uint32_t psn : {2u, 0xFFFFFEu, 0u, 9u, 0xFFFFFFu}) BOOST_REQUIRE(hold(packets, psn));
  BOOST_CHECK(packets.holds(Psn(0)));
  BOOST_CHECK(!packets.holds(Psn(1)));
  BOOST_CHECK(packets.front() == Psn(0xFFFFFE));
  BOOST_CHECK(packets.last_until(Psn(1))->first == Psn(0));
  BOOST_CHECK(packets.last_until(Psn(9))->first == Psn(9));
  BOOST_CHECK(packets.last_until(Psn(10))->first == Psn(9));
  BOOST_CHECK(!packets.last_until(Psn(0xFFFFFD)));
  BOOST_CHECK(!packets.holds(Psn(0xFFFFFD)) && !packets.holds(Psn(10)));
  for (std::uint32_t psn : {0xFFFFFEu, 0xFFFFFFu, 0u, 2u, 9u}) {
    const HeldPacket& packet = packets.take_front();
    BOOST_CHECK(packet.first() == Psn(psn));
    packets.retire(packet);
  }
  BOOST_CHECK(packets.empty());
}

BOOST_AUTO_TEST_CASE(the_64_psns_before_one_are_told_of_as_bits) {
  ReorderPool pool(16);
  ReorderBuffer packets(&pool, 128);
  BOOST_CHECK_EQUAL(packets.firsts_before(Psn(5)), 0u);
  for (std::uint32_t psn : {0xFFFFC0u, 0xFFFFC1u, 0xFFFFFFu, 1u, 2u}) BOOST_REQUIRE(hold(packets, psn));
  BOOST_CHECK_EQUAL(packets.firsts_before(Psn(1)), 0b10u | std::uint64_t{1} << 63);
  BOOST_CHECK_EQUAL(packets.firsts_before(Psn(2)), 0b101u);
  BOOST_CHECK_EQUAL(packets.firsts_before(Psn(0xFFFFC0)), 0u);
  BOOST_CHECK_EQUAL(packets.firsts_before(Psn(10)), 0b1011u << 7);
}

BOOST_AUTO_TEST_CASE(the_first_psns_lie_within_a_window) {
  ReorderPool pool(16);
  ReorderBuffer packets(&pool, kWindow);
  BOOST_REQUIRE(hold(packets, 10));
  BOOST_CHECK(!hold(packets, 10 + kWindow));
  BOOST_CHECK(hold(packets, 10 + kWindow - 1));
  BOOST_CHECK(!hold(packets, 9));
  packets.retire(packets.take_front());
  BOOST_CHECK(hold(packets, 10 + kWindow));
  BOOST_CHECK(packets.front() == Psn(10 + kWindow - 1));
}

BOOST_AUTO_TEST_CASE(those_that_cover_several_psns_are_noticed) {
  ReorderPool pool(4);
  ReorderBuffer packets(&pool, kWindow);
  BOOST_REQUIRE(hold(packets, 1));
  BOOST_CHECK(!packets.any_wide());
  BOOST_REQUIRE(packets.hold(middle(2).inbound(), 5));
  BOOST_CHECK(packets.any_wide());
  packets.clear();
  BOOST_CHECK(!packets.any_wide());
}

BOOST_AUTO_TEST_CASE(a_payload_stays_until_the_batch_is_flushed) {
  ReorderPool pool(2);
  ReorderBuffer packets(&pool, kWindow);
  BOOST_REQUIRE(packets.hold(middle(1, 16, 1).inbound(), 1));
  const HeldPacket& first = packets.take_front();
  const std::span<const std::byte> payload = first.packet().payload;
  packets.retire(first);
  // The other slot is used, not this one; then there is none.
  BOOST_REQUIRE(packets.hold(middle(2, 16, 2).inbound(), 1));
  packets.retire(packets.take_front());
  BOOST_CHECK(!packets.hold(middle(3, 16, 3).inbound(), 1));
  BOOST_CHECK((std::vector<std::byte>(payload.begin(), payload.end())) == pattern(16, 1));
  BOOST_CHECK_EQUAL(pool.in_use(), 2u);
  pool.batch_flushed();
  BOOST_CHECK_EQUAL(pool.in_use(), 0u);
  BOOST_CHECK(packets.hold(middle(3, 16, 3).inbound(), 1));
}

BOOST_AUTO_TEST_CASE(one_queue_pair_has_half_of_the_pool_at_most) {
  ReorderPool pool(8);
  ReorderBuffer greedy(&pool, kWindow);
  ReorderBuffer other(&pool, kWindow);
  for (std::uint32_t psn = 0; psn < 4; ++psn) BOOST_CHECK(hold(greedy, psn));
  BOOST_CHECK(!hold(greedy, 4));
  for (std::uint32_t psn = 0; psn < 4; ++psn) BOOST_CHECK(hold(other, psn));
}

BOOST_AUTO_TEST_CASE(an_empty_pool_holds_nothing_more) {
  ReorderPool pool(4);
  ReorderBuffer one(&pool, kWindow), two(&pool, kWindow), three(&pool, kWindow);
  for (std::uint32_t psn = 0; psn < 2; ++psn) BOOST_CHECK(hold(one, psn) && hold(two, psn));
  BOOST_CHECK(!hold(three, 0));
  BOOST_CHECK(three.empty());
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_goes_gives_its_slots_back) {
  ReorderPool pool(8);
  for (int i = 0; i < 10; ++i) {
    {
      ReorderBuffer packets(&pool, kWindow);
      for (std::uint32_t psn = 0; psn < 4; ++psn) BOOST_REQUIRE(hold(packets, psn));
      if (i % 2 == 0) packets.clear();
    }
    BOOST_CHECK_EQUAL(pool.in_use(), 4u);
    pool.batch_flushed();
    BOOST_CHECK_EQUAL(pool.in_use(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_payload_above_the_largest_mtu_has_no_slot) {
  ReorderPool pool(4);
  ReorderBuffer packets(&pool, kWindow);
  BOOST_CHECK(!packets.hold(middle(1, ReorderPool::kSlotPayloadBytes + 1).inbound(), 1));
}

BOOST_AUTO_TEST_CASE(without_a_pool_and_without_slots_nothing_is_held) {
  ReorderBuffer none(nullptr, kWindow);
  BOOST_CHECK(!hold(none, 1));
  ReorderPool empty(0);
  ReorderBuffer packets(&empty, kWindow);
  BOOST_CHECK(!hold(packets, 1));
}

BOOST_AUTO_TEST_SUITE_END()
