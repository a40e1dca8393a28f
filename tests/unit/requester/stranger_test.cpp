// Towards a stranger, a peer of which nothing is known but the specification: how much it gets behind a hole
// (go_back_limit.hpp), and what a timer asks of it (docs/loss-recovery.md).
#include "tests/unit/requester/selective_bench.hpp"

namespace urnic::transport::requester_test {
namespace strangers {

Packet outside(Packet packet) {
  packet.selective_acks = SelectiveAcks::outside;
  return packet;
}
Packet missing(std::uint32_t packet) { return outside(nak(packet, NakCode::psn_sequence_error)); }
Packet response_from_outside(Operation operation, std::uint32_t packet) {
  return outside(response(operation, packet));
}

// `writes` of one packet each, of which the peer has named two holes in a row: it drops what is behind one.
struct GoesBack : RequesterBench {
  explicit GoesBack(RecoveryMode mode, std::uint32_t writes) : RequesterBench(with(mode)) {
    send_writes(*this, writes);
    later(missing(2));
    expect(write_only, 2);
    later(missing(3));
  }
  void later(const Packet& packet) {
    advance(microseconds(5));
    inject(packet);
  }
};

BOOST_AUTO_TEST_SUITE(strangers)

BOOST_AUTO_TEST_CASE(no_more_is_sent_behind_a_hole_than_the_usual_distance_between_holes) {
  GoesBack b(RecoveryMode::selective, 60);
  b.expect_packets(write_only, 3, 18);  // sixteen at least
  b.expect_silence();
  b.later(outside(ack(18)));
  b.expect_packets(write_only, 19, 34);
  b.later(outside(ack(34)));
  b.expect_packets(write_only, 35, 59);  // 32 without a hole
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(go_back_n_keeps_to_it_too) {
  RequesterBench b(with(RecoveryMode::gbn));
  send_writes(b, 60);
  b.inject(missing(2));
  b.expect_packets(write_only, 2, 17);
  b.expect_silence();
  b.inject(outside(ack(17)));
  b.expect_packets(write_only, 18, 33);
}

BOOST_AUTO_TEST_CASE(in_such_a_run_few_packets_ask_for_an_acknowledgement) {
  GoesBack b(RecoveryMode::selective, 60);
  std::uint32_t asked = 0;
  for (std::uint32_t i = 3; i <= 18; ++i) asked += b.expect(write_only, i).headers.bth.ack_request;
  BOOST_TEST(asked == 16u);  // each is the last packet of its message
  RequesterBench one(with(RecoveryMode::selective));
  one.post(WorkOpcode::rdma_write, 60 * 1024);
  one.expect(write_first, 0);
  one.expect_packets(write_middle, 1, 58);
  one.expect(write_last, 59);
  for (const std::uint32_t hole : {2u, 3u}) {
    one.advance(microseconds(5));
    one.inject(missing(hole));
    if (hole == 2) one.expect(write_middle, 2);
  }
  asked = 0;
  for (std::uint32_t i = 3; i <= 18; ++i) asked += one.expect(write_middle, i).headers.bth.ack_request;
  BOOST_TEST(asked >= 1u);
  BOOST_TEST(asked <= 2u);
}

// The hole was filled by an earlier repeat: what follows shows nothing.
BOOST_AUTO_TEST_CASE(an_acknowledgement_behind_a_packet_that_was_sent_again_shows_no_kept_packet) {
  GoesBack b(RecoveryMode::selective, 60);
  b.expect_packets(write_only, 3, 18);
  b.later(outside(ack(18)));
  b.expect_packets(write_only, 19, 34);
  b.later(missing(25));
  b.expect_packets(write_only, 25, 40);
  b.later(outside(ack(45)));
  b.expect_packets(write_only, 46, 59);
  b.later(missing(50));
  b.expect_packets(write_only, 50, 59);
}

BOOST_AUTO_TEST_CASE(one_that_was_sent_once_shows_it) {
  GoesBack b(RecoveryMode::selective, 60);
  b.expect_packets(write_only, 3, 18);
  b.later(outside(ack(18)));
  b.expect_packets(write_only, 19, 34);
  b.later(outside(ack(34)));
  b.expect_packets(write_only, 35, 59);
  for (int i = 0; i < 30; ++i) b.post(WorkOpcode::rdma_write, 64);
  b.later(outside(ack(59)));
  b.expect_packets(write_only, 60, 89);
  b.later(missing(62));
  b.expect_packets(write_only, 62, 77);
  b.later(outside(ack(85)));  // it skips 78
  b.expect_packets(write_only, 86, 89);
  b.later(missing(87));
  b.expect(write_only, 87);
  b.expect_silence();
}

// Each repeat of a READ would be answered whole.
BOOST_AUTO_TEST_CASE(a_timer_asks_for_the_oldest_read_and_the_last_request_only) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    for (int i = 0; i < 4; ++i) b.post(WorkOpcode::rdma_read, 4096);
    for (std::uint32_t i = 0; i < 4; ++i) b.expect(read_request, 4 * i);
    b.advance(microseconds(5));
    b.inject(response_from_outside(read_response_first, 0));
    b.expect_silence();
    b.advance(microseconds(20));
    b.expect(read_request, 1);
    b.expect(read_request, 12);
    b.expect_silence();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace strangers
}  // namespace urnic::transport::requester_test
