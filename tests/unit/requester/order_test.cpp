// Fences and local operations (IBTA 10.6.7, 10.8.3.3).
#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

SendRequest fenced(WorkOpcode opcode, std::uint32_t length) {
  SendRequest request = RequesterBench::request(opcode, length);
  request.fence = true;
  return request;
}

BOOST_AUTO_TEST_SUITE(order)

BOOST_AUTO_TEST_CASE(fence_waits_for_reads_and_atomics) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 4);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.post(fenced(WorkOpcode::send, 4));
  b.expect(read_request, 0);
  b.expect(fetch_add, 1);
  b.inject(read_response(read_response_only, 0, pattern(4)));
  b.expect_silence();
  b.inject(atomic_ack(1, 0));
  b.expect(send_only, 2);
}

BOOST_AUTO_TEST_CASE(fence_does_not_wait_for_sends_and_writes) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::rdma_write, 4);
  b.post(fenced(WorkOpcode::rdma_write, 4));
  b.expect(send_only, 0);
  b.expect_packets(write_only, 1, 2);
}

BOOST_AUTO_TEST_CASE(without_fence_nothing_waits_for_reads) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 4);
  b.post(WorkOpcode::send, 4);
  b.expect(read_request, 0);
  b.expect(send_only, 1);
}

BOOST_AUTO_TEST_CASE(completions_of_local_operations_keep_their_place) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::local_invalidate, 0);
  b.post(WorkOpcode::send, 4);
  b.expect_packets(send_only, 0, 1);
  BOOST_REQUIRE(b.keys.invalidated.size() == 1u);
  BOOST_TEST(b.keys.invalidated[0].value == 0x1234u);
  b.expect_no_completion();
  b.inject(ack(0));
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect_no_completion();
  b.inject(ack(1));
  b.expect_completion(2);
}

BOOST_AUTO_TEST_CASE(fenced_invalidation_waits_for_everything_before_it) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_write, 4);
  b.post(fenced(WorkOpcode::local_invalidate, 0));
  b.post(WorkOpcode::send, 4);
  b.expect(write_only, 0);
  b.expect_silence();
  BOOST_TEST(b.keys.invalidated.empty());
  b.inject(ack(0));
  BOOST_TEST(b.keys.invalidated.size() == 1u);
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect(send_only, 1);
}

BOOST_AUTO_TEST_CASE(fenced_bind_waits_for_reads) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 4);
  b.post(fenced(WorkOpcode::bind_memory_window, 0));
  BOOST_TEST(b.keys.bindings.empty());
  b.inject(read_response(read_response_only, 0, pattern(4)));
  BOOST_TEST(b.keys.bindings.size() == 1u);
}

BOOST_AUTO_TEST_CASE(bind_is_done_before_what_follows_begins) {
  RequesterBench b;
  SendRequest bind = b.request(WorkOpcode::bind_memory_window, 0);
  bind.binding = {wire::Rkey{0x100}, wire::Rkey{0x101}, Lkey{kKey}, kBase, 4096, 1};
  b.hold();
  b.queue.post(bind);
  b.queue.post(b.request(WorkOpcode::send, 4));
  BOOST_TEST(b.requester.pump(b.now, 1) == 1u);
  BOOST_REQUIRE(b.keys.bindings.size() == 1u);
  BOOST_TEST(b.keys.bindings[0].next.value == 0x101u);
  BOOST_TEST(b.keys.bindings[0].length == 4096u);
  b.release();
  b.expect_completion(0);
  b.expect(send_only, 0);
}

BOOST_AUTO_TEST_CASE(an_idle_request_completes_in_its_turn_without_a_packet) {
  RequesterBench b;
  b.keys.bind_result = KeyCheck::in_use;
  SendRequest idle = b.request(WorkOpcode::bind_memory_window, 0);
  idle.is_idle = true;
  b.post(idle);
  b.expect_completion(0);
  b.post(WorkOpcode::send, 4);
  b.post(idle);
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.expect(send_only, 1);
  b.expect_silence();
  b.expect_no_completion();
  b.inject(ack(0));
  b.expect_completion(1);
  b.expect_completion(2);
  b.expect_no_completion();
  BOOST_TEST(b.keys.bindings.empty());
  BOOST_TEST(b.keys.invalidated.empty());
}

BOOST_AUTO_TEST_CASE(failed_bind_and_failed_invalidation_are_bind_errors) {
  for (WorkOpcode opcode : {WorkOpcode::bind_memory_window, WorkOpcode::local_invalidate}) {
    RequesterBench b;
    b.keys.bind_result = b.keys.invalidate_result = KeyCheck::in_use;
    b.post(WorkOpcode::send, 4);
    b.post(opcode, 0);
    b.post(WorkOpcode::send, 4);
    b.expect(send_only, 0);
    b.expect_silence();
    b.expect_no_completion();
    b.inject(ack(0));
    b.expect_completion(0);
    b.expect_completion(1, WorkStatus::memory_window_bind_error);
    b.expect_completion(2, WorkStatus::flushed);
    BOOST_TEST(b.failed());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
