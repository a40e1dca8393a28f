#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(duplicate_requests, ResponderBench)

BOOST_AUTO_TEST_CASE(sends_and_writes_are_acknowledged_again_and_not_executed) {
  post(64, 0);
  post(64, 64);
  ask(send_only(0, 8, 1));
  ask(write_only(1, 8));
  sent().clear();
  memory.fill_pattern(kBase, 64, 9);
  ask(send_only(0, 8, 2));
  BOOST_CHECK(is_ack(take(), psn(1)));  // everything up to the latest
  ask(write_only(1, 8));
  BOOST_CHECK(is_ack(take(), psn(1)));
  BOOST_CHECK_EQUAL(host.completions.size(), 1u);
  BOOST_CHECK_EQUAL(receives.taken(), 1u);
  BOOST_CHECK(memory.bytes(kBase, 64) == pattern(64, 9));
  BOOST_CHECK_EQUAL(counters.duplicate_request, 2u);
}

BOOST_AUTO_TEST_CASE(are_acknowledged_without_ack_request_too) {
  ask(write_only(0));
  sent().clear();
  Packet packet = write_only(0);
  packet.headers.bth.ack_request = false;
  ask(packet);
  BOOST_CHECK(is_ack(take(), psn(0)));
}

BOOST_AUTO_TEST_CASE(many_are_acknowledged_once) {
  for (std::uint32_t i = 0; i < 10; ++i) ask(write_only(i));
  sent().clear();
  for (std::uint32_t i = 0; i < 10; ++i) give(write_only(i));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(9)));
}

BOOST_AUTO_TEST_CASE(the_acknowledge_does_not_reach_over_a_read_whose_response_may_be_lost) {
  ask(write_only(0));
  ask(write_only(1));
  ask(read(2, 2 * kMtu));
  ask(write_only(4));
  sent().clear();
  ask(write_only(0));
  BOOST_CHECK(is_ack(take(), psn(1)));
  ask(write_only(4));
  BOOST_CHECK(is_ack(take(), psn(4)));
}

BOOST_AUTO_TEST_CASE(the_acknowledge_stops_at_the_first_of_several_reads) {
  ask(write_only(0));
  ask(read(1, 1));
  ask(write_only(2));
  ask(add(3, 1));
  ask(write_only(4));
  sent().clear();
  ask(write_only(0));
  BOOST_CHECK(is_ack(take(), psn(0)));
}

BOOST_AUTO_TEST_CASE(a_duplicate_does_not_take_back_a_later_acknowledge) {
  ask(write_only(0));
  ask(read(1, 1));
  sent().clear();
  give(write_only(2));
  give(write_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(2)));
}

BOOST_AUTO_TEST_CASE(the_message_under_way_goes_on_behind_a_duplicate) {
  ask(read(0, 1));
  ask(write(Operation::write_first, 1, pattern(kMtu), kMtu + 1));
  ask(read(0, 1));
  sent().clear();
  ask(write(Operation::write_last, 2, pattern(1)));
  BOOST_CHECK(is_ack(take(), psn(2)));
}

BOOST_AUTO_TEST_CASE(a_read_is_executed_again) {
  memory.fill_pattern(kBase, 3 * kMtu);
  ask(read(0, 3 * kMtu));
  ask(write_only(3, 4, kBase + 0x4000));
  sent().clear();
  memory.fill_pattern(kBase, 3 * kMtu, 50);
  ask(read(0, 3 * kMtu));
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  BOOST_CHECK(operation_of(sent()[0]) == Operation::read_response_first);
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_CHECK(sent()[i].headers.bth.psn == psn(i));
    BOOST_CHECK(sent()[i].payload == pattern(kMtu, 50, i * kMtu));
  }
  // The expected PSN has not moved.
  sent().clear();
  ask(write_only(4));
  BOOST_CHECK(is_ack(take(), psn(4)));
}

BOOST_AUTO_TEST_CASE(any_part_of_a_read_can_be_asked_for_again) {
  memory.fill_pattern(kBase, 4 * kMtu);
  ask(read(0, 4 * kMtu));
  sent().clear();
  ask(read(1, 2 * kMtu, kBase + kMtu));
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(operation_of(sent()[0]) == Operation::read_response_first);
  BOOST_CHECK(sent()[0].headers.bth.psn == psn(1));
  BOOST_CHECK(sent()[0].payload == pattern(kMtu, 0, kMtu));
  BOOST_CHECK(operation_of(sent()[1]) == Operation::read_response_last);
  BOOST_CHECK(sent()[1].payload == pattern(kMtu, 0, 2 * kMtu));
}

