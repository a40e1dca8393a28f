// What a peer that reads selective acks is told.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/unit/responder/keeping_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(selective_acks, ReportingBench)

BOOST_AUTO_TEST_CASE(every_arrival_behind_a_hole_is_reported) {
  ask(write_only(0));
  sent().clear();
  ask(write_only(2));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_report(take(), psn(1), psn(2), all_before(1)));
  ask(write_only(3));
  BOOST_CHECK(is_report(take(), psn(1), psn(3), all_before(2, 1)));
  ask(write_only(6));
  BOOST_CHECK(is_report(take(), psn(1), psn(6), all_before(5, 0b01100)));
  BOOST_CHECK_EQUAL(counters.selective_acks_sent, 3u);
}

BOOST_AUTO_TEST_CASE(so_is_one_that_fills_another_hole_than_the_first) {
  for (const std::uint32_t i : {1u, 3u}) ask(write_only(i));
  sent().clear();
  ask(write_only(2));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_report(take(), psn(0), psn(2), all_before(2, 1)));
}

// On another host the peer says so later than with its first request. What is held by then is news for it.
BOOST_AUTO_TEST_CASE(what_is_held_when_a_peer_says_that_it_reads_reports_is_reported) {
  for (const std::uint32_t i : {1u, 2u, 100u}) ResponderBench::ask(write_only(i));
  sent().clear();
  responder.peer_offers(true);
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(is_report(take(), psn(0), psn(2), all_before(2, 1)));
  BOOST_CHECK(is_report(take(), psn(0), psn(100), 0));
  responder.peer_offers(true);  // once more
  settle();
  BOOST_CHECK(sent().empty());
}

BOOST_AUTO_TEST_CASE(arrivals_of_one_batch_are_one_report_where_that_can_tell_all) {
  for (std::uint32_t i = 1; i <= 30; ++i) give(write_only(i));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_report(take(), psn(0), psn(30), all_before(30, (std::uint64_t{1} << 29) - 1)));
}

BOOST_AUTO_TEST_CASE(otherwise_they_are_as_many_as_it_takes) {
  for (const std::uint32_t i : {1u, 2u, 200u, 100u, 201u}) give(write_only(i));
  settle();
  std::set<std::uint32_t> told;
  for (const SentPacket& packet : sent()) {
    BOOST_REQUIRE(is_selective(packet));
    const wire::SelectiveAckEth& report = packet.headers.selective_ack_eth;
    told.insert(static_cast<std::uint32_t>(distance(psn(0), report.latest)));
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      if ((report.earlier >> bit & 1) != 0) {
        told.insert(static_cast<std::uint32_t>(distance(psn(0), report.latest - (1 + bit))));
      }
    }
  }
  BOOST_CHECK_EQUAL(sent().size(), 3u);
  for (const std::uint32_t i : {1u, 2u, 200u, 100u, 201u}) BOOST_CHECK(told.contains(i));
  BOOST_CHECK(!told.contains(0));
  BOOST_CHECK(!told.contains(99));
}

BOOST_AUTO_TEST_CASE(a_filled_hole_is_acknowledged_up_to_the_next) {
  for (const std::uint32_t i : {1u, 3u}) ask(write_only(i));
  sent().clear();
  Packet packet = write_only(0);
  packet.headers.bth.ack_request = false;
  ask(packet);
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(sent()[0], psn(1)));
}

BOOST_AUTO_TEST_CASE(a_report_stands_for_the_acknowledge_of_the_same_batch) {
  ask(write_only(2));
  sent().clear();
  give(write_only(0));
  give(write_only(4));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_report(take(), psn(1), psn(4), all_before(3, 0b010)));
}

BOOST_AUTO_TEST_CASE(reordering_that_is_over_within_a_batch_is_acknowledged_only) {
  for (const std::uint32_t i : {2u, 1u, 0u}) give(write_only(i));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(2)));
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_held_packet_is_the_latest_of_a_report) {
  ask(write_only(0));
  ask(write_only(2));
  sent().clear();
  ask(write_only(2));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_report(take(), psn(1), psn(2), all_before(1)));
  BOOST_CHECK_EQUAL(counters.held_duplicates, 1u);
}

