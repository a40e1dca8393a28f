// The recoveries that send again only what is missing, at the requester: which it reads, what it takes from
// selective acks and NAKs, and which packets it judges lost (docs/loss-recovery.md).
#include "tests/unit/requester/selective_bench.hpp"

namespace urnic::transport::requester_test {
namespace selective {

BOOST_AUTO_TEST_SUITE(selective)

BOOST_AUTO_TEST_CASE(selective_acks_are_read_until_a_peer_is_seen_not_to_give_them) {
  for (const RecoveryMode mode : {RecoveryMode::irn, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    b.post(WorkOpcode::rdma_write, 64);
    b.expect(write_only, 0);
    BOOST_TEST(b.requester.reads_selective_acks());
    b.inject(ack(0));
    b.expect_completion(0);
    BOOST_TEST(!b.requester.reads_selective_acks());
  }
}

BOOST_AUTO_TEST_CASE(they_are_read_of_a_peer_that_gives_them) {
  RequesterBench b(with(RecoveryMode::sack));
  send_writes(b, 1);
  b.inject(taking_part(ack(0)));
  BOOST_TEST(b.requester.reads_selective_acks());
}

BOOST_AUTO_TEST_CASE(an_answer_that_a_fault_has_made_says_nothing_of_the_peer) {
  RequesterBench b(with(RecoveryMode::sack));
  send_writes(b, 1);
  Packet made = nak(0, NakCode::psn_sequence_error);
  made.selective_acks = SelectiveAcks::unknown;
  b.inject(made);
  b.expect(write_only, 0);
  BOOST_TEST(b.requester.reads_selective_acks());
  b.inject(taking_part(ack(0)));
  BOOST_TEST(b.requester.reads_selective_acks());
}

BOOST_AUTO_TEST_CASE(the_specification_s_modes_read_none) {
  for (const RecoveryMode mode : {RecoveryMode::gbn, RecoveryMode::selective}) {
    RequesterBench b(with(mode));
    b.post(WorkOpcode::rdma_write, 64);
    b.expect(write_only, 0);
    BOOST_TEST(!b.requester.reads_selective_acks());
  }
}

BOOST_AUTO_TEST_CASE(a_snapshot_tells_what_is_in_flight_and_what_has_become_of_it) {
  RequesterBench b(with(RecoveryMode::sack));
  send_writes(b, 5);
  b.inject(taking_part(ack(0)));
  RequesterSnapshot now = b.requester.snapshot();
  BOOST_TEST((now.unacknowledged_psn == wire::Psn(kFirstPsn + 1)));
  BOOST_TEST((now.next_psn == wire::Psn(kFirstPsn + 5)));
  BOOST_TEST(now.in_flight == 4u);
  BOOST_TEST(now.arrived_ahead == 0u);
  BOOST_TEST(now.lost == 0u);
  BOOST_TEST(now.window == 64u);
  BOOST_TEST(now.selective_acks);
  BOOST_TEST((now.ack_timeout == b.timeout()));
  b.inject(selective_ack(1, 4, {2, 3}));
  b.expect(write_only, 1);
  now = b.requester.snapshot();
  BOOST_TEST(now.in_flight == 4u);
  BOOST_TEST(now.arrived_ahead == 3u);
  BOOST_TEST(now.lost == 0u);  // it has been sent again
  b.inject(taking_part(rnr_nak(1, 1)));
  now = b.requester.snapshot();
  BOOST_TEST(now.waits_for_receive);
  BOOST_TEST(now.lost == 1u);
}

// Of a detail: "2 in flight from 1, …", counted from the first PSN.
std::string spans_of(const RequesterDetail& detail) {
  std::string text;
  for (const PsnSpan& span : detail.packets) {
    const char* const kinds[] = {"in flight", "lost", "ahead", "not sent", "held"};
    text += std::to_string(span.count) + ' ' + kinds[static_cast<int>(span.kind)] + " from " +
            std::to_string(distance(wire::Psn(kFirstPsn), span.first)) + "; ";
  }
  return text;
}

BOOST_AUTO_TEST_CASE(a_detail_tells_what_has_become_of_each_packet) {
  RequesterBench b(with(RecoveryMode::sack));
  send_writes(b, 6);
  b.inject(taking_part(ack(0)));
  BOOST_TEST(spans_of(b.requester.detail()) == "5 in flight from 1; ");
  b.inject(selective_ack(1, 4, {3}));
  const RequesterDetail now = b.requester.detail();
  BOOST_TEST(spans_of(now).find("2 ahead from 3; ") != std::string::npos);
  BOOST_TEST(now.requests.size() == 5u);
  BOOST_TEST(now.requests.at(0).index == 1u);
  BOOST_TEST((now.requests.at(0).first == wire::Psn(kFirstPsn + 1)));
  BOOST_TEST(now.requests.at(4).message.value == 6u);
  BOOST_TEST(now.oldest == 1u);
  BOOST_TEST(now.taken == 6u);
  BOOST_TEST(now.round_trip.has_value());
  BOOST_TEST(!now.timers.empty());
}

BOOST_AUTO_TEST_CASE(a_detail_of_go_back_n_tells_what_is_to_be_sent_again) {
  RequesterBench b(with(RecoveryMode::gbn));
  send_writes(b, 4);
  b.inject(ack(0));
  b.inject(rnr_nak(2, 1));
  const RequesterDetail now = b.requester.detail();
  BOOST_TEST(spans_of(now) == "2 lost from 2; ");
  BOOST_TEST((now.timers.back().kind == RunningTimer::Kind::rnr));
  BOOST_TEST(!now.round_trip.has_value());
}

// A manufacturer's opcode has a meaning only between ends that have agreed on it.
BOOST_AUTO_TEST_CASE(a_selective_ack_of_a_stranger_is_ignored) {
  RequesterBench b(with(RecoveryMode::sack, 0));
  send_writes(b, 3);
  Packet foreign = selective_ack(1, 2);
  foreign.selective_acks = SelectiveAcks::no;
  b.inject(foreign);
  b.expect_silence();
  b.expect_no_completion();
}

BOOST_AUTO_TEST_CASE(a_selective_ack_that_is_no_nak_for_a_sequence_error_is_ignored) {
  for (const unsigned syndrome : {0x00u, 0x1Fu, 0x20u, 0x40u, 0x61u, 0x62u, 0x63u, 0x64u, 0xE0u}) {
    RequesterBench b(with(RecoveryMode::sack, 0));
    send_writes(b, 3);
    Packet odd = selective_ack(1, 2);
    odd.headers.aeth.syndrome = static_cast<std::uint8_t>(syndrome);
    b.inject(odd);
    b.expect_silence();
    b.expect_no_completion();
    BOOST_TEST(!b.failed());
  }
}

BOOST_AUTO_TEST_CASE(sack_sends_again_what_was_sent_well_before_an_arrival) {
  RequesterBench b(with(RecoveryMode::sack, 2));
  send_writes(b, 6);
  b.inject(selective_ack(1, 2));
  b.inject(selective_ack(1, 3, {2}));
  b.expect_silence();  // two packets may overtake it
  b.inject(selective_ack(1, 4, {2, 3}));
  BOOST_TEST(b.expect(write_only, 1).headers.bth.ack_request);
  b.expect_silence();
  BOOST_TEST(b.counters.retransmitted_packets == 1u);
}

BOOST_AUTO_TEST_CASE(reports_that_were_lost_are_in_the_next_one) {
  RequesterBench b(with(RecoveryMode::sack, 0));
  send_writes(b, 8);
  b.inject(selective_ack(1, 7, {2, 3, 4, 6}));
  b.expect(write_only, 1);
  b.expect(write_only, 5);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(a_lost_retransmission_is_found_without_a_timer) {
  RequesterBench b(with(RecoveryMode::sack, 0));
  send_writes(b, 4);
  b.advance(microseconds(5));
  b.inject(selective_ack(0, 1));
  b.expect(write_only, 0);
  b.inject(selective_ack(0, 2, {1}));  // sent before it
  b.inject(selective_ack(0, 3, {1, 2}));
  b.expect_silence();
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(write_only, 4);
  b.inject(selective_ack(0, 4, {1, 2, 3}));
  b.expect(write_only, 0);
}

// RFC 8985, section 6.2: the first transmission was only late.
BOOST_AUTO_TEST_CASE(an_arrival_too_soon_after_a_retransmission_condemns_nothing) {
  RequesterBench b(with(RecoveryMode::sack, 0));
  send_writes(b, 1);
  b.advance(microseconds(5));
  b.inject(taking_part(ack(0)));  // a round trip takes 5 us
  b.expect_completion(0);
  for (int i = 0; i < 4; ++i) b.post(WorkOpcode::rdma_write, 64);
  b.expect_packets(write_only, 1, 4);
  b.inject(selective_ack(1, 2));
  b.expect(write_only, 1);
  b.advance(microseconds(1));
  b.inject(taking_part(ack(2)));
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(selective_sends_only_the_hole_that_a_nak_names) {
  RequesterBench b(with(RecoveryMode::selective));
  send_writes(b, 6);
  b.inject(nak(1, NakCode::psn_sequence_error));
  b.expect(write_only, 1);
  b.expect_silence();
  b.inject(nak(4, NakCode::psn_sequence_error));  // the peer has kept 2 and 3
  b.expect(write_only, 4);
  b.expect_silence();
  b.inject(nak(5, NakCode::psn_sequence_error));
  b.expect(write_only, 5);
  BOOST_TEST(b.counters.retransmitted_packets == 3u);
}

BOOST_AUTO_TEST_CASE(a_peer_that_drops_what_is_out_of_order_gets_all_of_it_again) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    send_writes(b, 6);
    b.inject(nak(1, NakCode::psn_sequence_error));
    b.expect(write_only, 1);
    b.inject(nak(2, NakCode::psn_sequence_error));
    b.expect_packets(write_only, 2, 5);
    b.expect_silence();
    // From now on at once.
    b.post(WorkOpcode::rdma_write, 64);
    b.expect(write_only, 6);
    b.inject(nak(4, NakCode::psn_sequence_error));
    b.expect_packets(write_only, 4, 6);
  }
}

BOOST_AUTO_TEST_CASE(only_missing_read_responses_are_asked_for_again) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::irn, RecoveryMode::sack}) {
    RequesterBench b(with(mode, 0));
    b.post(WorkOpcode::rdma_read, 6 * 1024, 64);
    b.expect(read_request, 0);
    b.inject(response(read_response_first, 0));
    b.inject(response(read_response_middle, 3));
    const SentPacket again = b.expect(read_request, 1);
    BOOST_TEST(again.headers.reth.virtual_address == kRemote + 1024);
    BOOST_TEST(again.headers.reth.dma_length == 2048u);
    b.inject(response(read_response_middle, 4));
    b.inject(response(read_response_last, 5));
    b.expect_silence();
    b.expect_no_completion();
    b.inject(response(read_response_first, 1));
    b.inject(response(read_response_last, 2));
    b.expect_completion(0);
    BOOST_TEST(b.memory.bytes(kBase + 64, 6 * 1024) == pattern(6 * 1024, kSeed, 0));
    BOOST_TEST(b.counters.bad_responses == 0u);
  }
}

