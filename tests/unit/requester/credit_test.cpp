// End-to-end credits: SENDs and WRITEs with immediate wait for the peer's receives (IBTA 9.7.7.2).
#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

BOOST_AUTO_TEST_SUITE(credits)

BOOST_AUTO_TEST_CASE(first_send_is_a_probe) {
  RequesterBench b({.credits = true});
  BOOST_TEST(!b.requester.snapshot().waits_for_credit);
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  BOOST_TEST(b.expect(send_only, 0).headers.bth.ack_request);
  b.expect_silence();
  BOOST_TEST(b.requester.snapshot().waits_for_credit);
  b.inject(ack(0, 1, wire::credit_code_for(8)));
  b.expect(send_only, 1);
  BOOST_TEST(!b.requester.snapshot().waits_for_credit);
}

BOOST_AUTO_TEST_CASE(limit_is_msn_plus_credits) {
  RequesterBench b({.credits = true});
  for (int i = 0; i < 8; ++i) b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(ack(0, 1, wire::credit_code_for(3)));  // messages 2, 3 and 4 have credits
  b.expect_packets(send_only, 1, 3);
  b.expect_silence();
  b.inject(ack(2, 3, wire::credit_code_for(1)));  // limit 4 as before
  b.expect_silence();
  b.inject(ack(3, 4, wire::credit_code_for(2)));
  b.expect_packets(send_only, 4, 5);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(a_probe_leaves_when_no_response_is_under_way_that_could_bring_credits) {
  RequesterBench b({.path_mtu = 256, .credits = true});
  b.post(WorkOpcode::rdma_write, 4);
  b.post(WorkOpcode::rdma_write_with_immediate, 2 * 256);
  b.post(WorkOpcode::send, 4);
  b.expect(write_only, 0);
  b.expect(write_first, 1);
  b.expect_silence();
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  BOOST_TEST(b.expect(write_last_immediate, 2).headers.bth.ack_request);
  b.expect_silence();
  b.inject(ack(2, 2, wire::credit_code_for(1)));
  b.expect(send_only, 3);
}

BOOST_AUTO_TEST_CASE(probe_is_one_packet_that_asks_for_an_acknowledgement) {
  RequesterBench b({.path_mtu = 256, .credits = true});
  b.post(WorkOpcode::send, 3 * 256);
  BOOST_TEST(b.expect(send_first, 0).headers.bth.ack_request);
  b.expect_silence();
  b.inject(ack(0, 0, wire::credit_code_for(0)));  // it found its receive: the rest may follow
  BOOST_TEST(!b.expect(send_middle, 1).headers.bth.ack_request);
  b.expect(send_last, 2);
}

// Else an RNR NAK would nearly always be the answer, and its timer what the others wait for.
BOOST_AUTO_TEST_CASE(a_peer_without_receives_is_given_time_if_a_message_waits_for_one) {
  RequesterBench b({.credits = true});
  for (int i = 0; i < 3; ++i) b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  b.advance(FlowControl::kPatience - Nanoseconds(1));
  b.expect_silence();
  b.advance(Nanoseconds(1));
  BOOST_TEST(b.expect(send_only, 1).headers.bth.ack_request);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(credits_end_the_wait_for_receives) {
  RequesterBench b({.credits = true});
  for (int i = 0; i < 3; ++i) b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  b.expect_silence();
  b.inject(ack(0, 1, wire::credit_code_for(1)));
  b.expect(send_only, 1);
}

BOOST_AUTO_TEST_CASE(a_wait_that_credits_have_ended_does_not_hold_what_is_posted_later) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  b.inject(ack(0, 1, wire::credit_code_for(1)));
  b.expect(send_only, 1);
  b.inject(ack(1, 2, wire::credit_code_for(0)));
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 2);
}

BOOST_AUTO_TEST_CASE(what_needs_no_receive_does_not_wait_for_one) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::rdma_write, 4);
  b.expect(send_only, 0);
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  b.expect(write_only, 1);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_posted_when_all_is_answered_is_a_probe_at_once) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 1);
}