BOOST_AUTO_TEST_CASE(a_duplicate_of_what_was_executed_is_acknowledged_as_ever_hole_or_not) {
  for (const bool hole : {false, true}) {
    ReportingBench bench;
    bench.ask(write_only(0));
    if (hole) bench.ask(write_only(2));
    bench.sent().clear();
    bench.ask(write_only(0));
    BOOST_REQUIRE_EQUAL(bench.sent().size(), 1u);
    BOOST_CHECK(is_ack(bench.sent()[0], psn(0)));
  }
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_held_packet_that_is_executed_in_the_same_batch_is_acknowledged_only) {
  for (const std::uint32_t i : {1u, 3u}) ask(write_only(i));
  sent().clear();
  give(write_only(1));
  give(write_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(reads_and_atomics_that_come_again_are_answered_behind_a_hole_too) {
  memory.fill_pattern(kBase, kMtu);
  ask(read(0, kMtu));
  ask(add(1, 0, kBase + 0x100));
  ask(write_only(3));
  sent().clear();
  ask(read(0, kMtu));
  ask(add(1, 0, kBase + 0x100));
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(operation_of(sent()[0]) == Operation::read_response_only);
  BOOST_CHECK(operation_of(sent()[1]) == Operation::atomic_acknowledge);
}

BOOST_AUTO_TEST_CASE(whether_the_peer_reads_them_is_what_its_latest_request_says) {
  ResponderBench::ask(write_only(0));
  BOOST_CHECK(!responder.gives_selective_acks());
  ask(write_only(1));
  BOOST_CHECK(responder.gives_selective_acks());
  Packet made = write_only(1);
  made.selective_acks = SelectiveAcks::unknown;
  ResponderBench::ask(made);
  BOOST_CHECK(responder.gives_selective_acks());
  ResponderBench::ask(write_only(1));
  BOOST_CHECK(!responder.gives_selective_acks());
}

// All bits that the specification reserves are 0, in every packet.
BOOST_AUTO_TEST_CASE(every_response_but_the_reports_is_the_specification_s) {
  ask(write_only(1));
  ask(write_only(0));
  ask(read(2, 3 * kMtu));
  ask(add(5, 1));
  give(read(6, 1));
  give(add(7, 1));
  settle();
  ask(send_only(8));    // RNR NAK
  ask(write_only(10));  // report
  post();
  ask(send_only(8));
  ask(write_only(9, 16, kBase, kForeignKey));  // refused
  std::set<unsigned> opcodes;
  for (const SentPacket& packet : sent()) {
    BOOST_CHECK_EQUAL(packet.headers.bth.reserved6, 0);
    BOOST_CHECK_EQUAL(packet.headers.bth.reserved7, 0);
    opcodes.insert(packet.headers.bth.opcode.value);
  }
  // Four read responses, acknowledge, atomic acknowledge; and selective acknowledge.
  BOOST_CHECK_EQUAL(opcodes.size(), 7u);
  BOOST_CHECK_EQUAL(opcodes.count(wire::kSelectiveAcknowledge.value), 1u);
  BOOST_CHECK(is_nak(sent().back(), psn(9), NakCode::remote_access_error));
  BOOST_CHECK(!is_selective(sent().back()));
}

BOOST_AUTO_TEST_CASE(a_responder_that_keeps_nothing_does_not_take_part) {
  shared.recovery.mode = RecoveryMode::gbn;
  ask(write_only(0));
  ask(write_only(2));
  ask(read(1, 1));
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  BOOST_CHECK(!responder.gives_selective_acks());
  for (const SentPacket& packet : sent()) BOOST_CHECK(!is_selective(packet));
}

BOOST_AUTO_TEST_CASE(reports_wait_for_responses_to_earlier_reads_and_lose_nothing) {
  give(read(0, 4 * kMtu));
  for (std::uint32_t i = 5; i < 300; i += 2) {
    give(write_only(i));
    BOOST_CHECK_EQUAL(responder.pump(i == 101 ? 1 : 0), i == 101 ? 1u : 0u);
  }
  settle();
  for (std::uint32_t i = 0; i < 4; ++i) BOOST_CHECK(sent().at(i).headers.bth.psn == psn(i));
  std::set<std::uint32_t> told;
  for (std::size_t at = 4; at < sent().size(); ++at) {
    BOOST_REQUIRE(is_nak(sent()[at], psn(4), NakCode::psn_sequence_error));
    const wire::SelectiveAckEth& report = sent()[at].headers.selective_ack_eth;
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      if ((report.earlier >> bit & 1) != 0) told.insert((report.latest - (1 + bit)).value());
    }
    told.insert(report.latest.value());
  }
  for (std::uint32_t i = 4; i < 300; ++i) BOOST_CHECK_EQUAL(told.contains(psn(i).value()), i % 2 == 1);
  BOOST_CHECK_LE(sent().size(), 4u + 10u);
}

BOOST_AUTO_TEST_CASE(the_rnr_nak_comes_first_and_what_is_behind_is_reported_still) {
  give(send_only(0));
  give(write_only(1));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(is_rnr_nak(take(), psn(0)));
  BOOST_CHECK(is_report(take(), psn(0), psn(1), all_before(1)));
  post();
  ask(send_only(0));
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(a_held_packet_that_finds_no_receive_is_asked_for_with_an_rnr_nak_only) {
  post();
  give(send_only(1));
  give(send_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_rnr_nak(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(what_found_no_slot_is_not_reported_as_arrived) {
  ReportingBench small(4);
  for (const std::uint32_t i : {1u, 2u}) small.ask(write_only(i));
  small.sent().clear();
  small.ask(write_only(4));
  BOOST_REQUIRE_EQUAL(small.sent().size(), 1u);
  BOOST_CHECK(is_report(small.take(), psn(0), psn(0) - 1, all_before(0)));
  small.ask(write_only(5));  // one is enough
  BOOST_CHECK(small.sent().empty());
  BOOST_CHECK_EQUAL(small.counters.held_discards, 2u);
}

BOOST_AUTO_TEST_CASE(one_too_far_ahead_is_not_reported_as_arrived) {
  ask(write_only(QpConfig{}.window_packets + 5));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_report(take(), psn(0), psn(0) - 1, all_before(0)));
}

BOOST_AUTO_TEST_CASE(a_held_read_is_reported_with_all_its_psns) {
  ask(read(1, 3 * kMtu));
  BOOST_CHECK(is_report(take(), psn(0), psn(1), all_before(1)));
  ask(write_only(4));
  BOOST_CHECK(is_report(take(), psn(0), psn(4), all_before(4, 0b111)));
}

BOOST_AUTO_TEST_CASE(nothing_is_reported_once_a_request_was_refused) {
  give(write_only(2));
  give(write_only(0, 16, kBase, kForeignKey));
  give(write_only(3));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_access_error));
}

BOOST_AUTO_TEST_CASE(many_gaps_in_read_responses_are_asked_for_again_one_by_one) {
  constexpr std::uint32_t kPackets = 150;
  memory.fill_pattern(kBase, kPackets * kMtu);
  ask(read(0, kPackets * kMtu));
  BOOST_REQUIRE_EQUAL(sent().size(), kPackets);
  sent().clear();
  // Every other packet was lost; the requests for them arrive in any order.
  for (std::uint32_t i = 1; i < kPackets; i += 2) {
    const std::uint32_t at = i * 31 % kPackets | 1;
    give(read(at, kMtu, kBase + at * kMtu));
  }
  settle();
  BOOST_CHECK_EQUAL(counters.read_repeat_discards, 0u);
  std::set<std::uint32_t> answered;
  for (const SentPacket& packet : sent()) {
    const auto at = static_cast<std::uint32_t>(distance(psn(0), packet.headers.bth.psn));
    BOOST_CHECK(operation_of(packet) == Operation::read_response_only);
    BOOST_CHECK(packet.payload == pattern(kMtu, 0, at * kMtu));
    if (!answered.empty()) BOOST_CHECK_GT(at, *answered.rbegin());
    answered.insert(at);
  }
  BOOST_CHECK_GE(answered.size(), 70u);
}

BOOST_AUTO_TEST_CASE(an_acknowledge_does_not_wait_behind_repeats_of_read_responses) {
  ask(read(0, 4 * kMtu));
  sent().clear();
  give(read(0, 4 * kMtu));
  give(write_only(4));
  BOOST_CHECK_EQUAL(responder.pump(2), 2u);
  flush();
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(is_ack(take(), psn(4)));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 4u);  // and the acknowledge does not come again
  for (std::uint32_t i = 0; i < 4; ++i) {
    BOOST_CHECK(operation_of(sent()[i]) != Operation::acknowledge);
    BOOST_CHECK(sent()[i].headers.bth.psn == psn(i));
  }
}

BOOST_AUTO_TEST_CASE(it_waits_behind_responses_that_are_sent_for_the_first_time) {
  ask(read(0, 2 * kMtu));
  sent().clear();
  give(read(0, 2 * kMtu));  // a repeat
  give(read(2, 2 * kMtu));  // not one
  give(write_only(4));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 5u);
  for (std::uint32_t i = 0; i < 4; ++i) BOOST_CHECK(sent()[i].headers.bth.psn == psn(i));
  BOOST_CHECK(is_ack(sent()[4], psn(4)));
}

BOOST_AUTO_TEST_CASE(of_those_only_behind_the_earlier_ones) {
  ask(write_only(0));
  sent().clear();
  give(read(1, 2 * kMtu));
  give(write_only(0));  // again
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  BOOST_CHECK(is_ack(sent()[0], psn(0)));
  BOOST_CHECK(sent()[1].headers.bth.psn == psn(1));
}

BOOST_AUTO_TEST_CASE(a_report_waits_behind_repeats) {
  ask(read(0, 2 * kMtu));
  sent().clear();
  give(read(0, 2 * kMtu));
  give(write_only(3));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  BOOST_CHECK(is_report(sent()[2], psn(2), psn(3), all_before(1)));
}

BOOST_AUTO_TEST_SUITE_END()