// The peer may never have seen it, and would take a part for a request of its own.
BOOST_AUTO_TEST_CASE(a_read_without_any_response_is_sent_again_whole) {
  RequesterBench b(with(RecoveryMode::sack, 2));
  b.post(WorkOpcode::rdma_read, 4 * 1024);
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(read_request, 0);
  b.expect(write_only, 4);
  b.inject(selective_ack(0, 4));  // sent two places behind the third response that is due
  BOOST_TEST(b.expect(read_request, 0).headers.reth.dma_length == 4096u);
  b.expect_silence();
}

// It was kept behind a hole, and found no receive when its turn came (IBTA 9.7.5.2.8).
BOOST_AUTO_TEST_CASE(what_is_refused_for_want_of_a_receive_is_sent_again_although_it_had_arrived) {
  for (const RecoveryMode mode : {RecoveryMode::irn, RecoveryMode::sack}) {
    RequesterBench b(with(mode, 0));
    for (int i = 0; i < 4; ++i) b.post(WorkOpcode::send, 64);
    b.expect_packets(send_only, 0, 3);
    b.inject(selective_ack(0, 2, {1}));
    b.expect(send_only, 0);
    b.inject(taking_part(rnr_nak(1, 1)));  // 10 us
    b.expect_completion(0);
    b.expect_silence();
    b.advance(microseconds(10));
    b.expect(send_only, 1);
    b.expect_silence();
  }
}

