// What a requester counts: each event moves the counters that docs/counters.md says, and no other one.
#include <functional>

#include "tests/unit/requester/requester_bench.hpp"
#include "tests/unit/requester/selective_bench.hpp"
#include "tests/unit/transport_bench/moved_counters.hpp"

namespace urnic::transport::requester_test {
namespace {

struct Row {
  const char* event;
  Setup setup;
  std::function<void(RequesterBench&)> happens;  // three SENDs are under way
  const char* counted;
};

const std::vector<Row> kRows{
    {"an acknowledgement, and the same again",
     {},
     [](RequesterBench& b) {
       b.inject(ack(0));
       b.inject(ack(0));
     },
     "duplicate_acknowledgements 1"},

    // packet_seq_err: NAKs that arrive, but for the one that exceeds the retry limit.
    {"a sequence NAK",
     {},
     [](RequesterBench& b) { b.inject(nak(1, NakCode::psn_sequence_error)); },
     "packet_sequence_error 1, retransmitted_packets 2"},
    {"a sequence NAK too many",
     {.retry_count = 0},
     [](RequesterBench& b) { b.inject(nak(0, NakCode::psn_sequence_error)); },
     "requester_cqe_errors 3, requester_flushed 2, retry_exceeded 1"},
    {"a sequence NAK that is a retry under no recovery but go-back-N",
     {.retry_count = 0, .recovery = {.mode = RecoveryMode::selective}},
     [](RequesterBench& b) { b.inject(nak(0, NakCode::psn_sequence_error)); },
     "packet_sequence_error 1, retransmitted_packets 1"},
    {"a sequence NAK from before",
     {},
     [](RequesterBench& b) {
       b.inject(ack(1));
       b.inject(nak(1, NakCode::psn_sequence_error));
     },
     "duplicate_acknowledgements 1"},

    // local_ack_timeout_err
    {"a timeout",
     {},
     [](RequesterBench& b) { b.advance(b.timeout()); },
     "local_ack_timeout 1, retransmitted_packets 3"},
    {"a timeout of a queue pair whose recovery has a timer of its own",
     {.recovery = {.mode = RecoveryMode::sack}},
     [](RequesterBench& b) { b.advance(b.timeout()); },
     "local_ack_timeout 1, retransmitted_packets 2, adaptive_timeouts 1"},
    // roce_adp_retrans: two round trips after the newest packet, and four more after the first probe.
    {"the recovery's own timer, when a round trip is known", with(RecoveryMode::sack),
     [](RequesterBench& b) {
       b.advance(std::chrono::microseconds(20));
       b.inject(taking_part(ack(0)));
       b.advance(std::chrono::microseconds(60));
       b.advance(std::chrono::microseconds(120));
     },
     "retransmitted_packets 3, adaptive_retransmissions 2"},
    {"a timeout too many",
     {.retry_count = 0},
     [](RequesterBench& b) { b.advance(b.timeout()); },
     "requester_cqe_errors 3, requester_flushed 2, retry_exceeded 1"},

    // rnr_nak_retry_err: RNR NAKs that arrive, each, but for the one that exceeds the retry limit.
    {"an RNR NAK", {}, [](RequesterBench& b) { b.inject(rnr_nak(0, 31)); }, "rnr_nak_retry 1"},
    {"an RNR NAK that the network has doubled",
     {},
     [](RequesterBench& b) {
       b.inject(rnr_nak(0, 31));
       b.inject(rnr_nak(0, 31));
     },
     "rnr_nak_retry 2"},
    {"an RNR NAK too many",
     {.rnr_retry = 0},
     [](RequesterBench& b) { b.inject(rnr_nak(0, 31)); },
     "requester_cqe_errors 3, requester_flushed 2, rnr_retry_exceeded 1"},

    // implied_nak_seq_err: acknowledged is what is behind a READ whose response is missing.
    {"an implied NAK, and what comes behind it",
     {},
     [](RequesterBench& b) {
       b.inject(ack(2));
       b.post(WorkOpcode::rdma_read, 8);
       b.post(WorkOpcode::send, 8);
       b.inject(ack(4));
       b.inject(ack(4));
     },
     "implied_nak_sequence_error 1, retransmitted_packets 2"},
    {"an implied NAK too many",
     {.retry_count = 0},
     [](RequesterBench& b) {
       b.inject(ack(2));
       b.post(WorkOpcode::rdma_read, 8);
       b.post(WorkOpcode::send, 8);
       b.inject(ack(4));
     },
     "implied_nak_sequence_error 1, requester_cqe_errors 2, requester_flushed 1, retry_exceeded 1"},

    // Refusals; req_cqe_error has the flushed ones, too.
    {"invalid request",
     {},
     [](RequesterBench& b) { b.inject(nak(0, NakCode::invalid_request)); },
     "requester_remote_invalid_request 1, requester_cqe_errors 3, requester_flushed 2"},
    {"remote access error",
     {},
     [](RequesterBench& b) { b.inject(nak(0, NakCode::remote_access_error)); },
     "requester_remote_access_errors 1, requester_cqe_errors 3, requester_flushed 2"},
    {"remote operational error",
     {},
     [](RequesterBench& b) { b.inject(nak(0, NakCode::remote_operational_error)); },
     "requester_cqe_errors 3, requester_flushed 2"},
    {"a refusal that comes twice while an earlier response is missing",
     {.recovery = {.mode = RecoveryMode::selective}},
     [](RequesterBench& b) {
       b.inject(ack(2));
       b.post(WorkOpcode::rdma_read, 8);
       b.post(WorkOpcode::send, 8);
       b.inject(nak(4, NakCode::remote_access_error));
       b.inject(nak(4, NakCode::remote_access_error));
     },
     "requester_remote_access_errors 1"},
    {"a response that no responder sends",
     {},
     [](RequesterBench& b) { b.inject(atomic_ack(0, 1)); },
     "requester_cqe_errors 3, requester_flushed 2, bad_responses 1"},
    {"an error of this side",
     {},
     [](RequesterBench& b) {
       b.inject(ack(2));
       b.post(b.request(WorkOpcode::rdma_write, 16, (1 << 20) - 8));
     },
     "requester_cqe_errors 1"},
};

BOOST_AUTO_TEST_SUITE(requester_counters)

BOOST_AUTO_TEST_CASE(each_event_moves_its_counters_and_no_other) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.event) {
      RequesterBench b(row.setup);
      for (int i = 0; i < 3; ++i) b.post(WorkOpcode::send, 8);
      row.happens(b);
      BOOST_TEST(moved(b.counters) == row.counted);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
