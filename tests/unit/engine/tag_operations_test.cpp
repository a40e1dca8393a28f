// Tag matching: operations on the list of buffers, and what goes wrong.
#include <boost/test/unit_test.hpp>

#include "tests/unit/engine/tagged_fixture.hpp"

namespace urnic::engine::test {

BOOST_FIXTURE_TEST_SUITE(tag_operations, Tagged)

BOOST_AUTO_TEST_CASE(only_those_that_ask_for_it_complete) {
  add(0, 7);
  tags.remove(0, 0);
  run();
  BOOST_TEST(nothing_more());
  BOOST_TEST(tags.indices.consumed.load() == 2u);
  BOOST_TEST(tags.posted().removed == 1u);
}

BOOST_AUTO_TEST_CASE(a_removed_buffer_matches_nothing_and_its_entry_is_free) {
  add(0, 7);
  tags.remove(0);
  run();
  expect(kTagRemove, 1, 0);
  post_receive(3);
  send(peer0, kEager, 7, 50);
  expect_unexpected(3);
  tags.sync(1);
  add(0, 8);
  expect(kTagSync, 2, 0);
  send(peer0, kEager, 8, 50);
  expect(kTagged, 0, kWhole);
}

BOOST_AUTO_TEST_CASE(a_buffer_that_was_matched_cannot_be_removed) {
  add(0, 7);
  send(peer0, kEager, 7, 50);
  tags.remove(0);
  tags.remove(abi::kNoTagEntry);
  run();
  expect(kTagged, 0, kWhole);
  expect(kTagRemove, 1, 0, kTagError);
  BOOST_TEST(tags.posted(1).removed == 0u);
  expect(kTagRemove, 2, 0, kTagError);
  BOOST_TEST(srq.device_end->broken() == false);
}

BOOST_AUTO_TEST_CASE(an_entry_is_free_again_with_its_last_completion) {
  add(0, 7);
  send(peer0, kEager, 7, kHeader + 5000);
  expect(kTagged, 0, kMatchOnly);
  expect(kTagged, 0, kDataOnly);
  add(0, 7);
  send(peer0, kEager, 7, kHeader + 10);
  expect(kTagged, 0, kWhole);
}

BOOST_AUTO_TEST_CASE(the_ring_goes_round_many_times) {
  for (std::uint32_t i = 0; i < 1000; ++i) {
    add(i % 5, i, kEveryBit, 100, kSignaled);
    expect(kTagAdd, i, 0);
    send(i % 2 == 0 ? peer0 : peer1, kEager, i, 50);
    expect(kTagged, i % 5, kWhole);
    (i % 2 == 0 ? peer0 : peer1).send_cq.poll();
  }
}

BOOST_AUTO_TEST_CASE(what_no_program_writes_breaks_the_queue) {
  const auto breaks = [](auto write) {
    Tagged fixture;
    fixture.add(0, 7);
    write(fixture.tags);
    fixture.run();
    BOOST_TEST(fixture.srq.device_end->broken());
    BOOST_TEST((fixture.events() == std::vector<std::uint32_t>{kEventSrqError}));
    fixture.send(fixture.peer0, kEager, 7, 50);
    BOOST_TEST(fixture.state_of(*fixture.qp0) == kError);
  };
  breaks([](TestTags& list) { list.add(0, 8, kEveryBit, {}); });   // has a buffer
  breaks([](TestTags& list) { list.add(64, 8, kEveryBit, {}); });  // is none
  breaks([](TestTags& list) {
    abi::TagOperation operation{};
    operation.entry = 1;
    operation.sge_count = abi::kMaxTagSge + 1;
    list.post(operation);
  });
  breaks([](TestTags& list) {
    abi::TagOperation operation{};
    operation.opcode = 3;
    list.post(operation);
  });
  breaks([](TestTags& list) {
    list.indices.producer.store(list.indices.producer.load() + TestTags::kSlots);
    list.sync(0);
  });
}

BOOST_AUTO_TEST_CASE(a_full_completion_queue_breaks_the_queue) {
  TestTags small(program1, srq, 10, 4, 2);
  for (int i = 0; i < 3; ++i) small.sync(0);
  run();
  BOOST_TEST(srq.device_end->broken());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(tag_errors, Tagged)

BOOST_AUTO_TEST_CASE(a_buffer_that_is_too_small_is_a_length_error) {
  add(0, 7, kEveryBit, 100);
  send(peer0, kEager, 7, kHeader + 101);
  expect(kTagged, 0, kEndOnly, kLengthError);
  BOOST_TEST(state_of(*qp0) == kError);
  add(0, 7, kEveryBit, 100);
  send(peer1, kEager, 7, kHeader + 100);
  expect(kTagged, 0, kWhole);
}

BOOST_AUTO_TEST_CASE(a_buffer_with_a_bad_key_is_a_protection_error) {
  abi::ScatterGather to[] = {program1.sge(buffer(0), 100)};
  to[0].lkey ^= 0xFF00;
  tags.add(0, 7, kEveryBit, to);
  run();
  send(peer0, kEager, 7, 100);
  expect(kTagged, 0, kEndOnly, kProtectionError);
  BOOST_TEST(state_of(*qp0) == kError);
}

// Found only when the bytes are to be written: completions behind it were taken back.
BOOST_AUTO_TEST_CASE(memory_that_is_gone_is_a_protection_error_and_ends_what_is_behind_it) {
  add(0, 7, kEveryBit, 100);
  add(1, 8, kEveryBit, 100);
  add(2, 9, kEveryBit, 3000);
  program1.memory.remove_range(program1.bytes);
  write_header(kEager, 7);
  post_message(peer0, 100);
  run_sends_of_program0();
  for (const std::uint64_t tag : {8ull, 9ull}) {
    write_header(kEager, tag);
    post_message(peer0, 100);
  }
  run();
  expect(kTagged, 0, kEndOnly, kProtectionError);
  BOOST_TEST(state_of(*qp0) == kError);
}

BOOST_AUTO_TEST_CASE(a_buffer_whose_queue_pair_goes_is_flushed) {
  for (const bool by_reset : {true, false}) {
    Tagged fixture;
    const abi::ScatterGather to[] = {fixture.program1.sge(0, 400 * 1024)};
    fixture.tags.add(0, 7, kEveryBit, to);
    fixture.run();
    fixture.write_header(kEager, 7);
    const abi::ScatterGather from[] = {fixture.program0.sge(kSource, 300 * 1024)};
    fixture.peer0.post_send(wqe(abi::SendOpcode::send), from);
    fixture.run_sends_of_program0();
    if (by_reset) {
      fixture.engine.execute([&] {
        fixture.qp0->device_end().modify(QpState::reset, Fabric::parameters(fixture.peer0, 1024), {});
      });
    } else {
      fixture.qp0.reset();
    }
    fixture.expect(kTagged, 0, kMatchOnly);
    fixture.expect(kTagged, 0, kEndOnly, kFlushed);
    fixture.add(0, 7);
    fixture.send(fixture.peer1, kEager, 7, 100);
    fixture.expect(kTagged, 0, kWhole);
  }
}

BOOST_AUTO_TEST_CASE(an_error_flushes_only_what_its_queue_pair_has) {
  add(0, 7);
  engine.execute([&] { qp0->device_end().modify(QpState::error, parameters(peer0, 1024), {}); });
  run();
  BOOST_TEST(nothing_more());
  send(peer1, kEager, 7, 100);
  expect(kTagged, 0, kWhole);
}

BOOST_AUTO_TEST_CASE(a_full_completion_queue_ends_its_queue_pairs) {
  Fabric other;
  TestSrq other_srq(other.program1, 4);
  TestTags small(other.program1, other_srq, 9, 4, 2);
  TestQp peer(other.program0, 0, {});
  TestQp qp(other.program1, 1,
            {.send_slots = 0,
             .receive_slots = 0,
             .srq = other_srq.device_end.get(),
             .tags = small.device_end.get()});
  Fabric::connect(peer, qp);
  for (std::uint32_t entry = 0; entry < 4; ++entry) small.add(entry, 0, 0, {});
  other.program0.bytes[0] = std::byte{kEager};
  const abi::ScatterGather from[] = {other.program0.sge(0, kHeader)};
  for (int i = 0; i < 3; ++i) peer.post_send(wqe(abi::SendOpcode::send), from);
  other.run();
  BOOST_TEST((qp.device_end().state() == QpState::error));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