BOOST_AUTO_TEST_CASE(a_response_that_comes_twice_changes_nothing) {
  RequesterBench b(with(RecoveryMode::sack, 8));
  b.post(WorkOpcode::rdma_read, 3 * 1024);
  b.expect(read_request, 0);
  b.inject(response(read_response_last, 2));
  b.inject(response(read_response_last, 2));
  BOOST_TEST(b.host.writes.size() == 1u);
  b.inject(response(read_response_first, 0));
  b.expect_no_completion();
  b.inject(response(read_response_middle, 1));
  b.expect_completion(0);
  b.expect_silence();
}

// The responder keeps the results of as many as were agreed on, and the oldest may be asked for again.
BOOST_AUTO_TEST_CASE(a_read_answered_early_still_counts_against_the_limit) {
  Setup setup = with(RecoveryMode::sack, 8);
  setup.max_reads = 2;
  RequesterBench b(setup);
  for (int i = 0; i < 3; ++i) b.post(WorkOpcode::rdma_read, 8);
  b.expect(read_request, 0);
  b.expect(read_request, 1);
  b.inject(response(read_response_only, 1, 8));
  b.expect_silence();
  b.inject(response(read_response_only, 0, 8));
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect(read_request, 2);
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_behind_a_missing_response_is_remembered) {
  RequesterBench b(with(RecoveryMode::sack, 8));
  b.post(WorkOpcode::rdma_read, 8);
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(read_request, 0);
  b.expect(write_only, 1);
  b.inject(taking_part(ack(1)));
  b.expect_silence();
  b.expect_no_completion();
  b.inject(response(read_response_only, 0, 8));
  b.expect_completion(0);
  b.expect_completion(1);
}

