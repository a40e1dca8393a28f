// What a peer that speaks the specification only hears of holes while this side keeps what is behind them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/keeping_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(hole_naks, KeepingBench)

BOOST_AUTO_TEST_CASE(one_nak_for_a_hole) {
  for (std::uint32_t i = 1; i < 10; ++i) ask(write_only(i));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(the_next_hole_is_asked_for_as_soon_as_the_one_before_it_is_filled) {
  for (const std::uint32_t i : {1u, 2u, 4u, 6u}) ask(write_only(i));
  sent().clear();
  ask(write_only(0));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(3), NakCode::psn_sequence_error));
  ask(write_only(3));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(5), NakCode::psn_sequence_error));
  ask(write_only(5));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(6)));
}

BOOST_AUTO_TEST_CASE(a_packet_that_fills_another_hole_than_the_first_is_not_answered) {
  for (const std::uint32_t i : {1u, 3u}) ask(write_only(i));
  sent().clear();
  ask(write_only(2));
  BOOST_CHECK(sent().empty());
}

BOOST_AUTO_TEST_CASE(a_copy_of_what_is_held_is_not_answered) {
  ask(write_only(1));
  sent().clear();
  ask(write_only(1));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK_EQUAL(counters.held_duplicates, 1u);
}

BOOST_AUTO_TEST_CASE(reordering_that_is_over_before_the_nak_has_left_is_acknowledged_only) {
  give(write_only(1));
  give(write_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(1)));
  // The next hole is reported again.
  ask(write_only(3));
  BOOST_CHECK(is_nak(take(), psn(2), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(the_nak_leaves_for_the_hole_that_there_is_when_it_leaves) {
  for (const std::uint32_t i : {1u, 3u, 0u}) give(write_only(i));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(2), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(a_peer_that_goes_back_gets_everything_executed_once) {
  memory.set_word(kBase, 0);
  for (const std::uint32_t i : {1u, 2u, 3u}) ask(add(i, 1));
  for (const std::uint32_t i : {0u, 1u, 2u, 3u}) ask(add(i, 1));
  BOOST_CHECK_EQUAL(memory.word(kBase), 4u);
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_hole_is_acknowledged_without_being_asked) {
  Packet early = write_only(1);
  early.headers.bth.ack_request = false;
  ask(early);
  sent().clear();
  Packet late = write_only(0);
  late.headers.bth.ack_request = false;
  ask(late);
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(the_nak_waits_for_responses_to_earlier_reads) {
  give(read(0, 2 * kMtu));
  give(write_only(3));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  BOOST_CHECK(is_nak(sent()[2], psn(2), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(nothing_on_the_wire_tells_of_selective_acks) {
  ask(write_only(0));
  ask(read(1, 2 * kMtu));
  ask(add(3, 1));
  ask(write_only(5));
  ask(send_only(4));
  BOOST_REQUIRE_GE(sent().size(), 6u);
  for (const SentPacket& packet : sent()) {
    BOOST_CHECK((packet.headers.bth.opcode.service() == wire::Service::rc));
    BOOST_CHECK_EQUAL(packet.headers.bth.reserved7, 0);
  }
}

BOOST_AUTO_TEST_CASE(behind_a_packet_that_found_no_receive_everything_is_held_in_silence) {
  ask(send_only(0));
  BOOST_CHECK(is_rnr_nak(take(), psn(0)));
  ask(write_only(1, 16, kBase + 0x100));
  ask(write_only(3, 16, kBase + 0x300));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK_EQUAL(counters.held_packets, 2u);
  post();
  ask(send_only(0));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(2), NakCode::psn_sequence_error));
  BOOST_CHECK(memory.bytes(kBase + 0x100, 16) == pattern(16));
  BOOST_CHECK_EQUAL(host.completions.size(), 1u);
}

BOOST_AUTO_TEST_CASE(a_held_packet_that_finds_no_receive_is_asked_for_again) {
  post();
  for (const std::uint32_t i : {1u, 2u}) ask(send_only(i, 8, static_cast<std::uint8_t>(i)));
  ask(write_only(3, 16, kBase + 0x300));
  sent().clear();
  ask(send_only(0, 8, 9));
  // 0 took the receive, 1 found none.
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_rnr_nak(take(), psn(1)));
  BOOST_CHECK_EQUAL(host.completions.size(), 1u);
  post(64, 64);
  post(64, 128);
  ask(send_only(2, 8, 2));  // held already
  BOOST_CHECK(sent().empty());
  ask(send_only(1, 8, 1));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(3)));
  BOOST_CHECK_EQUAL(host.completions.size(), 3u);
  BOOST_CHECK(memory.bytes(kBuffer + 64, 8) == pattern(8, 1));
  BOOST_CHECK(memory.bytes(kBuffer + 128, 8) == pattern(8, 2));
  BOOST_CHECK(memory.bytes(kBase + 0x300, 16) == pattern(16));
}

BOOST_AUTO_TEST_CASE(an_rnr_nak_on_its_way_is_not_contradicted_by_a_packet_behind_it) {
  give(send_only(0));
  give(write_only(1));
  post();
  give(send_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_rnr_nak(take(), psn(0)));
  BOOST_CHECK_EQUAL(receives.taken(), 0u);
}

BOOST_AUTO_TEST_SUITE_END()
