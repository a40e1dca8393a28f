// What acknowledgements complete (IBTA 9.7.5.1.2, 9.7.6.1).
#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

BOOST_AUTO_TEST_SUITE(acknowledge_rules)

BOOST_AUTO_TEST_CASE(acknowledged_request_completes) {
  RequesterBench b;
  b.post(WorkOpcode::send, 10);
  b.expect(send_only, 0);
  b.expect_no_completion();
  b.inject(ack(0));
  const Completion completion = b.expect_completion(0);
  BOOST_TEST(static_cast<int>(completion.opcode) == static_cast<int>(CompletionOpcode::send));
  BOOST_TEST(!completion.solicited);
  BOOST_TEST(b.requester.idle());
  BOOST_TEST(!b.requester.deadline().has_value());
}

BOOST_AUTO_TEST_CASE(completion_opcodes_are_those_of_the_requests) {
  const std::pair<WorkOpcode, CompletionOpcode> table[] = {
      {WorkOpcode::send, CompletionOpcode::send},
      {WorkOpcode::send_with_immediate, CompletionOpcode::send},
      {WorkOpcode::send_with_invalidate, CompletionOpcode::send},
      {WorkOpcode::rdma_write, CompletionOpcode::rdma_write},
      {WorkOpcode::rdma_write_with_immediate, CompletionOpcode::rdma_write},
      {WorkOpcode::local_invalidate, CompletionOpcode::local_invalidate},
      {WorkOpcode::bind_memory_window, CompletionOpcode::bind_memory_window},
  };
  for (const auto& [opcode, completed_as] : table) {
    RequesterBench b;
    b.post(opcode, 4);
    b.inject(ack(0));
    const Completion completion = b.expect_completion(0);
    BOOST_TEST(static_cast<int>(completion.opcode) == static_cast<int>(completed_as));
  }
}

BOOST_AUTO_TEST_CASE(one_acknowledgement_is_for_all_before_it) {
  RequesterBench b;
  for (int i = 0; i < 5; ++i) b.post(WorkOpcode::rdma_write, 2048);
  b.inject(ack(7));
  for (std::uint32_t i = 0; i < 4; ++i) b.expect_completion(i);
  b.expect_no_completion();
  b.inject(ack(9));
  b.expect_completion(4);
}

BOOST_AUTO_TEST_CASE(part_of_a_message_does_not_complete_it) {
  RequesterBench b;
  b.post(WorkOpcode::send, 3 * 1024);
  b.inject(ack(0));
  b.inject(ack(1));
  b.expect_no_completion();
  b.inject(ack(2));
  b.expect_completion(0);
}

BOOST_AUTO_TEST_CASE(unsignaled_requests_complete_silently) {
  RequesterBench b;
  SendRequest quiet = b.request(WorkOpcode::send, 4);
  quiet.signaled = false;
  b.post(quiet);
  b.post(WorkOpcode::send, 4);
  b.inject(ack(1));
  b.expect_completion(1);
  b.expect_no_completion();
  BOOST_TEST(b.queue.retired() == 2u);
}

BOOST_AUTO_TEST_CASE(read_response_acknowledges_what_is_before_it) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::rdma_write, 4);
  b.post(WorkOpcode::rdma_read, 4);
  b.inject(read_response(read_response_only, 2, pattern(4)));
  b.expect_completion(0);
  b.expect_completion(1);
  b.expect_completion(2);
}

BOOST_AUTO_TEST_CASE(atomic_acknowledge_acknowledges_what_is_before_it) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.inject(atomic_ack(1, 5));
  b.expect_completion(0);
  b.expect_completion(1);
}

BOOST_AUTO_TEST_CASE(duplicate_acknowledgement_changes_nothing) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.inject(ack(0));
  b.expect_completion(0);
  b.inject(ack(0));
  b.inject(nak(0, NakCode::remote_access_error));
  b.expect_no_completion();
  BOOST_TEST(b.counters.duplicate_acknowledgements == 2u);
  b.inject(ack(1));
  b.expect_completion(1);
  BOOST_TEST(!b.failed());
}

BOOST_AUTO_TEST_CASE(ghost_acknowledgement_changes_nothing) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.inject(ack(1));
  b.inject(ack(0x400000));
  b.inject(nak(1, NakCode::psn_sequence_error));
  b.expect_no_completion();
  b.expect(send_only, 0);
  b.expect_silence();
  b.inject(ack(0));
  b.expect_completion(0);
}

BOOST_AUTO_TEST_CASE(requests_are_not_responses) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.inject(rc_packet(send_only, 0));
  b.expect_no_completion();
  BOOST_TEST(!b.failed());
}

BOOST_AUTO_TEST_CASE(late_acknowledgement_of_the_first_sending_saves_the_second) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.advance(b.timeout());
  b.expect(send_only, 0);
  b.inject(ack(0));
  b.expect_completion(0);
  b.inject(ack(0));
  b.expect_no_completion();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
