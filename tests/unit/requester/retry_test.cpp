// Retries: the local ACK timer, NAKs for a sequence error, RNR NAKs, and when they have been enough (IBTA
// 9.7.5.2.8, 9.7.6.1.3).
#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

constexpr Nanoseconds kOne{1};

BOOST_AUTO_TEST_SUITE(ack_timeout)

BOOST_AUTO_TEST_CASE(interval_is_4096_ns_doubled_by_the_code_to_the_nanosecond) {
  for (std::uint8_t code = 1; code < 32; ++code) {
    RequesterBench b({.timeout = code});
    b.advance(Nanoseconds(777));
    b.post(WorkOpcode::send, 4);
    b.expect(send_only, 0);
    const Time due = b.now + Nanoseconds(4096ll << code);
    BOOST_TEST((b.requester.deadline() == due));
    b.advance_to(due - kOne);
    b.expect_silence();
    b.advance_to(due);
    b.expect(send_only, 0);
    BOOST_TEST(b.counters.local_ack_timeout == 1u);
    BOOST_TEST(b.counters.retransmitted_packets == 1u);
  }
}

BOOST_AUTO_TEST_CASE(code_zero_never_runs_out) {
  RequesterBench b({.timeout = 0});
  b.post(WorkOpcode::send, 4);
  BOOST_TEST(!b.requester.deadline().has_value());
}

BOOST_AUTO_TEST_CASE(progress_restarts_the_timer) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.expect_packets(send_only, 0, 1);
  b.advance(b.timeout() - kOne);
  b.inject(ack(0));
  BOOST_TEST((b.requester.deadline() == b.now + b.timeout()));
  b.inject(ack(0));  // no progress
  b.advance(b.timeout() / 2);
  b.inject(ack(0));
  BOOST_TEST((b.requester.deadline() == b.now + b.timeout() - b.timeout() / 2));
  b.inject(ack(1));
  BOOST_TEST(!b.requester.deadline().has_value());
}

// Else a sender that never pauses would never notice a loss.
BOOST_AUTO_TEST_CASE(sending_more_does_not_put_the_timeout_off) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  const Time due = b.now + b.timeout();
  b.advance(b.timeout() / 2);
  b.post(WorkOpcode::send, 4);
  BOOST_TEST((b.requester.deadline() == due));
}

// A packet in the middle of a message that asks for no acknowledgement does not start it.
BOOST_AUTO_TEST_CASE(timer_runs_only_while_a_response_is_expected) {
  RequesterBench b({.path_mtu = 256, .window_packets = 64});
  b.hold();
  b.queue.post(b.request(WorkOpcode::rdma_write, 10 * 256));
  b.requester.pump(b.now, 5);
  BOOST_TEST(!b.requester.deadline().has_value());
  b.advance(Nanoseconds(5));
  b.release();
  BOOST_TEST((b.requester.deadline() == b.now + b.timeout()));
}

BOOST_AUTO_TEST_CASE(everything_not_acknowledged_is_sent_again_in_order) {
  RequesterBench b({.path_mtu = 256});
  b.post(WorkOpcode::rdma_write, 3 * 256);
  b.post(WorkOpcode::send_with_immediate, 10);
  b.host.sent.clear();
  b.inject(ack(0));
  b.advance(b.timeout());
  b.expect(write_middle, 1);
  b.expect(write_last, 2);
  b.expect(send_only_immediate, 3);
  b.expect_silence();
  BOOST_TEST(b.counters.retransmitted_packets == 3u);
}

BOOST_AUTO_TEST_CASE(retry_exceeded_after_retry_count_plus_one_timeouts) {
  for (std::uint8_t retries = 0; retries <= 7; ++retries) {
    RequesterBench b({.retry_count = retries});
    b.post(WorkOpcode::send, 4);
    b.post(WorkOpcode::rdma_write, 4);
    for (std::uint32_t sent = 0; sent <= retries; ++sent) {
      b.expect(send_only, 0);
      b.expect(write_only, 1);
      b.expect_silence();
      b.advance(b.timeout() - kOne);
      b.expect_no_completion();
      b.advance(kOne);
    }
    b.expect_silence();
    b.expect_completion(0, WorkStatus::retry_exceeded);
    b.expect_completion(1, WorkStatus::flushed);
    BOOST_TEST(b.failed());
    BOOST_TEST(b.counters.local_ack_timeout == retries);
    BOOST_TEST(b.counters.retry_exceeded == 1u);
    BOOST_TEST(!b.requester.deadline().has_value());
  }
}

