#include "device_model/engine/completion/completion_queue.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace {

transport::Completion completion_of(std::uint32_t index, bool solicited = false) {
  transport::Completion completion;
  completion.wqe_index = index;
  completion.solicited = solicited;
  return completion;
}

constexpr std::uint64_t kHandle = 77;
constexpr transport::Time kNow{transport::Nanoseconds(5000)};

struct Queue {
  TestPipe channel{8};
  TestPipe async_events{16};
  TestCq cq{8, &channel.device_end(), &async_events.device_end(), kHandle};

  bool push(std::uint32_t index, bool solicited = false) {
    return cq.device_end->push(completion_of(index, solicited));
  }
  bool event_raised() {
    const auto record = channel.read();
    if (record) BOOST_TEST(record->element == kHandle);
    return record.has_value();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(completion_queue, Queue)

BOOST_AUTO_TEST_CASE(entries_come_in_order_over_many_laps) {
  for (std::uint32_t i = 0; i < 100; ++i) {
    BOOST_TEST(!cq.poll());
    BOOST_REQUIRE(push(i));
    const auto entry = cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->wqe_index == i);
  }
}

BOOST_AUTO_TEST_CASE(each_completion_has_the_time_at_which_it_was_made_if_it_is_to) {
  static std::uint64_t time = 1000;
  std::vector<abi::Cqe> ring(4);
  abi::CompletionQueueIndices indices{};
  engine::CompletionQueue stamped(
      {.ring = ring.data(), .slots = 4, .indices = &indices, .clock = [] { return time++; }});
  BOOST_TEST(!stamped.has_room_for_data());
  BOOST_TEST(cq.device_end->has_room_for_data());
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_REQUIRE(stamped.push(completion_of(i)));
    BOOST_TEST((ring[i].flags & abi::cqe_timestamp) != 0);
    std::uint64_t found = 0;
    std::memcpy(&found, ring[i].inline_data, sizeof found);
    BOOST_TEST(found == 1000u + i);
  }
  push(0);
  BOOST_TEST((cq.poll()->flags & abi::cqe_timestamp) == 0);
}

BOOST_AUTO_TEST_CASE(every_member_reaches_the_entry) {
  transport::Completion completion;
  completion.qpn = wire::Qpn{0xABCDEF};
  completion.wqe_index = 9;
  completion.receive = true;
  completion.opcode = transport::CompletionOpcode::receive_rdma_with_immediate;
  completion.status = transport::WorkStatus::local_length_error;
  completion.byte_length = 12345;
  completion.with_immediate = true;
  completion.immediate = {{0xAA, 0xBB, 0xCC, 0xDD}};
  completion.vendor_error = 6;
  completion.source = wire::Qpn{0x123};
  cq.device_end->push(completion);
  const abi::Cqe& raw = cq.ring[0];
  BOOST_TEST(raw.qpn == 0xABCDEFu);
  BOOST_TEST(raw.wqe_index == 9u);
  BOOST_TEST(raw.opcode == 129);
  BOOST_TEST(raw.status == 1);
  BOOST_TEST(raw.flags == (abi::cqe_receive | abi::cqe_with_immediate));
  BOOST_TEST(raw.byte_length == 12345u);
  BOOST_TEST(raw.immediate_or_rkey == 0xDDCCBBAAu);  // first byte first in memory
  BOOST_TEST(raw.error_or_route == 6u);
  BOOST_TEST(raw.source_qpn == 0x123u);

  completion.with_immediate = false;
  completion.with_invalidate = true;
  completion.invalidated = wire::Rkey{0x55667788};
  cq.device_end->push(completion);
  BOOST_TEST(cq.ring[1].flags == (abi::cqe_receive | abi::cqe_with_invalidate));
  BOOST_TEST(cq.ring[1].immediate_or_rkey == 0x55667788u);
}

