// RDMA READ: its responses' order, place and length, and how a lost one is asked for again (IBTA 9.4.4,
// 9.7.5.1.2, 9.7.6.1).
#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

constexpr std::uint8_t kReadSeed = 0x5A;

std::vector<std::byte> remote(std::size_t from, std::size_t length) {
  return pattern(length, kReadSeed, from);
}

Packet response(Operation operation, std::uint32_t packet, std::size_t from, std::size_t length) {
  return read_response(operation, packet, remote(from, length));
}

BOOST_AUTO_TEST_SUITE(read)

BOOST_AUTO_TEST_CASE(responses_are_placed_in_order) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 2500, 64);
  b.inject(response(read_response_first, 0, 0, 1024));
  b.inject(response(read_response_middle, 1, 1024, 1024));
  b.expect_no_completion();
  b.inject(response(read_response_last, 2, 2048, 452));
  const Completion completion = b.expect_completion(0);
  BOOST_TEST(completion.byte_length == 2500u);
  BOOST_TEST(static_cast<int>(completion.opcode) == static_cast<int>(CompletionOpcode::rdma_read));
  BOOST_TEST(b.memory.bytes(kBase + 64, 2500) == remote(0, 2500));
  BOOST_TEST(b.memory.bytes(kBase + 64 + 2500, 1) == memory_pattern(64 + 2500, 1));
  BOOST_TEST(b.counters.bad_responses == 0u);
}

BOOST_AUTO_TEST_CASE(a_snapshot_counts_the_reads_that_wait_for_responses) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 2000);
  b.post(WorkOpcode::rdma_read, 16);
  BOOST_TEST(b.requester.snapshot().reads_under_way == 2u);
  b.inject(response(read_response_first, 0, 0, 1024));
  BOOST_TEST(b.requester.snapshot().reads_under_way == 2u);
  b.inject(response(read_response_last, 1, 1024, 976));
  BOOST_TEST(b.requester.snapshot().reads_under_way == 1u);
  b.inject(response(read_response_only, 2, 0, 16));
  BOOST_TEST(b.requester.snapshot().reads_under_way == 0u);
}

BOOST_AUTO_TEST_CASE(last_bytes_of_the_message_are_marked) {
  RequesterBench b;
  const Sge sges[] = {
      {kBase, 1000, Lkey{kKey}}, {kBase + 4096, 100, Lkey{kKey}}, {kBase + 8192, 400, Lkey{kKey}}};
  SendRequest request = b.request(WorkOpcode::rdma_read, 0);
  request.sges = sges;
  b.post(request);
  b.inject(response(read_response_first, 0, 0, 1024));
  b.inject(response(read_response_last, 1, 1024, 476));
  b.expect_completion(0);
  BOOST_REQUIRE(b.host.writes.size() == 4u);
  const std::uint64_t addresses[] = {kBase, kBase + 4096, kBase + 4096 + 24, kBase + 8192};
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(b.host.writes[i].address == addresses[i]);
    BOOST_TEST(b.host.writes[i].message_end == (i == 3));
  }
  BOOST_TEST(b.memory.bytes(kBase + 8192, 400) == remote(1100, 400));
}

BOOST_AUTO_TEST_CASE(zero_length_read_is_one_empty_response) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 0);
  b.inject(response(read_response_only, 0, 0, 0));
  BOOST_TEST(b.expect_completion(0).byte_length == 0u);
  BOOST_TEST(b.host.writes.empty());
}

BOOST_AUTO_TEST_CASE(no_more_reads_and_atomics_than_allowed_are_under_way) {
  RequesterBench b({.max_reads = 2});
  b.post(WorkOpcode::rdma_read, 2000);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.post(WorkOpcode::rdma_read, 8);
  b.post(WorkOpcode::rdma_write, 8);
  b.expect(read_request, 0);
  b.expect(fetch_add, 2);
  b.expect_silence();
  b.inject(response(read_response_first, 0, 0, 1024));
  b.expect_silence();
  b.inject(response(read_response_last, 1, 1024, 976));
  b.expect(read_request, 3);
  b.expect(write_only, 4);
  b.inject(atomic_ack(2, 0));
  b.inject(response(read_response_only, 3, 0, 8));
  b.inject(ack(4));
  for (std::uint32_t i = 0; i < 4; ++i) b.expect_completion(i);
}

