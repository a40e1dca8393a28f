#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(send_requests, ResponderBench)

BOOST_AUTO_TEST_CASE(an_only_packet_fills_and_completes_a_receive) {
  const std::uint32_t index = post();
  Packet packet = send_only(0, 100);
  packet.headers.bth.solicited = true;
  ask(packet);
  BOOST_CHECK(memory.bytes(kBuffer, 100) == pattern(100));
  BOOST_REQUIRE_EQUAL(host.completions.size(), 1u);
  const Completion done = completion();
  BOOST_CHECK(done.status == WorkStatus::success);
  BOOST_CHECK(done.opcode == CompletionOpcode::receive);
  BOOST_CHECK(done.receive);
  BOOST_CHECK_EQUAL(done.wqe_index, index);
  BOOST_CHECK_EQUAL(done.byte_length, 100u);
  BOOST_CHECK(done.qpn == kQpn);
  BOOST_CHECK(done.source == kPeer);
  BOOST_CHECK(done.solicited);
  BOOST_CHECK(!done.with_immediate);
  BOOST_CHECK(!done.with_invalidate);
  BOOST_CHECK_EQUAL(receives.retired(), 1u);
}

BOOST_AUTO_TEST_CASE(first_middle_last_are_one_message) {
  post();
  const auto message = pattern(2 * kMtu + 5);
  const auto part = [&](std::size_t from, std::size_t size) {
    return std::vector<std::byte>(message.begin() + from, message.begin() + from + size);
  };
  ask(send(Operation::send_first, 0, part(0, kMtu)));
  ask(send(Operation::send_middle, 1, part(kMtu, kMtu)));
  BOOST_CHECK(host.completions.empty());
  ask(send(Operation::send_last, 2, part(2 * kMtu, 5)));
  BOOST_CHECK(memory.bytes(kBuffer, message.size()) == message);
  BOOST_CHECK_EQUAL(completion().byte_length, message.size());
  BOOST_CHECK_EQUAL(counters.received_send_requests, 1u);
}

BOOST_AUTO_TEST_CASE(only_the_last_bytes_are_written_as_message_end) {
  receives.post({Sge{kBuffer, kMtu, Lkey{kKey}}, Sge{kBuffer + 0x1000, 4, Lkey{kKey}},
                 Sge{kBuffer + 0x2000, 100, Lkey{kKey}}});
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(send(Operation::send_last, 1, pattern(10)));
  BOOST_REQUIRE_EQUAL(host.writes.size(), 3u);
  BOOST_CHECK(!host.writes[0].message_end);
  BOOST_CHECK(!host.writes[1].message_end);
  BOOST_CHECK(host.writes[2].message_end);
}

BOOST_AUTO_TEST_CASE(data_is_scattered_over_sges_across_packets_and_empty_ones) {
  receives.post({Sge{kBuffer, 100, Lkey{kKey}}, Sge{kBuffer + 0x500, 0, Lkey{0}},
                 Sge{kBuffer + 0x1000, 300, Lkey{kKey}}, Sge{kBuffer + 0x2000, 1000, Lkey{kKey}}});
  const auto message = pattern(kMtu + 200);
  ask(send(Operation::send_first, 0, {message.begin(), message.begin() + kMtu}));
  ask(send(Operation::send_last, 1, {message.begin() + kMtu, message.end()}));
  BOOST_CHECK(memory.bytes(kBuffer, 100) == pattern(100));
  BOOST_CHECK(memory.bytes(kBuffer + 0x1000, 300) == pattern(300, 0, 100));
  BOOST_CHECK(memory.bytes(kBuffer + 0x2000, 56) == pattern(56, 0, 400));
  BOOST_CHECK(completion().status == WorkStatus::success);
}

BOOST_AUTO_TEST_CASE(a_message_as_long_as_the_receive_fits) {
  post(100);
  ask(send_only(0, 100));
  BOOST_CHECK(completion().status == WorkStatus::success);
}

