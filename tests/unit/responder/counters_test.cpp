// What a responder counts: each event moves the counters that docs/counters.md says, and no other one.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/unit/responder/keeping_bench.hpp"
#include "tests/unit/transport_bench/moved_counters.hpp"

namespace urnic::transport::bench {
namespace {

using wire::Operation;

struct Row {
  const char* event;
  RecoveryMode mode;  // with `sack`, the peer offers to read selective acks
  std::function<void(ResponderBench&)> happens;
  const char* counted;
};

constexpr auto kGbn = RecoveryMode::gbn;
constexpr auto kKeeps = RecoveryMode::selective;
constexpr auto kSack = RecoveryMode::sack;

void ask_for(ResponderBench& b, std::initializer_list<std::uint32_t> packets) {
  for (const std::uint32_t packet : packets) {
    const bool offers = b.shared.recovery.mode == kSack;
    b.ask(offers ? offered(write_only(packet)) : write_only(packet));
  }
}

const std::vector<Row> kRows{
    {"requests in order", kGbn,
     [](ResponderBench& b) {
       b.post();
       b.ask(send_only(0));
       b.ask(write(Operation::write_first, 1, pattern(kMtu), kMtu + 8));
       b.ask(write(Operation::write_last, 2, pattern(8)));
       b.ask(read(3, 3 * kMtu));
       b.ask(add(6, 1));
     },
     "received_write_requests 1, received_read_requests 1, received_atomic_requests 1, "
     "received_send_requests 1"},

    // out_of_sequence: NAKs sent.
    {"nine packets behind a hole: one NAK", kGbn,
     [](ResponderBench& b) {
       ask_for(b, {1, 2, 3, 4, 5, 6, 7, 8, 9});
     },
     "out_of_sequence 1"},
    {"two holes, one after the other: two NAKs", kGbn,
     [](ResponderBench& b) {
       ask_for(b, {1, 0, 2, 1, 2});
     },
     "out_of_sequence 2, received_write_requests 3"},
    {"two holes at once, packets kept: a NAK for each as it is the first", kKeeps,
     [](ResponderBench& b) {
       ask_for(b, {1, 3, 0, 2});
     },
     "out_of_sequence 2, held_packets 2, received_write_requests 4"},
    {"a hole that is filled before the NAK has left: none", kKeeps,
     [](ResponderBench& b) {
       b.give(write_only(1));
       b.give(write_only(0));
       b.settle();
     },
     "held_packets 1, received_write_requests 2"},
    {"a peer that takes selective acks: each report is a NAK", kSack,
     [](ResponderBench& b) {
       ask_for(b, {1, 2, 4});
     },
     "out_of_sequence 3, held_packets 3, selective_acks_sent 3"},
    {"too far ahead to be kept", kKeeps, [](ResponderBench& b) { b.ask(write_only(0x400000)); },
     "out_of_sequence 1, held_discards 1"},

    // duplicate_request: what has been executed.
    {"executed requests that come again", kGbn,
     [](ResponderBench& b) {
       ask_for(b, {0});
       b.ask(read(1, 8));
       b.ask(add(2, 1));
       ask_for(b, {0});
       b.ask(read(1, 8));
       b.ask(add(2, 1));
     },
     "duplicate_request 3, received_write_requests 1, received_read_requests 1, received_atomic_requests 1"},
    {"a packet that comes again while it waits for its turn has not been executed", kKeeps,
     [](ResponderBench& b) {
       ask_for(b, {1, 1, 1});
     },
     "out_of_sequence 1, held_packets 1, held_duplicates 2"},

    // out_of_buffer
    {"no receive, twice asked for one", kGbn,
     [](ResponderBench& b) {
       b.ask(send_only(0));
       b.ask(send_only(1));  // behind it: dropped for its PSN
       b.ask(send_only(0));
     },
     "rnr_nak_sent 2"},

    // Errors. A request counts as received whether its key is right or not.
    {"wrong key of a write", kGbn, [](ResponderBench& b) { b.ask(write_only(0, 16, kBase, kForeignKey)); },
     "responder_access_errors 1, received_write_requests 1"},
    {"wrong key of a read", kGbn, [](ResponderBench& b) { b.ask(read(0, 16, kBase, kForeignKey)); },
     "responder_access_errors 1, received_read_requests 1"},
    {"wrong key of an atomic", kGbn, [](ResponderBench& b) { b.ask(add(0, 1, kBase, kReadOnlyKey)); },
     "responder_access_errors 1, received_atomic_requests 1"},
    {"opcode out of sequence", kGbn,
     [](ResponderBench& b) { b.ask(send(Operation::send_middle, 0, pattern(kMtu))); },
     "responder_invalid_requests 1"},
    {"misaligned atomic", kGbn, [](ResponderBench& b) { b.ask(add(0, 1, kBase + 1)); },
     "responder_invalid_requests 1, received_atomic_requests 1"},
    {"longer than the receive", kGbn,
     [](ResponderBench& b) {
       b.post(8);
       b.ask(send_only(0, 16));
     },
     "responder_invalid_requests 1, responder_local_length_errors 1, received_send_requests 1, "
     "responder_cqe_errors 1"},
    {"a receive whose memory is not allowed", kGbn,
     [](ResponderBench& b) {
       b.post(16, 0, kReadOnlyKey);
       b.ask(send_only(0, 16));
     },
     "responder_operation_errors 1, received_send_requests 1, responder_cqe_errors 1"},

    // resp_cqe_error has the flushed ones, too.
    {"an error with two receives behind it", kGbn,
     [](ResponderBench& b) {
       b.post(8);
       b.post();
       b.post();
       b.ask(send_only(0, 16));
       b.responder.flush();
     },
     "responder_invalid_requests 1, responder_local_length_errors 1, received_send_requests 1, "
     "responder_cqe_errors 3, responder_flushed 2"},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(responder_counters)

BOOST_AUTO_TEST_CASE(each_event_moves_its_counters_and_no_other) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.event) {
      ResponderBench b(row.mode);
      row.happens(b);
      BOOST_TEST(moved(b.counters) == row.counted);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::transport::bench