BOOST_AUTO_TEST_CASE(overrun_is_reported_once_and_nothing_is_overwritten) {
  for (std::uint32_t i = 0; i < 8; ++i) BOOST_TEST(push(i));
  BOOST_TEST(!push(8));
  BOOST_TEST(!push(9));
  const auto event = async_events.read();
  BOOST_REQUIRE(event);
  BOOST_TEST(event->element == kHandle);
  BOOST_TEST(event->type == 0u);  // IBV_EVENT_CQ_ERR
  BOOST_TEST(!async_events.read());
  BOOST_TEST(cq.device_end->async_events().count == 1u);
  for (std::uint32_t i = 0; i < 8; ++i) BOOST_TEST((cq.poll().value().wqe_index == i));
  BOOST_TEST(!push(10));  // in error for good
}

// IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN.
BOOST_AUTO_TEST_CASE(an_ignored_overrun_loses_the_newest_and_says_nothing) {
  std::vector<abi::Cqe> ring(4);
  abi::CompletionQueueIndices indices{};
  engine::CompletionQueue ignoring({.ring = ring.data(),
                                    .slots = 4,
                                    .indices = &indices,
                                    .user_handle = kHandle,
                                    .channel = &channel.device_end(),
                                    .async_events = &async_events.device_end(),
                                    .ignores_overrun = true});
  BOOST_TEST(!ignoring.has_room_for_data());
  for (std::uint32_t i = 0; i < 10; ++i) BOOST_TEST(ignoring.push(completion_of(i)));
  BOOST_TEST(ignoring.push_tagged(completion_of(10), 1, 0, {}));
  for (std::uint32_t i = 0; i < 4; ++i) BOOST_TEST(ring[i].wqe_index == i);
  BOOST_TEST(!async_events.read());
  BOOST_TEST(ignoring.async_events().count == 0u);
  BOOST_TEST(!ignoring.indices().overrun);
  ignoring.notify({});
  // A program that waits instead of polling is woken by what is lost, too.
  indices.arm.store(1u << 2 | static_cast<std::uint32_t>(abi::ArmKind::next));
  BOOST_TEST(ignoring.push(completion_of(11)));
  ignoring.notify({});
  BOOST_TEST(event_raised());
  // Room again: the next ones go where the program looks for them.
  indices.consumer.store(3);
  for (std::uint32_t i = 20; i < 23; ++i) BOOST_TEST(ignoring.push(completion_of(i)));
  const std::uint32_t expected[] = {20, 21, 22, 3};
  for (std::uint32_t i = 0; i < 4; ++i) {
    BOOST_TEST(ring[i].wqe_index == expected[i]);
    BOOST_TEST(int{ring[i].phase.load()} == (i < 3 ? 0 : 1));
  }
}

BOOST_AUTO_TEST_CASE(a_consumer_index_that_cannot_be_harms_only_its_owner) {
  for (std::uint32_t lie : {1000u, 0x80000000u, 0xFFFFFFFFu}) {
    TestCq hostile(8, nullptr, nullptr, 1);
    for (std::uint32_t i = 0; i < 8; ++i) BOOST_TEST(hostile.device_end->push(completion_of(i)));
    hostile.indices.consumer.store(lie);
    BOOST_TEST(!hostile.device_end->push({}));
  }
}

BOOST_AUTO_TEST_CASE(no_event_without_arming) {
  push(0);
  cq.device_end->notify({});
  BOOST_TEST(!event_raised());
  BOOST_TEST(cq.device_end->completion_events().count == 0u);
}

BOOST_AUTO_TEST_CASE(next_fires_once_for_a_batch_and_once_per_arming) {
  cq.arm(abi::ArmKind::next);
  cq.device_end->notify({});
  BOOST_TEST(!event_raised());  // nothing was added
  push(0);
  push(1);
  cq.device_end->notify({});
  BOOST_TEST(event_raised());
  BOOST_TEST(!event_raised());
  push(2);
  cq.device_end->notify({});
  BOOST_TEST(!event_raised());
  cq.arm(abi::ArmKind::next);
  cq.device_end->notify({});
  BOOST_TEST(!event_raised());  // entries from before the arming do not count
  push(3);
  cq.device_end->notify({});
  BOOST_TEST(event_raised());
  BOOST_TEST(cq.device_end->completion_events().count == 2u);
  BOOST_TEST(cq.indices.arm_fired.load() == cq.indices.arm.load());
}

