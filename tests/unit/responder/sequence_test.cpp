// NAKs that ask for a packet again: PSN sequence errors and RNR.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(sequence, ResponderBench)

BOOST_AUTO_TEST_CASE(a_later_psn_is_not_executed_and_asks_for_the_expected_one) {
  ask(write_only(0));
  sent().clear();
  ask(write_only(2, 16, kBase + 0x100));
  BOOST_CHECK(memory.bytes(kBase + 0x100, 16) == std::vector<std::byte>(16));
  const SentPacket packet = take();
  BOOST_CHECK(is_nak(packet, psn(1), NakCode::psn_sequence_error));
  BOOST_CHECK(packet.headers.aeth.msn == wire::Msn{1});
  BOOST_CHECK(!shared.failed);
  BOOST_CHECK(host.events.empty());
  BOOST_CHECK_EQUAL(counters.out_of_sequence, 1u);
}

BOOST_AUTO_TEST_CASE(one_nak_for_a_hole) {
  for (std::uint32_t i = 1; i < 10; ++i) ask(write_only(i));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::psn_sequence_error));
  BOOST_CHECK_EQUAL(counters.out_of_sequence, 1u);
}

BOOST_AUTO_TEST_CASE(the_next_hole_gets_its_own_nak) {
  ask(write_only(1));
  ask(write_only(0));
  sent().clear();
  ask(write_only(3));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(a_lost_nak_is_not_repeated_by_duplicates_but_they_are_answered) {
  ask(write_only(0));
  ask(write_only(2));
  sent().clear();
  ask(write_only(0));
  ask(write_only(3));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(0)));
}

BOOST_AUTO_TEST_CASE(a_packet_that_arrives_before_the_nak_has_left_moves_it) {
  give(write_only(1));
  give(write_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::psn_sequence_error));
  // It is still one NAK for what was dropped.
  ask(write_only(3));
  BOOST_CHECK(sent().empty());
  ask(write_only(1));
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(the_nak_waits_for_responses_to_earlier_reads) {
  give(read(0, 2 * kMtu));
  give(write_only(3));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  BOOST_CHECK(is_nak(sent()[2], psn(2), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(a_message_goes_on_behind_a_hole) {
  post();
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(send(Operation::send_last, 2, pattern(7)));
  sent().clear();
  ask(send(Operation::send_middle, 1, pattern(kMtu)));
  ask(send(Operation::send_last, 2, pattern(7)));
  BOOST_CHECK_EQUAL(completion().byte_length, 2 * kMtu + 7);
}

BOOST_AUTO_TEST_CASE(without_a_receive_the_answer_is_rnr_nak_with_the_timer_of_the_queue_pair) {
  ask(send_only(0));
  const SentPacket packet = take();
  BOOST_CHECK(is_rnr_nak(packet, psn(0)));
  BOOST_CHECK_EQUAL(counters.rnr_nak_sent, 1u);
  BOOST_CHECK_EQUAL(counters.received_send_requests, 0u);
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(what_follows_an_rnr_nak_is_dropped_silently) {
  ask(send_only(0));
  sent().clear();
  post();
  ask(send_only(1));
  ask(write_only(2));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK_EQUAL(receives.taken(), 0u);
  ask(send_only(0));
  BOOST_CHECK(is_ack(take(), psn(0)));
  BOOST_CHECK_EQUAL(host.completions.size(), 1u);
}

BOOST_AUTO_TEST_CASE(every_retry_without_a_receive_gets_its_rnr_nak) {
  for (int i = 0; i < 3; ++i) {
    ask(send_only(0));
    BOOST_CHECK(is_rnr_nak(take(), psn(0)));
  }
  BOOST_CHECK_EQUAL(counters.rnr_nak_sent, 3u);
}

BOOST_AUTO_TEST_CASE(an_rnr_nak_on_its_way_is_not_contradicted) {
  give(send_only(0));
  post();
  give(send_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_rnr_nak(take(), psn(0)));
  BOOST_CHECK_EQUAL(receives.taken(), 0u);
}

BOOST_AUTO_TEST_CASE(after_an_rnr_nak_a_hole_is_reported_again) {
  ask(send_only(0));
  post();
  ask(send_only(0));
  sent().clear();
  ask(write_only(2));
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(a_receive_is_taken_by_the_first_packet_only) {
  post();
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(send(Operation::send_last, 1, pattern(1)));
  BOOST_CHECK_EQUAL(receives.taken(), 1u);
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_SUITE_END()