BOOST_AUTO_TEST_CASE(a_refusal_waits_for_responses_to_earlier_requests) {
  RequesterBench b(with(RecoveryMode::sack, 8));
  b.post(WorkOpcode::rdma_read, 8);
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(read_request, 0);
  b.expect(write_only, 1);
  b.inject(taking_part(nak(1, NakCode::remote_access_error)));
  b.expect_no_completion();
  b.inject(response(read_response_only, 0, 8));
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::remote_access_error);
}

// It found no receive when its turn came, and the RNR NAK was lost. The READ behind it is still kept: asking
// for that again brings nothing.
BOOST_AUTO_TEST_CASE(what_the_peer_has_dropped_is_sent_again_when_the_peer_names_it) {
  for (const RecoveryMode mode : {RecoveryMode::irn, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    b.post(WorkOpcode::rdma_write, 64);
    b.post(WorkOpcode::send, 64);
    b.post(WorkOpcode::rdma_read, 64);
    b.expect(write_only, 0);
    b.expect(send_only, 1);
    b.expect(read_request, 2);
    b.inject(selective_ack(0, 2, {1}));
    if (mode == RecoveryMode::irn) b.expect(write_only, 0);
    b.inject(selective_ack(1, 2));
    b.expect(send_only, 1);
    b.expect_silence();
  }
}

BOOST_AUTO_TEST_CASE(irn_sends_each_hole_once_a_recovery) {
  RequesterBench b(with(RecoveryMode::irn));
  send_writes(b, 6);
  b.inject(selective_ack(1, 3));
  b.expect(write_only, 1);
  b.expect(write_only, 2);
  b.inject(selective_ack(1, 5, {3}));
  b.expect(write_only, 4);
  b.inject(selective_ack(1, 2, {}));
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(irn_sends_new_packets_within_its_window_only) {
  Setup setup = with(RecoveryMode::irn);
  setup.recovery.irn_window = 3;
  RequesterBench b(setup);
  for (int i = 0; i < 5; ++i) b.post(WorkOpcode::rdma_write, 64);
  b.expect_packets(write_only, 0, 2);
  b.expect_silence();
  b.inject(taking_part(ack(0)));
  b.expect(write_only, 3);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(another_recovery_takes_over_when_nothing_is_under_way) {
  RequesterBench b(with(RecoveryMode::gbn));
  send_writes(b, 1);
  b.requester.use({.mode = RecoveryMode::sack});
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(write_only, 1);
  BOOST_TEST(!b.requester.reads_selective_acks());
  b.inject(ack(1));
  b.expect_completion(0);
  b.expect_completion(1);
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(write_only, 2);
  BOOST_TEST(b.requester.reads_selective_acks());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace selective
}  // namespace urnic::transport::requester_test
