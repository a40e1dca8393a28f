// What is sent again on a guess, to a peer that gives no selective acks: what follows the third hole in a
// queue, while nothing else can be sent (docs/loss-recovery.md). And what such a peer is asked for when it is
// silent.
#include "tests/unit/requester/selective_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

Packet without(Packet packet) {
  packet.selective_acks = SelectiveAcks::no;
  return packet;
}

Packet missing_at(std::uint32_t packet, SelectiveAcks gives = SelectiveAcks::no) {
  Packet found = nak(packet, NakCode::psn_sequence_error);
  found.selective_acks = gives;
  return found;
}

// Three holes of the packets under way, of which each was sent before the one before it was named.
void name_three_holes(RequesterBench& b, SelectiveAcks gives = SelectiveAcks::no) {
  for (const std::uint32_t hole : {1u, 4u, 7u}) {
    b.advance(microseconds(20));
    b.inject(missing_at(hole, gives));
    b.expect(write_only, hole);
    if (hole < 7) b.expect_silence();
  }
}

BOOST_AUTO_TEST_SUITE(guesses)

BOOST_AUTO_TEST_CASE(what_follows_the_third_hole_in_a_queue_is_sent_again_once) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    RequesterBench b(with(mode));
    send_writes(b, 12);
    name_three_holes(b);
    b.expect_packets(write_only, 8, 11);
    b.expect_silence();
    b.advance(microseconds(20));
    b.inject(missing_at(10));  // its guess was lost, too
    b.expect(write_only, 10);
    b.expect_silence();
    BOOST_TEST(b.counters.retransmitted_packets == 8u);
    b.inject(without(ack(11)));
    for (std::uint32_t i = 0; i < 12; ++i) b.expect_completion(i);
  }
}

BOOST_AUTO_TEST_CASE(not_to_a_stranger) {
  RequesterBench b(with(RecoveryMode::selective));
  send_writes(b, 12);
  name_three_holes(b, SelectiveAcks::outside);
  b.expect_silence();
}

// Packets that the peer may have still to get are no guess.
BOOST_AUTO_TEST_CASE(holes_that_do_not_queue_bring_no_guess) {
  RequesterBench b(with(RecoveryMode::selective));
  for (std::uint32_t round = 0; round < 4; ++round) {
    for (std::uint32_t i = 0; i < 3; ++i) b.post(WorkOpcode::rdma_write, 64);
    for (std::uint32_t i = 0; i < 3; ++i) b.expect(write_only, 3 * round + i);
    b.advance(microseconds(20));
    b.inject(missing_at(3 * round + 1));
    b.expect(write_only, 3 * round + 1);
    b.expect_silence();
  }
}

BOOST_AUTO_TEST_CASE(what_is_new_goes_first) {
  Setup setup = with(RecoveryMode::selective);
  setup.window_packets = 12;
  RequesterBench b(setup);
  for (std::uint32_t i = 0; i < 18; ++i) b.post(WorkOpcode::rdma_write, 64);
  b.expect_packets(write_only, 0, 11);
  // Each NAK acknowledges what is before its hole, and so opens the window.
  struct Named {
    std::uint32_t hole;
    std::uint32_t first_new;
    std::uint32_t last_new;
  };
  for (const Named& named : {Named{1, 12, 12}, Named{4, 13, 15}, Named{7, 16, 17}}) {
    b.advance(microseconds(20));
    b.inject(missing_at(named.hole));
    b.expect(write_only, named.hole);
    b.expect_packets(write_only, named.first_new, named.last_new);
  }
  b.expect_packets(write_only, 8, 12);  // what had left when packet 4 was named
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(a_read_is_not_guessed) {
  RequesterBench b(with(RecoveryMode::selective));
  send_writes(b, 9);
  b.post(WorkOpcode::rdma_read, 64);
  b.expect(read_request, 9);
  b.post(WorkOpcode::rdma_write, 64);
  b.expect(write_only, 10);
  name_three_holes(b);
  b.expect(write_only, 8);
  b.expect_silence();
}

// The peer holds the newest in silence if its NAK was lost.
BOOST_AUTO_TEST_CASE(a_peer_that_is_silent_is_asked_for_the_oldest_first) {
  RequesterBench b(with(RecoveryMode::selective));
  send_writes(b, 1);
  b.advance(microseconds(20));
  b.inject(without(ack(0)));
  b.expect_completion(0);
  for (std::uint32_t i = 1; i < 4; ++i) {
    b.post(WorkOpcode::rdma_write, 64);
    b.expect(write_only, i);
  }
  microseconds wait(60);
  b.advance(wait);
  b.expect(write_only, 1);
  b.expect(write_only, 3);  // if only that is lost, nothing else would tell
  b.expect_silence();
  // Each time that it is asked in vain twice as often: a run of losses may take several answers.
  for (const int copies : {2, 4, 8, 8}) {
    wait *= 2;
    b.advance(wait);
    for (int copy = 0; copy < copies; ++copy) b.expect(write_only, 1);
    b.expect(write_only, 3);
    b.expect_silence();
  }
  BOOST_TEST(b.counters.local_ack_timeout == 0u);
}

// However much leaves meanwhile.
BOOST_AUTO_TEST_CASE(an_answer_is_overdue_although_more_is_sent) {
  RequesterBench b(with(RecoveryMode::selective));
  send_writes(b, 1);
  b.advance(microseconds(20));
  b.inject(without(ack(0)));
  b.expect_completion(0);
  for (std::uint32_t i = 1; i < 7; ++i) {
    b.post(WorkOpcode::rdma_write, 64);
    b.expect(write_only, i);
    b.advance(microseconds(10));
    if (i < 6) b.expect_silence();
  }
  b.expect(write_only, 1);  // 60 us after it was sent
  b.expect_silence();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
