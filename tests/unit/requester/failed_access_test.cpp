// Memory that cannot be reached when a batch ends: what came after it was discarded by the host, and still
// every request gets exactly one completion, in order (host.hpp).
#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

BOOST_AUTO_TEST_SUITE(failed_access)

BOOST_AUTO_TEST_CASE(gathering_fails) {
  RequesterBench b;
  b.memory.unmap(kBase + 4096, 4096);
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4, 4096);
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.expect_silence();
  b.expect_no_completion();
  b.inject(ack(0));
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::local_protection_error);
  b.expect_completion(2, WorkStatus::flushed);
  b.expect_no_completion();
  BOOST_TEST(b.failed());
}

BOOST_AUTO_TEST_CASE(gathering_fails_in_the_middle_of_a_batch_of_sends) {
  RequesterBench b;
  b.memory.unmap(kBase + 4096, 4096);
  b.hold();
  for (std::uint64_t offset : {0, 0, 4096, 0, 0}) b.post(WorkOpcode::send, 4, offset);
  b.release();
  b.expect_packets(send_only, 0, 1);
  b.expect_silence();
  b.inject(ack(1));
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect_completion(2, WorkStatus::local_protection_error);
  b.expect_completion(3, WorkStatus::flushed);
  b.expect_completion(4, WorkStatus::flushed);
}

BOOST_AUTO_TEST_CASE(scattering_a_read_fails) {
  RequesterBench b;
  b.memory.unmap(kBase + 1024, 1);
  b.post(WorkOpcode::rdma_read, 2048);
  b.post(WorkOpcode::send, 4);
  b.inject(read_response(read_response_first, 0, pattern(1024)));
  b.expect_no_completion();
  b.inject(read_response(read_response_last, 1, pattern(1024)));
  b.expect_completion(0, WorkStatus::local_protection_error);
  b.expect_completion(1, WorkStatus::flushed);
  b.expect_no_completion();
}

BOOST_AUTO_TEST_CASE(writing_an_atomics_result_fails) {
  RequesterBench b;
  b.memory.unmap(kBase, 8);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.inject(atomic_ack(0, 1));
  b.expect_completion(0, WorkStatus::local_protection_error);
  b.expect_no_completion();
}

// One batch: a failing gather, then the acknowledgement of what was before it. Its completions are discarded
// with the gather and reported again.
BOOST_AUTO_TEST_CASE(discarded_completions_are_reported_again) {
  RequesterBench b;
  b.memory.unmap(kBase + 4096, 4096);
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::rdma_write, 4);
  b.hold();
  b.post(WorkOpcode::send, 4, 4096);
  b.inject(ack(1));
  b.release();
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect_completion(2, WorkStatus::local_protection_error);
  b.expect_no_completion();
}

BOOST_AUTO_TEST_CASE(completions_before_the_failed_access_are_not_reported_twice) {
  RequesterBench b;
  b.memory.unmap(kBase + 4096, 4096);
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.hold();
  b.inject(ack(0));
  b.post(WorkOpcode::send, 4, 4096);
  b.inject(ack(1));
  b.release();
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect_completion(2, WorkStatus::local_protection_error);
  b.expect_no_completion();
}

// The atomic's result came behind the failing gather: it was not written, so it is asked for again.
BOOST_AUTO_TEST_CASE(discarded_results_are_asked_for_again) {
  RequesterBench b;
  b.memory.unmap(kBase + 4096, 4096);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.post(WorkOpcode::rdma_write, 4);
  b.expect(fetch_add, 0);
  b.expect(write_only, 1);
  b.hold();
  b.post(WorkOpcode::send, 4, 4096);
  b.inject(atomic_ack(0, 5));
  b.inject(ack(1));
  b.release();
  b.expect_no_completion();
  b.expect(fetch_add, 0);
  b.expect(write_only, 1);
  b.expect_silence();
  b.inject(atomic_ack(0, 5));
  b.inject(ack(1));
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect_completion(2, WorkStatus::local_protection_error);
  BOOST_TEST(b.memory.word(kBase) == 5u);
}

// Packets of an earlier request, sent again behind the failing gather, did not leave.
BOOST_AUTO_TEST_CASE(discarded_packets_are_sent_again) {
  RequesterBench b({.timeout = 0});
  b.memory.unmap(kBase + 4096, 4096);
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.hold();
  b.post(WorkOpcode::send, 4, 4096);
  b.inject(nak(0, NakCode::psn_sequence_error));
  b.release();
  b.expect(send_only, 0);
  b.expect_silence();
  b.inject(ack(0));
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::local_protection_error);
}

BOOST_AUTO_TEST_CASE(remote_error_and_flush_behind_the_failed_access) {
  RequesterBench b;
  b.memory.unmap(kBase + 4096, 4096);
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.hold();
  b.post(WorkOpcode::send, 4, 4096);
  b.post(WorkOpcode::send, 4);
  b.inject(nak(1, NakCode::remote_access_error));
  b.release();
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::remote_access_error);
  b.expect_completion(2, WorkStatus::flushed);
  b.expect_completion(3, WorkStatus::flushed);
  b.expect_no_completion();
}

BOOST_AUTO_TEST_CASE(remote_error_of_a_later_request_gives_way_to_the_failed_access) {
  RequesterBench b;
  b.memory.unmap(kBase, 8);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.post(WorkOpcode::send, 4, 64);
  b.hold();
  b.inject(atomic_ack(0, 1));
  b.inject(nak(1, NakCode::remote_access_error));
  b.release();
  b.expect_completion(0, WorkStatus::local_protection_error);
  b.expect_completion(1, WorkStatus::flushed);
  b.expect_no_completion();
  BOOST_TEST(b.failed());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
