// The timers of the recoveries that send again only what is missing: probes, IRN's timeouts, and the local
// ACK timer beside them (docs/loss-recovery.md).
#include "tests/unit/requester/selective_bench.hpp"

namespace urnic::transport::requester_test {
namespace selective_timers {

BOOST_AUTO_TEST_SUITE(selective_timers)

// A timer has nothing to gain from a packet that the peer is known to have.
BOOST_AUTO_TEST_CASE(a_probe_is_the_first_packet_that_has_not_arrived) {
  for (const RecoveryMode mode : {RecoveryMode::irn, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    send_writes(b, 3);
    b.inject(taking_part(ack(0)));
    b.inject(selective_ack(1, 1));  // whatever is acknowledged later: 1 is there
    b.advance(milliseconds(1));
    b.expect(write_only, 2);
  }
}

BOOST_AUTO_TEST_CASE(if_all_has_arrived_the_first_is_sent_again_for_its_acknowledgement) {
  for (const RecoveryMode mode : {RecoveryMode::irn, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    send_writes(b, 2);
    b.inject(selective_ack(0, 1, {0}));
    b.advance(milliseconds(1));
    b.expect(write_only, 0);
  }
}

// The last packet is lost: nothing behind it tells. Two round trips later it is sent again, and again with
// longer pauses; none of that is a retry of the specification's.
BOOST_AUTO_TEST_CASE(a_lost_tail_is_probed_for_after_two_round_trips_backing_off) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    send_writes(b, 1);
    b.advance(microseconds(20));
    b.inject(taking_part(ack(0)));
    b.expect_completion(0);
    b.post(WorkOpcode::rdma_write, 64);
    b.expect(write_only, 1);
    // The first sample gives a variation of half the round trip: 20 + 4 * 10.
    b.advance(microseconds(60) - Nanoseconds(1));
    b.expect_silence();
    b.advance(Nanoseconds(1));
    b.expect(write_only, 1);
    b.advance(microseconds(120) - Nanoseconds(1));
    b.expect_silence();
    b.advance(Nanoseconds(1));
    b.expect(write_only, 1);
    BOOST_TEST(b.counters.local_ack_timeout == 0u);
  }
}

// What is sent again waits behind everything that is in a queue on the way. The round trip that was measured
// before knows nothing of that queue; the arrivals from it do.
BOOST_AUTO_TEST_CASE(a_repeat_is_waited_for_while_others_arrive) {
  RequesterBench b(with(RecoveryMode::sack));
  send_writes(b, 1);
  b.advance(microseconds(20));
  b.inject(taking_part(ack(0)));
  b.expect_completion(0);
  for (std::uint32_t i = 1; i <= 20; ++i) b.post(WorkOpcode::rdma_write, 64);
  for (std::uint32_t i = 1; i <= 20; ++i) b.expect(write_only, i);
  b.advance(microseconds(20));
  b.inject(selective_ack(1, 5, {2, 3, 4}));
  b.expect(write_only, 1);
  for (std::uint32_t i = 6; i <= 20; ++i) {
    b.advance(microseconds(50));
    b.inject(selective_ack(1, i));
    b.expect_silence();
  }
  b.advance(microseconds(60) - Nanoseconds(1));
  b.expect_silence();
  b.advance(Nanoseconds(1));
  b.expect(write_only, 1);
  b.expect_silence();
}

// IBTA 9.7.6.1.3: retry_count + 1 intervals without progress, however often packets were sent again.
BOOST_AUTO_TEST_CASE(the_queue_gives_up_after_the_intervals_and_not_before) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::irn, RecoveryMode::sack}) {
    Setup setup = with(mode);
    setup.timeout = 6;  // 262 us
    setup.retry_count = 3;
    RequesterBench b(setup);
    b.post(WorkOpcode::rdma_write, 64);
    b.advance(4 * b.timeout() - Nanoseconds(1));
    b.expect_no_completion();
    b.advance(Nanoseconds(1));
    b.expect_completion(0, WorkStatus::retry_exceeded);
    BOOST_TEST(b.counters.local_ack_timeout == 3u);
  }
}