BOOST_AUTO_TEST_CASE(progress_reloads_the_retry_counter) {
  RequesterBench b({.retry_count = 1});
  b.post(WorkOpcode::send, 2048);
  b.advance(b.timeout());  // uses the retry up
  b.inject(ack(0));
  b.advance(b.timeout());
  b.expect_no_completion();
  b.advance(b.timeout());
  b.expect_completion(0, WorkStatus::retry_exceeded);
}

BOOST_AUTO_TEST_CASE(new_parameters_take_effect_at_once) {
  RequesterBench b({.timeout = 10});
  b.post(WorkOpcode::send, 4);
  b.shared.parameters.timeout = 2;
  b.set_state(QpState::rts);
  BOOST_TEST((b.requester.deadline() == b.now + Nanoseconds(4096 * 4)));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sequence_nak)

BOOST_AUTO_TEST_CASE(goes_back_to_the_named_packet) {
  RequesterBench b;
  for (int i = 0; i < 4; ++i) b.post(WorkOpcode::send, 4);
  b.expect_packets(send_only, 0, 3);
  b.inject(nak(1, NakCode::psn_sequence_error));
  b.expect_completion(0);
  b.expect_packets(send_only, 1, 3);
  b.expect_silence();
  BOOST_TEST(b.counters.packet_sequence_error == 1u);
  BOOST_TEST(b.counters.retransmitted_packets == 3u);
  b.inject(ack(3));
  for (std::uint32_t i = 1; i < 4; ++i) b.expect_completion(i);
}

BOOST_AUTO_TEST_CASE(new_requests_wait_until_the_old_are_sent_again) {
  RequesterBench b({.path_mtu = 256});
  b.post(WorkOpcode::send, 3 * 256);
  b.host.sent.clear();
  b.hold();
  b.inject(nak(1, NakCode::psn_sequence_error));
  b.post(WorkOpcode::rdma_write, 4);
  b.release();
  b.expect(send_middle, 1);
  b.expect(send_last, 2);
  b.expect(write_only, 3);
}

BOOST_AUTO_TEST_CASE(uses_up_a_retry) {
  RequesterBench b({.retry_count = 2});
  b.post(WorkOpcode::send, 4);
  b.inject(nak(0, NakCode::psn_sequence_error));
  b.inject(nak(0, NakCode::psn_sequence_error));
  b.expect_packets(send_only, 0, 0);
  b.expect_packets(send_only, 0, 0);
  b.expect_packets(send_only, 0, 0);
  b.expect_no_completion();
  b.inject(nak(0, NakCode::psn_sequence_error));
  b.expect_completion(0, WorkStatus::retry_exceeded);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(implied_nak_uses_up_a_retry) {
  RequesterBench b({.retry_count = 0});
  b.post(WorkOpcode::rdma_read, 4);
  b.post(WorkOpcode::rdma_read, 4);
  b.inject(read_response(read_response_only, 1, pattern(4)));
  b.expect_completion(0, WorkStatus::retry_exceeded);
  b.expect_completion(1, WorkStatus::flushed);
}

BOOST_AUTO_TEST_CASE(timer_starts_anew_with_the_packet_sent_again) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.advance(b.timeout() - kOne);
  b.inject(nak(0, NakCode::psn_sequence_error));
  BOOST_TEST((b.requester.deadline() == b.now + b.timeout()));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(receiver_not_ready)

BOOST_AUTO_TEST_CASE(waits_as_long_as_every_code_says) {
  for (std::uint8_t code = 0; code < 32; ++code) {
    RequesterBench b({.timeout = 31});
    b.post(WorkOpcode::send, 4);
    b.post(WorkOpcode::send, 4);
    b.expect_packets(send_only, 0, 1);
    b.inject(rnr_nak(0, code));
    const Time due = b.now + wire::rnr_timer(code);
    BOOST_TEST((b.requester.deadline() == due));
    b.advance_to(due - kOne);
    b.expect_silence();
    b.advance_to(due);
    b.expect_packets(send_only, 0, 1);
    BOOST_TEST(b.counters.rnr_nak_retry == 1u);
    BOOST_TEST(b.counters.local_ack_timeout == 0u);
  }
}

BOOST_AUTO_TEST_CASE(nothing_new_is_sent_while_waiting) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(rnr_nak(0, 1));
  b.post(WorkOpcode::rdma_write, 4);
  b.expect_silence();
  BOOST_TEST(!b.requester.wants_pump());
  b.advance(microseconds(10));
  b.expect(send_only, 0);
  b.expect(write_only, 1);
}

BOOST_AUTO_TEST_CASE(acknowledges_what_is_before_it) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_write, 4);
  b.post(WorkOpcode::send, 4);
  b.inject(rnr_nak(1, 1));
  b.expect_completion(0);
  b.expect_no_completion();
}