BOOST_AUTO_TEST_CASE(solicited_waits_for_a_solicited_one) {
  cq.arm(abi::ArmKind::solicited);
  push(0);
  cq.device_end->notify({});
  BOOST_TEST(!event_raised());
  push(1, true);
  push(2);
  cq.device_end->notify({});
  BOOST_TEST(event_raised());
}

BOOST_AUTO_TEST_CASE(arming_for_next_after_solicited_widens_the_request) {
  cq.arm(abi::ArmKind::solicited);
  cq.arm(abi::ArmKind::next);
  push(0);
  cq.device_end->notify({});
  BOOST_TEST(event_raised());
}

BOOST_AUTO_TEST_CASE(a_moderated_event_waits_for_the_count) {
  cq.device_end->moderate({3, transport::Nanoseconds(1000)});
  cq.arm(abi::ArmKind::next);
  push(0);
  cq.device_end->notify(kNow);
  push(1);
  cq.device_end->notify(kNow + transport::Nanoseconds(999));
  BOOST_TEST(!event_raised());
  push(2);
  cq.device_end->notify(kNow + transport::Nanoseconds(999));
  BOOST_TEST(event_raised());
  BOOST_TEST(!cq.device_end->event_due());
}

BOOST_AUTO_TEST_CASE(a_moderated_event_is_due_so_long_after_the_first_completion) {
  cq.device_end->moderate({3, transport::Nanoseconds(1000)});
  cq.arm(abi::ArmKind::next);
  push(0);
  cq.device_end->notify(kNow);
  push(1);
  cq.device_end->notify(kNow + transport::Nanoseconds(500));
  BOOST_CHECK(cq.device_end->event_due() == kNow + transport::Nanoseconds(1000));
  cq.device_end->notify_late();
  BOOST_TEST(event_raised());
  BOOST_TEST(!cq.device_end->event_due());
  BOOST_TEST(cq.device_end->completion_events().count == 1u);
  push(2);
  cq.device_end->notify(kNow + transport::Nanoseconds(2000));
  BOOST_TEST(!event_raised());  // nobody has asked again
}

BOOST_AUTO_TEST_CASE(what_came_before_an_event_was_asked_for_is_not_counted) {
  cq.device_end->moderate({2, transport::Nanoseconds(1000)});
  push(0);
  push(1);
  cq.device_end->notify(kNow);
  cq.arm(abi::ArmKind::next);
  push(2);
  cq.device_end->notify(kNow);
  BOOST_TEST(!event_raised());
  push(3);
  cq.device_end->notify(kNow);
  BOOST_TEST(event_raised());
}

BOOST_AUTO_TEST_CASE(without_a_count_or_a_period_events_are_not_put_off) {
  for (const CqModeration& none : {CqModeration{1, transport::Nanoseconds(1000)}, CqModeration{100, {}}}) {
    cq.device_end->moderate(none);
    cq.arm(abi::ArmKind::next);
    push(0);
    cq.device_end->notify(kNow);
    BOOST_TEST(event_raised());
  }
}

BOOST_AUTO_TEST_CASE(new_moderation_does_not_keep_an_event_that_was_put_off) {
  cq.device_end->moderate({100, transport::Nanoseconds(1000)});
  cq.arm(abi::ArmKind::next);
  push(0);
  cq.device_end->notify(kNow);
  cq.device_end->moderate({});
  BOOST_REQUIRE(cq.device_end->event_due());
  BOOST_CHECK(*cq.device_end->event_due() <= kNow);
}

