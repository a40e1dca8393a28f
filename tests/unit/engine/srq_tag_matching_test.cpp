// Tag matching: where messages go, what is reported, keeping in step.
#include <boost/test/unit_test.hpp>

#include "tests/unit/engine/tagged_fixture.hpp"

namespace urnic::engine::test {

BOOST_FIXTURE_TEST_SUITE(tag_matching, Tagged)

BOOST_AUTO_TEST_CASE(an_eager_message_goes_to_its_buffer_without_its_header) {
  add(3, 7, kEveryBit, 8192, kSignaled);
  const Polled added = expect(kTagAdd, 0, 0);
  BOOST_TEST(info(added).tag == 0u);
  send(peer0, kEager, 7, kHeader + 100);
  const Polled polled = expect(kTagged, 3, kWhole);
  BOOST_TEST(polled.byte_length == 100u);
  BOOST_TEST(polled.qpn == qp0->qpn().value);
  BOOST_TEST(info(polled).tag == 7u);
  BOOST_TEST(info(polled).user_data == kUserData);
  BOOST_TEST(std::memcmp(&program1.bytes[buffer(3)], &program0.bytes[kSource + kHeader], 100) == 0);
  BOOST_TEST(nothing_more());
  BOOST_TEST(peer0.send_cq.poll()->status == 0);
}

BOOST_AUTO_TEST_CASE(buffers_are_taken_in_the_order_of_posting_by_all_queue_pairs) {
  for (const std::uint32_t entry : {5u, 2u, 9u}) add(entry, 7);
  add(1, 0, 0);
  send(peer0, kEager, 7, 50);
  send(peer1, kEager, 7, 50);
  send(peer0, kEager, 8, 50);
  send(peer1, kEager, 7, 50);
  for (const std::uint32_t entry : {5u, 2u, 1u, 9u}) expect(kTagged, entry, kWhole);
}

BOOST_AUTO_TEST_CASE(a_message_with_nothing_behind_its_header_matches_too) {
  tags.add(0, 7, kEveryBit, {});
  run();
  send(peer0, kEager, 7, kHeader);
  BOOST_TEST(expect(kTagged, 0, kWhole).byte_length == 0u);
}

BOOST_AUTO_TEST_CASE(of_a_long_message_match_and_end_are_two_things) {
  add(3, 7);
  send(peer0, kEager, 7, kHeader + 5000);
  const Polled match = expect(kTagged, 3, kMatchOnly);
  BOOST_TEST(info(match).tag == 7u);
  const Polled end = expect(kTagged, 3, kDataOnly);
  BOOST_TEST(end.byte_length == 5000u);
  BOOST_TEST(info(end).tag == 0u);
  BOOST_TEST(std::memcmp(&program1.bytes[buffer(3)], &program0.bytes[kSource + kHeader], 5000) == 0);
}

BOOST_AUTO_TEST_CASE(a_buffer_in_pieces_is_filled_piece_by_piece) {
  const abi::ScatterGather pieces[] = {program1.sge(buffer(0), 10), program1.sge(buffer(1), 2000),
                                       program1.sge(buffer(2), 8000)};
  tags.add(0, 7, kEveryBit, pieces);
  run();
  send(peer0, kEager, 7, kHeader + 3000);
  expect(kTagged, 0, kMatchOnly);
  expect(kTagged, 0, kDataOnly);
  const std::byte* const sent = &program0.bytes[kSource + kHeader];
  BOOST_TEST(std::memcmp(&program1.bytes[buffer(0)], sent, 10) == 0);
  BOOST_TEST(std::memcmp(&program1.bytes[buffer(1)], sent + 10, 2000) == 0);
  BOOST_TEST(std::memcmp(&program1.bytes[buffer(2)], sent + 2010, 990) == 0);
}

BOOST_AUTO_TEST_CASE(what_no_buffer_wants_goes_to_an_ordinary_receive_with_its_header) {
  add(3, 7);
  post_receive(5);
  send(peer0, kEager, 8, 100);
  const Polled polled = expect(kTagged, 5, 0);
  BOOST_TEST(polled.byte_length == 100u);
  BOOST_TEST(info(polled).tag == 0u);
  BOOST_TEST(std::memcmp(&program1.bytes[5 * 8192], &program0.bytes[kSource], 100) == 0);
}

BOOST_AUTO_TEST_CASE(messages_without_a_tag_are_not_matched_and_not_counted) {
  add(3, 0, 0);
  for (const std::uint32_t slot : {0u, 1u, 2u}) post_receive(slot);
  send(peer0, kNoTag, 7, 100);
  send(peer0, kNoTag, 7, 1);
  send(peer0, kFinish, 7, 32);
  for (const std::uint32_t slot : {0u, 1u, 2u}) expect(kWithoutTag, slot, 0);
  add(4, 9, kEveryBit, 100, kSignaled);
  expect(kTagAdd, 1, 0);
}

BOOST_AUTO_TEST_CASE(what_is_no_message_of_tag_matching_is_an_ordinary_receive) {
  add(3, 0, 0);
  for (std::uint32_t slot = 0; slot < 6; ++slot) post_receive(slot);
  send(peer0, kEager, 7, 15);
  send(peer0, kRendezvous, 7, 31);
  send(peer0, kRendezvous, 7, 65);
  send(peer0, kRendezvous, 7, 3000);
  send(peer0, 200, 7, 100);
  send(peer0, kEager, 7, 0);
  for (std::uint32_t slot = 0; slot < 6; ++slot) expect(kReceive, slot, 0);
  BOOST_TEST(state_of(*qp0) != kError);
}

BOOST_AUTO_TEST_CASE(an_rdma_write_with_immediate_data_takes_an_ordinary_receive) {
  add(3, 0, 0);
  post_receive(4);
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write_with_immediate);
  head.remote_address = program1.address(buffer(8));
  head.rkey = program1.key.value;
  const abi::ScatterGather from[] = {program0.sge(kSource, 100)};
  peer0.post_send(head, from);
  run();
  const Polled polled = expect(kReceiveRdmaWithImmediate, 4, 0);
  BOOST_TEST((polled.flags & abi::cqe_with_immediate) != 0);
  BOOST_TEST(std::memcmp(&program1.bytes[buffer(8)], &program0.bytes[kSource], 100) == 0);
}