BOOST_AUTO_TEST_CASE(ack_timer_does_not_run_while_waiting_and_starts_anew) {
  RequesterBench b;  // 8 us
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(rnr_nak(0, 13));  // 0.96 ms: longer than the timeout
  b.advance(wire::rnr_timer(13));
  b.expect(send_only, 0);
  BOOST_TEST(b.counters.local_ack_timeout == 0u);
  BOOST_TEST((b.requester.deadline() == b.now + b.timeout()));
}

BOOST_AUTO_TEST_CASE(rnr_retry_exceeded_after_rnr_retry_plus_one_refusals) {
  for (std::uint8_t retries = 0; retries < 7; ++retries) {
    RequesterBench b({.rnr_retry = retries});
    b.post(WorkOpcode::send, 4);
    b.post(WorkOpcode::send, 4);
    for (std::uint32_t refused = 0; refused < retries; ++refused) {
      b.inject(rnr_nak(0, 1));
      b.advance(microseconds(10));
    }
    b.expect_no_completion();
    b.inject(rnr_nak(0, 1));
    b.expect_completion(0, WorkStatus::rnr_retry_exceeded);
    b.expect_completion(1, WorkStatus::flushed);
    BOOST_TEST(b.counters.rnr_nak_retry == retries);
    BOOST_TEST(b.counters.rnr_retry_exceeded == 1u);
  }
}

BOOST_AUTO_TEST_CASE(seven_means_for_ever) {
  RequesterBench b({.rnr_retry = 7});
  b.post(WorkOpcode::send, 4);
  for (int refused = 0; refused < 1000; ++refused) {
    b.inject(rnr_nak(0, 1));
    b.advance(microseconds(10));
  }
  b.expect_no_completion();
  b.inject(ack(0));
  b.expect_completion(0);
}

BOOST_AUTO_TEST_CASE(does_not_use_up_transport_retries) {
  RequesterBench b({.retry_count = 0});
  b.post(WorkOpcode::send, 4);
  b.inject(rnr_nak(0, 1));
  b.advance(microseconds(10));
  b.inject(ack(0));
  b.expect_completion(0);
}

BOOST_AUTO_TEST_CASE(a_snapshot_tells_how_many_retries_are_used_up_until_there_is_progress) {
  RequesterBench b({.retry_count = 5});
  for (int i = 0; i < 2; ++i) b.post(WorkOpcode::send, 4);
  BOOST_TEST(b.requester.snapshot().transport_retries == 0u);
  for (std::uint32_t used = 1; used <= 2; ++used) {
    b.advance(b.timeout());
    BOOST_TEST(b.requester.snapshot().transport_retries == used);
  }
  b.inject(ack(0));
  BOOST_TEST(b.requester.snapshot().transport_retries == 0u);
}

// A requester that gets RNR NAKs for long also loses packets; these losses do not add up to a dead path.
BOOST_AUTO_TEST_CASE(a_refusal_reloads_the_transport_retries) {
  RequesterBench b({.retry_count = 1});
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  for (int round = 0; round < 3; ++round) {
    b.advance(b.timeout());
    b.expect(send_only, 0);
    b.inject(rnr_nak(0, 1));
    b.advance(microseconds(10));
    b.expect(send_only, 0);
  }
  b.expect_no_completion();
  b.advance(2 * b.timeout());
  b.expect_completion(0, WorkStatus::retry_exceeded);
}

BOOST_AUTO_TEST_CASE(progress_reloads_the_rnr_counter) {
  RequesterBench b({.rnr_retry = 1});
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.inject(rnr_nak(0, 1));
  b.advance(microseconds(10));
  b.inject(ack(0));
  b.expect_completion(0);
  b.inject(rnr_nak(1, 1));
  b.advance(microseconds(10));
  b.expect_no_completion();
  b.inject(rnr_nak(1, 1));
  b.expect_completion(1, WorkStatus::rnr_retry_exceeded);
}

BOOST_AUTO_TEST_CASE(same_refusal_twice_counts_once) {
  RequesterBench b({.rnr_retry = 1});
  b.post(WorkOpcode::send, 4);
  b.inject(rnr_nak(0, 1));
  b.advance(microseconds(5));
  b.inject(rnr_nak(0, 1));
  b.expect_no_completion();
  BOOST_TEST((b.requester.deadline() == b.now + microseconds(5)));
}

BOOST_AUTO_TEST_CASE(responses_to_what_came_before_end_the_wait_for_nothing_else) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(rnr_nak(0, 1));
  b.inject(nak(0, NakCode::psn_sequence_error));  // for a packet that ran behind the refused one
  b.expect_silence();
  b.inject(ack(0));  // the first sending was refused, but a doubled packet got through
  b.expect_completion(0);
  b.advance(microseconds(10));
  b.expect_silence();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