// 9.4.4: the retried READ asks for the part that is missing, PSN and address advanced alike.
BOOST_AUTO_TEST_CASE(lost_response_asks_for_exactly_the_missing_range) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 5000);
  b.expect(read_request, 0);
  b.inject(response(read_response_first, 0, 0, 1024));
  b.inject(response(read_response_middle, 1, 1024, 1024));
  b.inject(response(read_response_middle, 3, 3072, 1024));  // 2 is lost
  const SentPacket again = b.expect(read_request, 2);
  BOOST_TEST(again.headers.reth.virtual_address == kRemote + 2048);
  BOOST_TEST(again.headers.reth.dma_length == 5000u - 2048);
  BOOST_TEST(b.counters.implied_nak_sequence_error == 1u);
  BOOST_TEST(b.counters.retransmitted_packets == 1u);
  b.inject(response(read_response_last, 4, 4096, 904));  // from the first asking, says nothing new
  b.expect_silence();
  b.inject(response(read_response_first, 2, 2048, 1024));
  b.inject(response(read_response_middle, 3, 3072, 1024));
  b.inject(response(read_response_last, 4, 4096, 904));
  BOOST_TEST(b.expect_completion(0).byte_length == 5000u);
  BOOST_TEST(b.memory.bytes(kBase, 5000) == remote(0, 5000));
}

BOOST_AUTO_TEST_CASE(retried_part_of_one_packet_comes_as_only) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 2048);
  b.expect(read_request, 0);
  b.inject(response(read_response_first, 0, 0, 1024));
  b.advance(b.timeout());
  BOOST_TEST(b.expect(read_request, 1).headers.reth.dma_length == 1024u);
  b.inject(response(read_response_only, 1, 1024, 1024));
  b.expect_completion(0);
  BOOST_TEST(b.memory.bytes(kBase, 2048) == remote(0, 2048));
}

BOOST_AUTO_TEST_CASE(response_to_a_later_request_is_an_implied_nak) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 8);
  b.post(WorkOpcode::rdma_write, 8);
  b.post(WorkOpcode::rdma_read, 8);
  b.expect(read_request, 0);
  b.expect(write_only, 1);
  b.expect(read_request, 2);
  b.inject(ack(1));
  b.inject(response(read_response_only, 2, 0, 8));
  b.expect_no_completion();
  BOOST_TEST(b.counters.implied_nak_sequence_error == 1u);
  b.expect(read_request, 0);
  b.expect(write_only, 1);
  b.expect(read_request, 2);
  b.expect_silence();
  b.inject(response(read_response_only, 0, 0, 8));
  b.inject(ack(1));
  b.inject(response(read_response_only, 2, 0, 8));
  for (std::uint32_t i = 0; i < 3; ++i) b.expect_completion(i);
}

BOOST_AUTO_TEST_CASE(acknowledgement_at_a_reads_own_psn_is_an_implied_nak) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 8);
  b.expect(read_request, 0);
  b.inject(ack(0));
  b.expect_no_completion();
  b.expect(read_request, 0);
  BOOST_TEST(b.counters.implied_nak_sequence_error == 1u);
}

BOOST_AUTO_TEST_CASE(nak_behind_an_unanswered_read_goes_back_to_the_read) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 8);
  b.post(WorkOpcode::send, 8);
  b.expect(read_request, 0);
  b.expect(send_only, 1);
  b.inject(nak(1, NakCode::remote_access_error));
  b.expect_no_completion();
  b.expect(read_request, 0);
  b.expect(send_only, 1);
  b.inject(response(read_response_only, 0, 0, 8));
  b.expect_completion(0);
  b.inject(nak(1, NakCode::remote_access_error));
  b.expect_completion(1, WorkStatus::remote_access_error);
}

BOOST_AUTO_TEST_CASE(duplicate_response_is_dropped) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 2048);
  b.inject(response(read_response_first, 0, 0, 1024));
  Packet other = read_response(read_response_first, 0, pattern(1024, 1));
  b.inject(other);
  BOOST_TEST(b.memory.bytes(kBase, 1024) == remote(0, 1024));
  BOOST_TEST(b.counters.duplicate_acknowledgements == 1u);
  b.inject(response(read_response_last, 1, 1024, 1024));
  b.expect_completion(0);
}