BOOST_AUTO_TEST_CASE(immediate_data_comes_with_the_message) {
  add(3, 7);
  write_header(kEager, 7);
  abi::SendWqe head = wqe(abi::SendOpcode::send_with_immediate);
  head.immediate_or_rkey = 0x01020304;
  const abi::ScatterGather from[] = {program0.sge(kSource, 100)};
  peer0.post_send(head, from);
  run();
  const Polled polled = expect(kTagged, 3, kWhole);
  BOOST_TEST((polled.flags & abi::cqe_with_immediate) != 0);
  BOOST_TEST(polled.immediate_or_rkey == 0x01020304u);
}

// The peer tries again, and meanwhile a buffer was posted: only now the message is matched.
BOOST_AUTO_TEST_CASE(a_message_without_room_has_not_been_there) {
  send(peer0, kEager, 7, 100);
  BOOST_TEST(device1.counters().rnr_nak_sent > 0u);
  add(3, 7, kEveryBit, 100, kSignaled);
  expect(kTagAdd, 0, 0);
  advance(transport::Nanoseconds(1'000'000'000));
  expect(kTagged, 3, kWhole);
}

// What the program has posted counts from its store to the producer index on: a program that tells its
// peer to send after that need not wait for the engine.
BOOST_AUTO_TEST_CASE(a_buffer_counts_as_soon_as_it_is_posted) {
  abi::TagOperation operation{};
  operation.entry = 3;
  operation.tag = 7;
  operation.mask = kEveryBit;
  tags.write(operation);
  send(peer0, kEager, 7, kHeader);
  expect(kTagged, 3, kWhole);
}

BOOST_AUTO_TEST_SUITE_END()

// Messages that were unexpected, and buffers posted before the program knew of them.
BOOST_FIXTURE_TEST_SUITE(tag_matching_in_step, Tagged)

BOOST_AUTO_TEST_CASE(a_buffer_posted_out_of_step_waits_until_the_program_has_told) {
  for (std::uint32_t slot = 0; slot < 4; ++slot) post_receive(slot);
  send(peer0, kEager, 7, 100);
  add(3, 7, kEveryBit, 100, kSignaled);  // without knowing of the message
  expect_unexpected(0);
  expect(kTagAdd, 0, abi::tag_sync_required);
  send(peer0, kEager, 7, 100);
  expect_unexpected(1, abi::tag_sync_required);
  tags.sync(1);
  run();
  expect(kTagSync, 1, abi::tag_sync_required);
  send(peer0, kEager, 7, 100);
  expect_unexpected(2, abi::tag_sync_required);
  tags.sync(3);
  run();
  expect(kTagSync, 2, 0);
  send(peer0, kEager, 7, 100);
  expect(kTagged, 3, kWhole);
}

BOOST_AUTO_TEST_CASE(buffers_posted_before_go_on_being_matched) {
  add(1, 7);
  post_receive(0);
  send(peer0, kEager, 8, 100);
  expect_unexpected(0);
  add(2, 7);
  send(peer0, kEager, 7, 100);
  expect(kTagged, 1, kWhole);
}

BOOST_AUTO_TEST_CASE(an_operation_that_tells_the_count_puts_in_step_itself) {
  post_receive(0);
  send(peer0, kEager, 8, 100);
  expect_unexpected(0);
  const abi::ScatterGather to[] = {program1.sge(buffer(2), 100)};
  tags.add(2, 7, kEveryBit, to, kSignaled | abi::tag_operation_sync, 1);
  run();
  expect(kTagAdd, 0, 0);
  send(peer0, kEager, 7, 100);
  expect(kTagged, 2, kWhole);
}

BOOST_AUTO_TEST_CASE(a_count_without_the_flag_says_nothing) {
  post_receive(0);
  post_receive(1);
  send(peer0, kEager, 8, 100);
  expect_unexpected(0);
  const abi::ScatterGather to[] = {program1.sge(buffer(2), 100)};
  tags.add(2, 7, kEveryBit, to, kSignaled, 1);
  run();
  expect(kTagAdd, 0, abi::tag_sync_required);
  tags.remove(2);
  run();
  expect(kTagRemove, 1, abi::tag_sync_required);
}

// Between the arrival of an unexpected message's first packet and its completion.
BOOST_AUTO_TEST_CASE(a_message_on_its_way_to_the_program_counts_already) {
  const abi::ScatterGather to[] = {program1.sge(0, 400 * 1024)};
  srq.post(0, to);
  write_header(kEager, 8);
  const abi::ScatterGather from[] = {program0.sge(kSource, 300 * 1024)};
  peer0.post_send(wqe(abi::SendOpcode::send), from);
  run_sends_of_program0();
  const abi::ScatterGather tagged[] = {program1.sge(buffer(2), 100)};
  tags.add(2, 7, kEveryBit, tagged, kSignaled);
  tags.sync(0);
  program1.doorbell_set.collect();
  expect(kTagAdd, 0, abi::tag_sync_required);
  expect(kTagSync, 1, 0);  // in vain: there is nothing to tell yet
  run();
  expect_unexpected(0, abi::tag_sync_required);
  tags.sync(1);
  run();
  expect(kTagSync, 2, 0);
  send(peer1, kEager, 7, 50);
  expect(kTagged, 2, kWhole);
}

// The program hears of no message, so it will never tell of it.
BOOST_AUTO_TEST_CASE(a_message_that_failed_on_its_way_does_not_count) {
  post_receive(0, 2000);
  send(peer0, kEager, 8, 4000);
  expect(kReceive, 0, 0, kLengthError);
  add(2, 7, kEveryBit, 100, kSignaled);
  expect(kTagAdd, 0, 0);
  send(peer1, kEager, 7, 50);
  expect(kTagged, 2, kWhole);
}

BOOST_AUTO_TEST_CASE(a_message_that_ends_with_its_queue_pair_does_not_count) {
  const abi::ScatterGather to[] = {program1.sge(0, 400 * 1024)};
  srq.post(0, to);
  write_header(kEager, 8);
  const abi::ScatterGather from[] = {program0.sge(kSource, 300 * 1024)};
  peer0.post_send(wqe(abi::SendOpcode::send), from);
  run_sends_of_program0();
  add_without_running(2, 7);
  qp0.reset();
  BOOST_TEST(nothing_more());
  send(peer1, kEager, 7, 50);
  expect(kTagged, 2, kWhole);
  send(peer1, kEager, 8, 50);
  expect_unexpected(0);  // the receive is taken by the next
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
