// How much may be under way, and how often an acknowledgement is asked for (IBTA 9.7.2, 9.7.3.1, 9.7.5.1.2).
#include "tests/unit/requester/selective_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

BOOST_AUTO_TEST_SUITE(window)

BOOST_AUTO_TEST_CASE(no_more_packets_than_the_window_are_under_way) {
  RequesterBench b({.path_mtu = 256, .window_packets = 8});
  b.post(WorkOpcode::rdma_write, 20 * 256);
  b.expect(write_first, 0);
  b.expect_packets(write_middle, 1, 7);
  b.expect_silence();
  b.inject(ack(2));
  b.expect_packets(write_middle, 8, 10);
  b.expect_silence();
}

// What the peer holds behind a hole is not in the network any more: new packets leave in its place, as far as
// the window reaches.
BOOST_AUTO_TEST_CASE(what_has_arrived_ahead_leaves_its_place_in_the_network) {
  RequesterBench b({.path_mtu = 256,
                    .window_packets = 12,
                    .congestion_window_packets = 4,
                    .recovery = {.mode = RecoveryMode::sack, .reordering = 2}});
  b.post(WorkOpcode::rdma_write, 20 * 256);
  b.expect(write_first, 0);
  b.expect_packets(write_middle, 1, 3);
  b.expect_silence();
  b.inject(selective_ack(0, 3, {1, 2}));
  b.expect(write_first, 0);
  b.expect_packets(write_middle, 4, 6);
  b.expect_silence();
  b.inject(selective_ack(0, 6, {1, 2, 3, 4, 5}));
  b.expect(write_first, 0);
  b.expect_packets(write_middle, 7, 9);
  b.inject(selective_ack(0, 9, {1, 2, 3, 4, 5, 6, 7, 8}));
  b.expect(write_first, 0);
  b.expect_packets(write_middle, 10, 11);
  b.expect_silence();
  b.inject(ack(11));
  b.expect_packets(write_middle, 12, 15);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(a_peer_that_reports_nothing_gets_no_more_than_the_network_takes) {
  for (const RecoveryMode mode : {RecoveryMode::gbn, RecoveryMode::selective}) {
    RequesterBench b(
        {.path_mtu = 256, .window_packets = 12, .congestion_window_packets = 4, .recovery = {.mode = mode}});
    b.post(WorkOpcode::rdma_write, 20 * 256);
    b.expect(write_first, 0);
    b.expect_packets(write_middle, 1, 3);
    b.expect_silence();
    b.inject(ack(0));
    b.expect(write_middle, 4);
    b.expect_silence();
  }
}

BOOST_AUTO_TEST_CASE(acknowledgement_is_asked_for_every_quarter_window) {
  RequesterBench b({.path_mtu = 256, .window_packets = 8});
  b.post(WorkOpcode::rdma_write, 8 * 256);
  for (std::uint32_t packet = 0; packet < 8; ++packet) {
    const Operation operation = packet == 0 ? write_first : packet == 7 ? write_last : write_middle;
    BOOST_TEST(b.expect(operation, packet).headers.bth.ack_request == (packet % 2 == 1));
  }
}

BOOST_AUTO_TEST_CASE(acknowledgement_is_asked_for_at_every_message_end) {
  RequesterBench b;
  b.post(WorkOpcode::send, 2048);
  b.post(WorkOpcode::rdma_write, 4);
  b.post(WorkOpcode::rdma_read, 4);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  BOOST_TEST(!b.expect(send_first, 0).headers.bth.ack_request);
  BOOST_TEST(b.expect(send_last, 1).headers.bth.ack_request);
  BOOST_TEST(b.expect(write_only, 2).headers.bth.ack_request);
  BOOST_TEST(b.expect(read_request, 3).headers.bth.ack_request);
  BOOST_TEST(b.expect(fetch_add, 4).headers.bth.ack_request);
}

BOOST_AUTO_TEST_CASE(one_packet_window_still_moves) {
  RequesterBench b({.path_mtu = 256, .window_packets = 1});
  b.post(WorkOpcode::send, 3 * 256);
  BOOST_TEST(b.expect(send_first, 0).headers.bth.ack_request);
  b.expect_silence();
  b.inject(ack(0));
  BOOST_TEST(b.expect(send_middle, 1).headers.bth.ack_request);
  b.inject(ack(1));
  b.expect(send_last, 2);
  b.inject(ack(2));
  b.expect_completion(0);
}

BOOST_AUTO_TEST_CASE(read_may_reach_beyond_the_window) {
  RequesterBench b({.path_mtu = 256, .window_packets = 4});
  b.post(WorkOpcode::rdma_read, 16 * 256);
  b.post(WorkOpcode::rdma_write, 4);
  b.expect(read_request, 0);
  b.expect_silence();
  b.inject(read_response(read_response_first, 0, pattern(256)));
  for (std::uint32_t packet = 1; packet <= 11; ++packet) {
    b.inject(read_response(read_response_middle, packet, pattern(256)));
  }
  b.expect_silence();
  b.inject(read_response(read_response_middle, 12, pattern(256)));
  b.expect(write_only, 16);
}

// 2^31 bytes at the smallest MTU are 2^23 packets: all that may be outstanding, nothing beside it.
BOOST_AUTO_TEST_CASE(outstanding_psns_are_at_most_half_the_space) {
  constexpr std::uint32_t kHalf = 1u << 23;
  RequesterBench b({.path_mtu = 256, .window_packets = 0xFFFFFFFF});
  b.post(WorkOpcode::rdma_write, 4);
  b.post(WorkOpcode::rdma_read, 1u << 31);
  b.post(WorkOpcode::rdma_write, 4);
  b.expect(write_only, 0);
  b.expect_silence();
  b.inject(ack(0));
  b.expect_completion(0);
  BOOST_TEST(b.expect(read_request, 1).headers.reth.dma_length == 1u << 31);
  b.expect_silence();
  b.inject(ack(0));  // a duplicate, though as far away as can be
  b.expect_no_completion();
  b.inject(read_response(read_response_first, 1, pattern(256)));
  b.expect_silence();
  b.inject(read_response(read_response_middle, 2, pattern(256)));
  b.expect(write_only, kHalf + 1);
  BOOST_TEST(!b.failed());
}

BOOST_AUTO_TEST_CASE(slots_are_never_more_than_given) {
  RequesterBench b({.send_slots = 4});
  for (int i = 0; i < 4; ++i) b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.expect_packets(send_only, 0, 3);
  b.expect_silence();
  b.inject(ack(1));
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect(send_only, 4);
}

BOOST_AUTO_TEST_CASE(pump_sends_at_most_what_it_is_told) {
  RequesterBench b({.path_mtu = 256});
  b.hold();
  b.queue.post(b.request(WorkOpcode::rdma_write, 10 * 256));
  BOOST_TEST(b.requester.wants_pump());
  BOOST_TEST(b.requester.pump(b.now, 4) == 4u);
  b.host.flush();
  b.expect(write_first, 0);
  b.expect_packets(write_middle, 1, 3);
  b.expect_silence();
  BOOST_TEST(b.requester.wants_pump());
  BOOST_TEST(b.requester.pump(b.now, 100) == 6u);
  BOOST_TEST(!b.requester.wants_pump());
  BOOST_TEST(b.requester.pump(b.now, 100) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