// Only the last packet of a WRITE with immediate data takes a receive.
BOOST_AUTO_TEST_CASE(write_with_immediate_waits_with_its_last_packet) {
  RequesterBench b({.path_mtu = 256, .credits = true});
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  b.post(WorkOpcode::rdma_write_with_immediate, 3 * 256);
  b.post(WorkOpcode::rdma_write_with_immediate, 3 * 256);
  b.expect(write_first, 1);
  b.expect(write_middle, 2);
  b.expect(write_last_immediate, 3);
  b.expect_silence();
  b.inject(ack(3, 2, wire::credit_code_for(1)));
  b.expect(write_first, 4);
}

BOOST_AUTO_TEST_CASE(writes_reads_and_atomics_need_no_credit) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::rdma_write, 4);
  b.post(WorkOpcode::rdma_read, 4);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.post(WorkOpcode::rdma_write, 4);
  b.expect(write_only, 0);
  b.expect(read_request, 1);
  b.expect(fetch_add, 2);
  b.expect(write_only, 3);
}

// They count as messages, so their place in the numbering shows in the limit.
BOOST_AUTO_TEST_CASE(every_message_has_a_sequence_number) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::rdma_write, 4);        // message 1
  b.post(WorkOpcode::rdma_read, 4);         // 2
  b.post(WorkOpcode::local_invalidate, 0);  // none
  b.post(WorkOpcode::send, 4);              // 3
  b.post(WorkOpcode::send, 4);              // 4
  b.inject(ack(0, 1, wire::credit_code_for(3)));
  b.expect(write_only, 0);
  b.expect(read_request, 1);
  b.expect_packets(send_only, 2, 3);
  b.post(WorkOpcode::send, 4);  // 5
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(code_31_switches_the_check_off) {
  RequesterBench b({.credits = true});
  for (int i = 0; i < 20; ++i) b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.expect_silence();
  b.inject(ack(0, 1, wire::kInvalidCreditCode));
  b.expect_packets(send_only, 1, 19);
}

BOOST_AUTO_TEST_CASE(check_is_on_again_with_the_next_credit_count) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::send, 4);
  b.inject(ack(0, 1, wire::kInvalidCreditCode));
  b.post(WorkOpcode::send, 4);
  b.inject(ack(1, 2, wire::credit_code_for(0)));
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.expect_packets(send_only, 0, 2);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(credits_come_with_read_responses_and_atomic_acknowledges) {
  for (bool atomic : {false, true}) {
    RequesterBench b({.credits = true});
    b.post(atomic ? WorkOpcode::atomic_fetch_add : WorkOpcode::rdma_read, 8);
    b.host.sent.clear();
    b.inject(atomic ? atomic_ack(0, 0, 1, wire::credit_code_for(2))
                    : read_response(read_response_only, 0, pattern(8), 1, wire::credit_code_for(2)));
    for (int i = 0; i < 4; ++i) b.post(WorkOpcode::send, 4);
    b.expect_packets(send_only, 1, 2);
    b.expect_silence();
  }
}

// Receives posted later are told by repeating the last acknowledgement.
BOOST_AUTO_TEST_CASE(repeated_acknowledgement_brings_new_credits) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::send, 4);
  b.inject(ack(0, 1, wire::credit_code_for(0)));
  b.inject(ack(0, 1, wire::credit_code_for(4)));
  for (int i = 0; i < 6; ++i) b.post(WorkOpcode::send, 4);
  b.expect_packets(send_only, 0, 4);  // the first, and four with credits
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(limit_never_moves_back) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::rdma_write, 4);
  b.post(WorkOpcode::rdma_write, 4);
  b.inject(ack(0, 1, wire::credit_code_for(6)));
  b.inject(ack(0, 1, wire::credit_code_for(0)));  // overtaken on the way
  b.host.sent.clear();
  for (int i = 0; i < 7; ++i) b.post(WorkOpcode::send, 4);
  b.expect_packets(send_only, 2, 6);  // messages 3 to 7
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(refused_probe_is_sent_again_and_still_asks) {
  RequesterBench b({.credits = true});
  b.post(WorkOpcode::send, 2048);
  b.expect(send_first, 0);
  b.inject(rnr_nak(0, 1));
  b.advance(microseconds(10));
  BOOST_TEST(b.expect(send_first, 0).headers.bth.ack_request);
  b.expect_silence();
  b.inject(ack(0, 0, wire::credit_code_for(0)));
  b.expect(send_last, 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