// Each row: the responses to a READ of 2500 bytes (three packets) up to one that no correct peer sends.
BOOST_AUTO_TEST_CASE(wrong_opcode_or_length_is_a_bad_response) {
  const std::vector<std::vector<Packet>> rows = {
      {response(read_response_middle, 0, 0, 1024)},
      {response(read_response_only, 0, 0, 1024)},
      {response(read_response_last, 0, 0, 1024)},
      {response(read_response_first, 0, 0, 1023)},
      {response(read_response_first, 0, 0, 1028)},
      {response(read_response_first, 0, 0, 0)},
      {response(read_response_first, 0, 0, 1024), response(read_response_first, 1, 1024, 1024)},
      {response(read_response_first, 0, 0, 1024), response(read_response_last, 1, 1024, 1024)},
      {response(read_response_first, 0, 0, 1024), response(read_response_middle, 1, 1024, 1000)},
      {response(read_response_first, 0, 0, 1024), response(read_response_middle, 1, 1024, 1024),
       response(read_response_middle, 2, 2048, 452)},
      {response(read_response_first, 0, 0, 1024), response(read_response_middle, 1, 1024, 1024),
       response(read_response_last, 2, 2048, 451)},
      {response(read_response_first, 0, 0, 1024), response(read_response_middle, 1, 1024, 1024),
       response(read_response_last, 2, 2048, 453)},
      {response(read_response_first, 0, 0, 1024), response(read_response_middle, 1, 1024, 1024),
       response(read_response_only, 2, 2048, 452)},
      {atomic_ack(0, 0)},
  };
  for (const std::vector<Packet>& row : rows) {
    RequesterBench b;
    b.post(WorkOpcode::rdma_read, 2500);
    b.post(WorkOpcode::send, 4);
    for (const Packet& packet : row) {
      b.expect_no_completion();
      b.inject(packet);
    }
    b.expect_completion(0, WorkStatus::bad_response_error);
    b.expect_completion(1, WorkStatus::flushed);
    BOOST_TEST(b.counters.bad_responses == 1u);
    BOOST_TEST(b.failed());
  }
}

BOOST_AUTO_TEST_CASE(negative_aeth_in_a_read_response_is_a_bad_response) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 8);
  Packet packet = response(read_response_only, 0, 0, 8);
  packet.headers.aeth.syndrome = wire::nak_syndrome(NakCode::remote_access_error);
  b.inject(packet);
  b.expect_completion(0, WorkStatus::bad_response_error);
}

BOOST_AUTO_TEST_CASE(read_response_to_a_send_is_a_bad_response) {
  RequesterBench b;
  b.post(WorkOpcode::send, 8);
  b.inject(response(read_response_only, 0, 0, 8));
  b.expect_completion(0, WorkStatus::bad_response_error);
}

BOOST_AUTO_TEST_CASE(memory_without_local_write_is_a_protection_error) {
  RequesterBench b;
  b.keys.add(0x88, PdId{3}, b.memory, {AccessRight::local_read});
  SendRequest request = b.request(WorkOpcode::rdma_read, 2048);
  const Sge sge{kBase, 2048, Lkey{0x88}};
  request.sges = {&sge, 1};
  b.post(WorkOpcode::send, 4);
  b.post(request);
  b.inject(response(read_response_first, 1, 0, 1024));
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::local_protection_error);
  BOOST_TEST(b.host.writes.empty());
}

// The key is looked at again for every packet: deregistered between two, the second fails.
BOOST_AUTO_TEST_CASE(key_is_checked_for_every_response) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 2048);
  b.inject(response(read_response_first, 0, 0, 1024));
  b.keys.remove(kKey);
  b.inject(response(read_response_last, 1, 1024, 1024));
  b.expect_completion(0, WorkStatus::local_protection_error);
}

