// Messages whose data travels in the completion (Host::completion_room).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/keeping_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace {

struct RoomBench : KeepingBench {
  RoomBench() { host.room = 32; }
  std::uint32_t post_private(std::uint32_t length = 64) { return post(length, 0, kPrivateKey); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(left_to_completion, RoomBench)

BOOST_AUTO_TEST_CASE(an_only_packet_is_written_nowhere_and_acknowledged) {
  post_private();
  ask(send_only(0, 32, 5));
  BOOST_CHECK(host.writes.empty());
  BOOST_CHECK(host.data_in_completions.at(0) == pattern(32, 5));
  const Completion done = completion();
  BOOST_CHECK(done.status == WorkStatus::success);
  BOOST_CHECK_EQUAL(done.byte_length, 32u);
  BOOST_CHECK(is_ack(take(), psn(0)));
}

BOOST_AUTO_TEST_CASE(what_has_no_room_or_no_data_is_not_left) {
  std::uint32_t offset = 0;
  for (const std::uint32_t length : {0u, 33u}) {
    post_private();
    ask(send_only(offset++, length, 5));
    BOOST_CHECK(host.data_in_completions.back().empty());
  }
  BOOST_CHECK(memory.bytes(kBuffer, 33) == pattern(33, 5));
}

BOOST_AUTO_TEST_CASE(what_peers_may_use_is_written) {
  post();
  ask(send_only(0, 8, 5));
  BOOST_CHECK(host.data_in_completions.at(0).empty());
  BOOST_CHECK(memory.bytes(kBuffer, 8) == pattern(8, 5));
}

BOOST_AUTO_TEST_CASE(the_last_packet_of_a_longer_message_is_written) {
  post_private(kMtu + 8);
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(send(Operation::send_last, 1, pattern(8, 0, kMtu)));
  BOOST_CHECK(host.data_in_completions.at(0).empty());
  BOOST_CHECK(memory.bytes(kBuffer, kMtu + 8) == pattern(kMtu + 8));
}

BOOST_AUTO_TEST_CASE(a_wrong_key_and_too_little_room_are_what_they_were) {
  receives.post({Sge{kBuffer, 4, Lkey{kPrivateKey}}, Sge{kBuffer, 64, Lkey{kForeignKey}}});
  ask(send_only(0, 8));
  BOOST_CHECK(completion().status == WorkStatus::local_protection_error);
  BOOST_CHECK(host.data_in_completions.at(0).empty());
  RoomBench other;
  other.post_private(7);
  other.ask(send_only(0, 8));
  BOOST_CHECK(other.completion().status == WorkStatus::local_length_error);
}

BOOST_AUTO_TEST_CASE(messages_that_were_held_come_in_order_and_once) {
  for (int i = 0; i < 3; ++i) post_private();
  ask(send_only(2, 8, 3));
  ask(send_only(1, 8, 2));
  ask(send_only(0, 8, 1));
  ask(send_only(1, 8, 2));
  BOOST_REQUIRE_EQUAL(host.completions.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_CHECK_EQUAL(completion().wqe_index, i);
    BOOST_CHECK(host.data_in_completions.at(i) == pattern(8, static_cast<std::uint8_t>(i + 1)));
  }
}

BOOST_AUTO_TEST_CASE(errors_carry_nothing) {
  keys.invalidate_result = KeyCheck::unknown_key;
  post_private();
  post_private();
  Packet packet = send(Operation::send_only_invalidate, 0, pattern(8));
  packet.headers.invalidate = wire::Rkey{0x77};
  ask(packet);
  responder.flush();
  flush();
  BOOST_CHECK(completion().status == WorkStatus::remote_invalid_request_error);
  BOOST_CHECK(completion().status == WorkStatus::flushed);
  for (const auto& data : host.data_in_completions) BOOST_CHECK(data.empty());
}

BOOST_AUTO_TEST_CASE(a_write_with_immediate_data_leaves_nothing_of_the_receive_before) {
  post_private();
  post_private();
  ask(send_only(0, 8));
  ask(write(Operation::write_only_immediate, 1, pattern(8), 8));
  BOOST_CHECK(host.data_in_completions.at(0) == pattern(8));
  BOOST_CHECK(host.data_in_completions.at(1).empty());
  BOOST_CHECK(memory.bytes(kBase, 8) == pattern(8));
}

BOOST_AUTO_TEST_SUITE_END()