BOOST_AUTO_TEST_CASE(a_part_that_reaches_behind_the_read_is_dropped) {
  ask(read(0, 2 * kMtu));
  ask(write_only(2));
  sent().clear();
  ask(read(1, 2 * kMtu, kBase + kMtu));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(the_rights_of_a_repeated_read_are_checked_again) {
  ask(read(0, 16));
  sent().clear();
  keys.remove(kKey);
  ask(read(0, 16));
  BOOST_CHECK(is_nak(take(), psn(0), wire::NakCode::remote_access_error));
}

BOOST_AUTO_TEST_CASE(a_read_that_is_still_being_answered_starts_over_and_is_not_answered_twice) {
  memory.fill_pattern(kBase, 4 * kMtu);
  give(read(0, 4 * kMtu));
  give(read(4, kMtu));
  responder.pump(2);
  give(read(0, 4 * kMtu));
  give(read(4, kMtu));
  settle();
  const std::uint32_t expected[] = {0, 1, 0, 1, 2, 3, 4};
  BOOST_REQUIRE_EQUAL(sent().size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    BOOST_CHECK(sent()[i].headers.bth.psn == psn(expected[i]));
    BOOST_CHECK(sent()[i].payload == pattern(kMtu, 0, expected[i] == 4 ? 0 : expected[i] * kMtu));
  }
  BOOST_CHECK(operation_of(sent()[2]) == Operation::read_response_first);
}

BOOST_AUTO_TEST_CASE(a_repeat_is_answered_before_later_requests) {
  ask(read(0, kMtu));
  sent().clear();
  give(read(1, 2 * kMtu));
  give(read(0, kMtu));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) BOOST_CHECK(sent()[i].headers.bth.psn == psn(i));
}

BOOST_AUTO_TEST_CASE(repeats_do_not_take_the_resources_of_new_reads) {
  for (std::uint32_t i = 0; i < kDepth; ++i) ask(read(i, kMtu));
  for (std::uint32_t i = 0; i < kDepth; ++i) give(read(i, kMtu));
  sent().clear();
  for (std::uint32_t i = 0; i < kDepth; ++i) give(read(kDepth + i, kMtu));
  settle();
  BOOST_CHECK(!shared.failed);
  BOOST_REQUIRE_EQUAL(sent().size(), 2u * kDepth);
  for (std::uint32_t i = 0; i < 2u * kDepth; ++i) BOOST_CHECK(sent()[i].headers.bth.psn == psn(i));
}

BOOST_AUTO_TEST_CASE(an_atomic_is_answered_from_its_saved_result) {
  memory.set_word(kBase, 7);
  ask(add(0, 1));
  ask(add(1, 1));
  sent().clear();
  ask(add(0, 1));
  BOOST_CHECK_EQUAL(memory.word(kBase), 9u);
  const SentPacket response = take();
  BOOST_CHECK(operation_of(response) == Operation::atomic_acknowledge);
  BOOST_CHECK(response.headers.bth.psn == psn(0));
  BOOST_CHECK_EQUAL(response.headers.atomic_original, 7u);
}

BOOST_AUTO_TEST_CASE(an_atomic_that_comes_twice_in_one_batch_is_executed_once) {
  memory.set_word(kBase, 7);
  give(add(0, 1));
  give(add(0, 1));
  settle();
  BOOST_CHECK_EQUAL(memory.word(kBase), 8u);
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK_EQUAL(sent()[0].headers.atomic_original, 7u);
  BOOST_CHECK_EQUAL(sent()[1].headers.atomic_original, 7u);
}

BOOST_AUTO_TEST_CASE(an_atomic_that_is_not_remembered_is_dropped) {
  ask(write_only(0, 16, kBase + 0x100));
  for (std::uint32_t i = 0; i <= kDepth; ++i) ask(add(1 + i, 1));
  sent().clear();
  ask(add(0, 1));  // was a write
  ask(add(1, 1));  // its resource has been taken since
  BOOST_CHECK(sent().empty());
  BOOST_CHECK_EQUAL(memory.word(kBase), kDepth + 1u);
  BOOST_CHECK(!shared.failed);
  ask(add(2, 1));
  BOOST_CHECK_EQUAL(sent().size(), 1u);
}

BOOST_AUTO_TEST_CASE(a_read_that_is_not_remembered_is_dropped) {
  ask(write_only(0));
  ask(add(1, 1));
  sent().clear();
  ask(read(0, 1));
  ask(read(1, 1));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(an_atomic_with_the_psn_of_a_read_is_dropped) {
  ask(read(0, 1));
  sent().clear();
  ask(add(0, 1));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_SUITE_END()