BOOST_AUTO_TEST_CASE(read_on_a_queue_pair_without_read_resources_fails) {
  RequesterBench b({.max_reads = 0});
  b.post(WorkOpcode::send, 4);
  b.post(WorkOpcode::rdma_read, 4);
  b.expect(send_only, 0);
  b.expect_silence();
  b.expect_no_completion();
  b.inject(ack(0));
  b.expect_completion(0);
  b.expect_completion(1, WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(atomic)

BOOST_AUTO_TEST_CASE(original_value_is_written_in_native_order) {
  RequesterBench b;
  b.post(WorkOpcode::atomic_compare_swap, 8, 16);
  b.inject(atomic_ack(0, 0x0102030405060708));
  const Completion completion = b.expect_completion(0);
  BOOST_TEST(static_cast<int>(completion.opcode) == static_cast<int>(CompletionOpcode::compare_swap));
  BOOST_TEST(completion.byte_length == 8u);
  BOOST_TEST(b.memory.word(kBase + 16) == 0x0102030405060708u);
  BOOST_REQUIRE(b.host.writes.size() == 1u);
  BOOST_TEST(b.host.writes[0].message_end);
}

BOOST_AUTO_TEST_CASE(fetch_add_completes_as_such) {
  RequesterBench b;
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.inject(atomic_ack(0, 7));
  const Completion completion = b.expect_completion(0);
  BOOST_TEST(static_cast<int>(completion.opcode) == static_cast<int>(CompletionOpcode::fetch_add));
  BOOST_TEST(b.memory.word(kBase) == 7u);
}

BOOST_AUTO_TEST_CASE(local_length_must_be_eight) {
  for (std::uint32_t length : {0u, 4u, 7u, 9u, 16u}) {
    RequesterBench b;
    b.post(WorkOpcode::atomic_fetch_add, length);
    b.expect_silence();
    b.expect_completion(0, WorkStatus::local_length_error);
  }
}

BOOST_AUTO_TEST_CASE(lost_acknowledge_is_asked_for_again) {
  RequesterBench b;
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.post(WorkOpcode::atomic_fetch_add, 8, 8);
  b.expect_packets(fetch_add, 0, 1);
  b.inject(atomic_ack(1, 9));
  b.expect_no_completion();
  b.expect_packets(fetch_add, 0, 1);
  b.inject(atomic_ack(0, 8));
  b.inject(atomic_ack(1, 9));
  b.expect_completion(0);
  b.expect_completion(1);
  BOOST_TEST(b.memory.word(kBase) == 8u);
  BOOST_TEST(b.memory.word(kBase + 8) == 9u);
}

BOOST_AUTO_TEST_CASE(read_response_to_an_atomic_is_a_bad_response) {
  RequesterBench b;
  b.post(WorkOpcode::atomic_fetch_add, 8);
  b.inject(response(read_response_only, 0, 0, 8));
  b.expect_completion(0, WorkStatus::bad_response_error);
}

BOOST_AUTO_TEST_CASE(negative_aeth_in_an_atomic_acknowledge_is_a_bad_response) {
  RequesterBench b;
  b.post(WorkOpcode::atomic_fetch_add, 8);
  Packet packet = atomic_ack(0, 1);
  packet.headers.aeth.syndrome = wire::rnr_nak_syndrome(1);
  b.inject(packet);
  b.expect_completion(0, WorkStatus::bad_response_error);
}

BOOST_AUTO_TEST_CASE(result_without_local_write_is_a_protection_error) {
  RequesterBench b;
  b.keys.add(0x88, PdId{3}, b.memory, {AccessRight::local_read});
  SendRequest request = b.request(WorkOpcode::atomic_fetch_add, 8);
  const Sge sge{kBase, 8, Lkey{0x88}};
  request.sges = {&sge, 1};
  b.post(request);
  b.inject(atomic_ack(0, 1));
  b.expect_completion(0, WorkStatus::local_protection_error);
}

SendRequest atomic_write_request(const std::vector<std::byte>& data) {
  SendRequest request = RequesterBench::request(WorkOpcode::atomic_write, 0);
  request.is_inline = true;
  request.sges = {};
  request.inline_data = data;
  request.length = data.size();
  return request;
}

// IBTA A19: one packet, complete when an empty READ response has come.
BOOST_AUTO_TEST_CASE(atomic_write_awaits_a_response_without_data) {
  const std::vector<std::byte> data = pattern(8, 9);
  RequesterBench b({.max_reads = 1});
  b.post(atomic_write_request(data));
  b.post(WorkOpcode::rdma_read, 8);
  const SentPacket sent = b.expect(atomic_write, 0);
  BOOST_TEST(sent.payload == data);
  BOOST_TEST(sent.headers.reth.dma_length == 8u);
  BOOST_TEST(sent.headers.bth.ack_request);
  b.expect_silence();  // it counts as a READ under way
  b.inject(read_response(read_response_only, 0, {}));
  const Completion completion = b.expect_completion(0);
  BOOST_TEST(static_cast<int>(completion.opcode) == static_cast<int>(CompletionOpcode::atomic_write));
  b.expect(read_request, 1);
}

BOOST_AUTO_TEST_CASE(atomic_write_that_is_answered_by_anything_else_is_a_bad_response) {
  const std::vector<std::byte> data = pattern(8, 9);
  for (const bool with_data : {true, false}) {
    RequesterBench b;
    b.post(atomic_write_request(data));
    b.expect(atomic_write, 0);
    b.inject(with_data ? response(read_response_only, 0, 0, 8) : response(read_response_first, 0, 0, 1024));
    b.expect_completion(0, WorkStatus::bad_response_error);
  }
}

BOOST_AUTO_TEST_CASE(atomic_write_has_eight_inline_bytes) {
  const std::vector<std::byte> data = pattern(16, 9);
  for (const std::size_t length : {0u, 7u, 16u}) {
    RequesterBench b;
    b.post(atomic_write_request({data.begin(), data.begin() + static_cast<std::ptrdiff_t>(length)}));
    b.expect_completion(0, WorkStatus::local_length_error);
  }
  RequesterBench b;
  b.post(WorkOpcode::atomic_write, 8);
  b.expect_completion(0, WorkStatus::local_qp_operation_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