// What arrives behind the oldest packet restarts the interval and the retries: a selective ack, a read
// response out of order, an acknowledgement behind a READ that is missing. What is known already does not.
BOOST_AUTO_TEST_CASE(whatever_newly_arrives_restarts_the_intervals) {
  const std::vector<std::pair<WorkOpcode, Packet>> news = {
      {WorkOpcode::rdma_write, selective_ack(0, 1)},
      {WorkOpcode::rdma_read, response(read_response_only, 1, 64)},
      {WorkOpcode::send, taking_part(ack(1))},
  };
  for (const auto& [second, packet] : news) {
    Setup setup = with(RecoveryMode::irn);
    setup.retry_count = 1;
    RequesterBench b(setup);
    b.post(WorkOpcode::rdma_read, 64);
    b.post(second, 64);
    b.advance(2 * b.timeout() - Nanoseconds(1));
    b.inject(packet);
    b.advance(b.timeout());
    b.inject(packet);
    b.advance(b.timeout() - Nanoseconds(1));
    b.expect_no_completion();
    b.advance(Nanoseconds(1));
    b.expect_completion(0, WorkStatus::retry_exceeded);
    BOOST_TEST(b.counters.local_ack_timeout == 2u);
  }
}

// A packet that waits for its turn has not been sent: an interval is the time since it left.
BOOST_AUTO_TEST_CASE(an_interval_begins_when_the_packet_leaves) {
  Setup setup = with(RecoveryMode::sack);
  setup.retry_count = 1;
  RequesterBench b(setup);
  send_writes(b, 1);
  b.advance(b.timeout() - Nanoseconds(1));
  b.now += Nanoseconds(1);
  b.requester.on_timer(b.now);
  BOOST_TEST(b.counters.local_ack_timeout == 1u);
  b.now += b.timeout() / 2;  // so long its turn does not come
  b.release();
  b.advance(b.timeout() - Nanoseconds(1));
  b.expect_no_completion();
  b.advance(Nanoseconds(1));
  b.expect_completion(0, WorkStatus::retry_exceeded);
}

// What is missing is asked for several times before it counts as a try in vain.
BOOST_AUTO_TEST_CASE(probes_back_off_as_far_as_a_quarter_of_the_local_ack_timer) {
  RequesterBench b(with(RecoveryMode::sack));
  send_writes(b, 1);
  b.advance(microseconds(100));
  b.inject(taking_part(ack(0)));
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(write_only, 1);
  const Nanoseconds step = microseconds(10);
  const Time end = b.now + b.timeout();
  Time last_probe = b.now;
  Nanoseconds longest{0};
  for (std::uint64_t probes = 0; b.now + step < end;) {
    b.advance(step);
    if (b.counters.retransmitted_packets == probes) continue;
    ++probes;
    b.expect(write_only, 1);
    longest = std::max(longest, b.now - last_probe);
    last_probe = b.now;
  }
  BOOST_CHECK_LE(longest.count(), (b.timeout() / 4 + step).count());
  BOOST_CHECK_GE(longest.count(), (b.timeout() / 4 - step).count());
  BOOST_TEST(b.counters.local_ack_timeout == 0u);
}

BOOST_AUTO_TEST_CASE(irn_s_timeout_is_low_while_few_packets_are_under_way) {
  Setup setup = with(RecoveryMode::irn);
  setup.recovery.irn_timeout_low = microseconds(50);
  setup.recovery.irn_timeout_high = microseconds(200);
  for (const std::uint32_t under_way : {2u, 3u}) {
    RequesterBench b(setup);
    send_writes(b, under_way);
    b.advance((under_way < 3 ? microseconds(50) : microseconds(200)) - Nanoseconds(1));
    b.expect_silence();
    b.advance(Nanoseconds(1));
    b.expect(write_only, 0);
    b.expect_silence();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace selective_timers
}  // namespace urnic::transport::requester_test