BOOST_AUTO_TEST_CASE(a_message_without_data_completes_a_receive_without_sges) {
  receives.post({});
  ask(send_only(0, 0));
  const Completion done = completion();
  BOOST_CHECK(done.status == WorkStatus::success);
  BOOST_CHECK_EQUAL(done.byte_length, 0u);
  BOOST_CHECK(is_ack(take(), psn(0)));
}

BOOST_AUTO_TEST_CASE(immediate_data_comes_with_the_completion) {
  post();
  Packet packet = send(Operation::send_only_immediate, 0, pattern(8));
  packet.headers.immediate = {{1, 2, 3, 4}};
  ask(packet);
  const Completion done = completion();
  BOOST_CHECK(done.with_immediate);
  BOOST_CHECK((done.immediate == wire::Immediate{{1, 2, 3, 4}}));
}

BOOST_AUTO_TEST_CASE(solicited_counts_only_on_the_last_packet) {
  post();
  Packet first = send(Operation::send_first, 0, pattern(kMtu));
  first.headers.bth.solicited = true;
  ask(first);
  ask(send(Operation::send_last, 1, pattern(1)));
  BOOST_CHECK(!completion().solicited);
}

BOOST_AUTO_TEST_CASE(receives_complete_in_order) {
  for (std::uint32_t i = 0; i < 20; ++i) post(64, 64 * i);
  for (std::uint32_t i = 0; i < 20; ++i) give(send_only(i, i, static_cast<std::uint8_t>(i)));
  settle();
  BOOST_REQUIRE_EQUAL(host.completions.size(), 20u);
  for (std::uint32_t i = 0; i < 20; ++i) {
    BOOST_CHECK_EQUAL(host.completions[i].wqe_index, i);
    BOOST_CHECK_EQUAL(host.completions[i].byte_length, i);
    BOOST_CHECK(memory.bytes(kBuffer + 64 * i, i) == pattern(i, static_cast<std::uint8_t>(i)));
  }
}

BOOST_AUTO_TEST_CASE(the_completion_comes_behind_the_data_and_the_acknowledge) {
  post();
  give(send_only(0, 100));
  BOOST_CHECK(host.completions.empty());  // kept until the batch is carried out
  memory.unmap(kBuffer, 1);
  settle();
  BOOST_CHECK(completion().status == WorkStatus::local_protection_error);
  BOOST_CHECK(!is_ack(take(), psn(0)));
}

BOOST_AUTO_TEST_CASE(invalidate_withdraws_the_key_and_is_reported) {
  post();
  Packet packet = send(Operation::send_only_invalidate, 0, pattern(8));
  packet.headers.invalidate = wire::Rkey{0x77};
  ask(packet);
  BOOST_REQUIRE_EQUAL(keys.invalidated.size(), 1u);
  BOOST_CHECK(keys.invalidated[0] == wire::Rkey{0x77});
  const Completion done = completion();
  BOOST_CHECK(done.status == WorkStatus::success);
  BOOST_CHECK(done.with_invalidate);
  BOOST_CHECK(done.invalidated == wire::Rkey{0x77});
}

BOOST_AUTO_TEST_CASE(invalidate_happens_once_for_a_message_and_not_again_for_a_duplicate) {
  post();
  Packet packet = send(Operation::send_only_invalidate, 0, pattern(8));
  ask(packet);
  ask(packet);
  BOOST_CHECK_EQUAL(keys.invalidated.size(), 1u);
}

BOOST_AUTO_TEST_CASE(a_failed_invalidate_completes_in_error_behind_an_acknowledged_message) {
  post();
  post();
  keys.invalidate_result = KeyCheck::unknown_key;
  ask(send(Operation::send_only_invalidate, 0, pattern(8)));
  BOOST_CHECK(completion().status == WorkStatus::remote_invalid_request_error);
  BOOST_CHECK(is_ack(take(), psn(0)));
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_SUITE_END()
