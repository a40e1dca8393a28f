// Errors of requests: which status, in which order, and the flush behind them (IBTA 9.9.2, 10.8.3.1, 11.6.2).
#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

// The request in the middle of three fails on this side: the first completes, the second has the error, the
// third is flushed, and nothing of the last two is sent.
void check_local_error(RequesterBench& b, const SendRequest& faulty, WorkStatus status) {
  b.post(WorkOpcode::send, 4);
  b.post(faulty);
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.expect_silence();
  b.expect_no_completion();
  BOOST_TEST(!b.failed());
  b.inject(ack(0));
  b.expect_completion(0);
  const Completion error = b.expect_completion(1, status);
  BOOST_TEST(error.solicited);
  b.expect_completion(2, WorkStatus::flushed);
  BOOST_TEST(b.failed());
  BOOST_TEST(b.counters.requester_cqe_errors == 2u);
  BOOST_TEST(b.counters.requester_flushed == 1u);
  b.expect_silence();
  BOOST_TEST(!b.requester.deadline().has_value());
  BOOST_TEST(b.requester.idle());
}

BOOST_AUTO_TEST_SUITE(local_errors)

BOOST_AUTO_TEST_CASE(unknown_key) {
  RequesterBench b;
  SendRequest request = b.request(WorkOpcode::send, 4);
  const Sge sge{kBase, 4, Lkey{0xBAD}};
  request.sges = {&sge, 1};
  check_local_error(b, request, WorkStatus::local_protection_error);
}

BOOST_AUTO_TEST_CASE(range_outside_the_region) {
  RequesterBench b;
  check_local_error(b, b.request(WorkOpcode::rdma_write, 16, (1 << 20) - 8),
                    WorkStatus::local_protection_error);
}

BOOST_AUTO_TEST_CASE(other_protection_domain) {
  RequesterBench b;
  b.keys.add(0x88, PdId{4}, b.memory);
  SendRequest request = b.request(WorkOpcode::send, 4);
  const Sge sge{kBase, 4, Lkey{0x88}};
  request.sges = {&sge, 1};
  check_local_error(b, request, WorkStatus::local_protection_error);
}