BOOST_AUTO_TEST_CASE(resize_keeps_unread_entries_and_their_order) {
  for (std::uint32_t i = 0; i < 6; ++i) push(i);
  for (std::uint32_t i = 0; i < 5; ++i) cq.poll();
  for (std::uint32_t i = 6; i < 12; ++i) BOOST_REQUIRE(push(i));  // wraps
  std::vector<abi::Cqe> larger(16);
  cq.device_end->begin_move(larger.data(), 16);
  BOOST_CHECK(cq.device_end->move(100) == CompletionQueue::Moved::all);
  BOOST_TEST(cq.indices.consumer.load() == 0u);
  cq.ring.swap(larger);
  cq.slots = 16;
  cq.consumer = 0;
  for (std::uint32_t i = 5; i < 12; ++i) BOOST_TEST((cq.poll().value().wqe_index == i));
  BOOST_TEST(!cq.poll());
  for (std::uint32_t i = 12; i < 40; ++i) {
    BOOST_REQUIRE(push(i));
    BOOST_TEST((cq.poll().value().wqe_index == i));
  }
}

BOOST_AUTO_TEST_CASE(resize_refuses_what_does_not_fit) {
  for (std::uint32_t i = 0; i < 5; ++i) push(i);
  std::vector<abi::Cqe> smaller(4);
  cq.device_end->begin_move(smaller.data(), 4);
  BOOST_CHECK(cq.device_end->move(100) == CompletionQueue::Moved::does_not_fit);
  for (std::uint32_t i = 0; i < 5; ++i) BOOST_TEST((cq.poll().value().wqe_index == i));
}

// The engine serves others between two portions; what completes meanwhile is moved as well.
BOOST_AUTO_TEST_CASE(resize_moves_no_more_at_once_than_it_is_told) {
  for (std::uint32_t i = 0; i < 5; ++i) push(i);
  for (std::uint32_t i = 0; i < 3; ++i) cq.poll();
  cq.indices.consumer.store(3);
  for (std::uint32_t i = 5; i < 8; ++i) BOOST_REQUIRE(push(i));
  std::vector<abi::Cqe> larger(16);
  const auto moved = [&] {
    return std::count_if(larger.begin(), larger.end(), [](const auto& entry) { return entry.phase == 1; });
  };
  cq.device_end->begin_move(larger.data(), 16);
  BOOST_TEST(moved() == 0);
  BOOST_CHECK(cq.device_end->move(2) == CompletionQueue::Moved::more);
  BOOST_TEST(moved() == 2);
  BOOST_REQUIRE(push(8));
  BOOST_CHECK(cq.device_end->move(3) == CompletionQueue::Moved::more);
  BOOST_TEST(moved() == 5);
  BOOST_CHECK(cq.device_end->move(3) == CompletionQueue::Moved::all);
  cq.ring.swap(larger);
  cq.slots = 16;
  cq.consumer = 0;
  for (std::uint32_t i = 3; i < 9; ++i) BOOST_TEST((cq.poll().value().wqe_index == i));
  BOOST_TEST(!cq.poll());
  BOOST_REQUIRE(push(9));
  BOOST_TEST((cq.poll().value().wqe_index == 9));
}

// More complete while it moves than the new ring holds: the old one stays.
BOOST_AUTO_TEST_CASE(resize_may_cease_to_fit_while_it_moves) {
  for (std::uint32_t i = 0; i < 4; ++i) push(i);
  std::vector<abi::Cqe> smaller(4);
  cq.device_end->begin_move(smaller.data(), 4);
  BOOST_CHECK(cq.device_end->move(2) == CompletionQueue::Moved::more);
  push(4);
  BOOST_CHECK(cq.device_end->move(2) == CompletionQueue::Moved::does_not_fit);
  for (std::uint32_t i = 0; i < 5; ++i) BOOST_TEST((cq.poll().value().wqe_index == i));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