BOOST_AUTO_TEST_CASE(malformed_request) {
  RequesterBench b;
  SendRequest request = b.request(WorkOpcode::send, 4);
  request.malformed = true;
  check_local_error(b, request, WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_CASE(unknown_opcode) {
  RequesterBench b;
  check_local_error(b, b.request(static_cast<WorkOpcode>(10), 4), WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_CASE(inline_read) {
  RequesterBench b;
  SendRequest request = b.request(WorkOpcode::rdma_read, 4);
  request.is_inline = true;
  check_local_error(b, request, WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_CASE(gather_list_longer_than_a_wqe_can_say) {
  RequesterBench b;
  const std::vector<Sge> sges(256, Sge{kBase, 1, Lkey{kKey}});
  SendRequest request = b.request(WorkOpcode::send, 0);
  request.sges = sges;
  check_local_error(b, request, WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_CASE(longer_than_the_largest_message) {
  for (WorkOpcode opcode : {WorkOpcode::send, WorkOpcode::rdma_write, WorkOpcode::rdma_read}) {
    RequesterBench b({.max_message_size = 8192});
    check_local_error(b, b.request(opcode, 8193), WorkStatus::local_length_error);
  }
  RequesterBench b({.max_message_size = 8192});
  b.post(WorkOpcode::rdma_read, 8192);
  b.expect(read_request, 0);
}

// More than 32 bits can say, through many SGEs.
BOOST_AUTO_TEST_CASE(longer_than_two_gigabytes) {
  RequesterBench b;
  const std::vector<Sge> sges(3, Sge{kBase, 0x80000000, Lkey{kKey}});
  SendRequest request = b.request(WorkOpcode::rdma_write, 0);
  request.sges = sges;
  check_local_error(b, request, WorkStatus::local_length_error);
}

BOOST_AUTO_TEST_CASE(error_in_the_middle_of_a_message) {
  RequesterBench b;
  const Sge sges[] = {{kBase, 2048, Lkey{kKey}}, {kBase, 10, Lkey{0xBAD}}};
  SendRequest request = b.request(WorkOpcode::send, 0);
  request.sges = sges;
  b.post(WorkOpcode::rdma_write, 4);
  b.post(request);
  b.expect(write_only, 0);
  b.expect(send_first, 1);
  b.expect(send_middle, 2);
  b.expect_silence();
  b.inject(ack(2));  // for packets of the failed request that had left: and so for what is before them
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::local_protection_error);
}

// What is before the failed request is still sent again when lost; the failed one is not.
BOOST_AUTO_TEST_CASE(requests_before_the_failed_one_are_retried) {
  RequesterBench b;
  SendRequest faulty = b.request(WorkOpcode::send, 4);
  faulty.malformed = true;
  b.post(WorkOpcode::send, 4);
  b.post(faulty);
  b.expect(send_only, 0);
  b.advance(b.timeout());
  b.expect(send_only, 0);
  b.expect_silence();
  b.inject(ack(0));
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_CASE(packets_of_the_failed_request_are_not_sent_again) {
  RequesterBench b;
  const Sge sges[] = {{kBase, 2048, Lkey{kKey}}, {kBase, 10, Lkey{0xBAD}}};
  SendRequest request = b.request(WorkOpcode::send, 0);
  request.sges = sges;
  b.post(WorkOpcode::rdma_write, 4);
  b.post(request);
  b.expect(write_only, 0);
  b.expect(send_first, 1);
  b.expect(send_middle, 2);
  b.advance(b.timeout());
  b.expect(write_only, 0);
  b.expect_silence();
}

BOOST_AUTO_TEST_CASE(key_that_goes_before_a_retransmission) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.keys.remove(kKey);
  b.advance(b.timeout());
  b.expect_silence();
  b.expect_completion(0, WorkStatus::local_protection_error);
}

BOOST_AUTO_TEST_CASE(unsignaled_request_reports_its_error) {
  RequesterBench b;
  SendRequest request = b.request(WorkOpcode::send, 4);
  request.malformed = true;
  request.signaled = false;
  b.post(request);
  b.expect_completion(0, WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(remote_errors)

BOOST_AUTO_TEST_CASE(every_nak_code_has_its_status) {
  const std::pair<NakCode, WorkStatus> table[] = {
      {NakCode::invalid_request, WorkStatus::remote_invalid_request_error},
      {NakCode::remote_access_error, WorkStatus::remote_access_error},
      {NakCode::remote_operational_error, WorkStatus::remote_operation_error},
  };
  for (const auto& [code, status] : table) {
    RequesterBench b;
    b.post(WorkOpcode::send, 4);
    b.post(WorkOpcode::rdma_write, 3000);
    b.post(WorkOpcode::send, 4);
    b.inject(nak(2, code));
    b.expect_completion(0);
    BOOST_TEST(b.expect_completion(1, status).byte_length == 0u);
    b.expect_completion(2, WorkStatus::flushed);
    BOOST_TEST(b.failed());
    BOOST_TEST(b.counters.requester_cqe_errors == 2u);
    BOOST_TEST(b.counters.requester_remote_access_errors == (code == NakCode::remote_access_error ? 1u : 0u));
    BOOST_TEST(b.counters.requester_remote_invalid_request == (code == NakCode::invalid_request ? 1u : 0u));
  }
}

BOOST_AUTO_TEST_CASE(nak_to_a_read_is_the_reads_error) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 3000);
  b.inject(read_response(read_response_first, 0, pattern(1024)));
  b.inject(nak(1, NakCode::remote_access_error));
  b.expect_completion(0, WorkStatus::remote_access_error);
}

BOOST_AUTO_TEST_CASE(reserved_syndromes_are_bad_responses) {
  for (const int syndrome : {0x40, 0x5F, 0x64, 0x65, 0x7F}) {
    RequesterBench b;
    b.post(WorkOpcode::send, 4);
    Packet packet = ack(0);
    packet.headers.aeth.syndrome = static_cast<std::uint8_t>(syndrome);
    b.inject(packet);
    b.expect_completion(0, WorkStatus::bad_response_error);
    BOOST_TEST(b.counters.bad_responses == 1u);
  }
}

BOOST_AUTO_TEST_CASE(atomic_acknowledge_to_a_send_is_a_bad_response) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.inject(atomic_ack(0, 1));
  b.expect_completion(0, WorkStatus::bad_response_error);
}

BOOST_AUTO_TEST_CASE(nothing_happens_after_the_error) {
  RequesterBench b;
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::send, 4);
  b.host.sent.clear();
  b.inject(nak(0, NakCode::invalid_request));
  b.host.completions.clear();
  b.inject(ack(1));
  b.advance(milliseconds(100));
  b.expect_silence();
  b.expect_no_completion();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(states)

BOOST_AUTO_TEST_CASE(flush_completes_everything_taken_and_posted) {
  RequesterBench b({.window_packets = 2});
  b.post(WorkOpcode::send, 2048);
  SendRequest quiet = b.request(WorkOpcode::rdma_read, 4);
  quiet.signaled = false;
  b.post(quiet);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.set_state(QpState::error);
  b.requester.flush();
  b.host.flush();
  for (std::uint32_t i = 0; i < 3; ++i) b.expect_completion(i, WorkStatus::flushed);
  BOOST_TEST(b.counters.requester_flushed == 3u);
  BOOST_TEST(b.counters.requester_cqe_errors == 3u);
  BOOST_TEST(b.requester.idle());
  BOOST_TEST(!b.queue.pending());
  b.queue.post(b.request(WorkOpcode::send, 4));  // posted in the error state
  b.requester.flush();
  b.host.flush();
  b.expect_completion(3, WorkStatus::flushed);
}

BOOST_AUTO_TEST_CASE(flush_takes_more_than_the_window_holds) {
  RequesterBench b({.send_slots = 2});
  for (int i = 0; i < 10; ++i) b.post(WorkOpcode::send, 4);
  b.set_state(QpState::error);
  b.requester.flush();
  b.host.flush();
  for (std::uint32_t i = 0; i < 10; ++i) b.expect_completion(i, WorkStatus::flushed);
}

BOOST_AUTO_TEST_CASE(draining_finishes_what_was_begun_and_begins_nothing) {
  RequesterBench b({.window_packets = 2});
  b.post(WorkOpcode::send, 3 * 1024);
  b.post(WorkOpcode::send, 4);
  b.expect(send_first, 0);
  b.expect(send_middle, 1);
  b.set_state(QpState::sqd);
  BOOST_TEST(!b.requester.idle());
  b.inject(ack(1));
  b.expect(send_last, 2);
  b.advance(b.timeout());
  b.expect(send_last, 2);
  b.inject(ack(2));
  b.expect_completion(0);
  BOOST_TEST(b.requester.idle());
  b.expect_silence();
  BOOST_TEST(!b.requester.wants_pump());
  b.set_state(QpState::rts);
  b.expect(send_only, 3);
}

BOOST_AUTO_TEST_CASE(reset_forgets_everything) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 4);
  b.post(WorkOpcode::send, 4);
  b.host.sent.clear();
  b.shared.state = QpState::reset;
  b.requester.reset();
  b.queue.clear();
  BOOST_TEST(b.requester.idle());
  BOOST_TEST(!b.requester.deadline().has_value());
  BOOST_TEST(!b.requester.wants_pump());
  b.inject(read_response(read_response_only, 0, pattern(4)));
  b.expect_no_completion();
  b.shared.state = QpState::rts;
  b.requester.start(b.now);
  b.inject(ack(0xFFFFFF));  // no credit check
  b.post(WorkOpcode::send, 4);
  b.expect(send_only, 0);
  b.inject(ack(0));
  b.expect_completion(0);
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_before_rts) {
  RequesterBench b;
  b.shared.state = QpState::rtr;
  b.requester.reset();
  b.post(WorkOpcode::send, 4);
  b.expect_silence();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
