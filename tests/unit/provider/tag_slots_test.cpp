// The provider's state of tagged buffers, and of the operations on their list.
#include "provider/plugin/queues/tag_slots.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace urnic::provider {
namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint32_t kMost = 3;
constexpr std::uint32_t kTags = 2;

struct Slots {
  std::vector<abi::TagOperation> operations{kSlots};
  abi::TagMatchingIndices indices{};
  TagSlots slots;
  Slots() { BOOST_REQUIRE(slots.attach(operations.data(), &indices, kSlots, kMost, kTags)); }
  ~Slots() { slots.release(); }

  bool post(abi::TagOpcode opcode, std::uint64_t wr_id, bool signaled, std::uint32_t entry = 0) {
    abi::TagOperation* operation = slots.next_operation();
    if (operation == nullptr) return false;
    *operation = {};
    operation->opcode = static_cast<std::uint8_t>(opcode);
    operation->entry = entry;
    slots.post(wr_id, signaled);
    slots.publish();
    return true;
  }
  void consume(std::uint32_t until, bool removed = false) {
    for (std::uint32_t i = indices.consumed.load(); i != until; ++i) {
      operations[i % kSlots].removed = removed ? 1 : 0;
    }
    indices.consumed.store(until);
  }
  bool is_known(std::uint32_t handle) const {
    std::uint32_t entry = 0;
    return slots.entry_of(handle, entry) && entry != abi::kNoTagEntry;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tag_slots, Slots)

BOOST_AUTO_TEST_CASE(no_more_are_outstanding_than_may_be) {
  for (std::uint64_t wr_id = 0; wr_id < kMost; ++wr_id) BOOST_TEST(post(abi::TagOpcode::sync, wr_id, false));
  BOOST_TEST(!post(abi::TagOpcode::sync, 9, false));
  BOOST_TEST(indices.producer.load() == kMost);
  consume(1);
  BOOST_TEST(post(abi::TagOpcode::sync, 9, false));
  BOOST_TEST(!post(abi::TagOpcode::sync, 9, false));
}

BOOST_AUTO_TEST_CASE(a_signaled_one_is_outstanding_until_its_completion_is_polled) {
  for (std::uint64_t wr_id = 10; wr_id < 10 + kMost; ++wr_id) post(abi::TagOpcode::sync, wr_id, true);
  consume(kMost);
  BOOST_TEST(!post(abi::TagOpcode::sync, 9, true));
  BOOST_TEST(slots.operation_done(0, false) == 10u);
  BOOST_TEST(post(abi::TagOpcode::sync, 9, true));
  BOOST_TEST(slots.operation_done(1, false) == 11u);
}

BOOST_AUTO_TEST_CASE(there_are_as_many_entries_as_tags) {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::uint32_t third = 0;
  BOOST_TEST(slots.take_entry(1, first));
  BOOST_TEST(slots.take_entry(2, second));
  BOOST_TEST(!slots.take_entry(3, third));
  BOOST_TEST(slots.entry_wr_id(second) == 2u);
  slots.free_entry(first);
  slots.free_entry(first);  // freeing twice has no effect
  BOOST_TEST(slots.take_entry(3, third));
  BOOST_TEST(third == first);
  BOOST_TEST(!slots.take_entry(4, first));
}

BOOST_AUTO_TEST_CASE(a_handle_means_no_later_buffer) {
  std::uint32_t entry = 0;
  slots.take_entry(1, entry);
  const std::uint32_t handle = slots.handle_of(entry);
  BOOST_TEST(is_known(handle));
  slots.free_entry(entry);
  BOOST_TEST(!is_known(handle));
  slots.take_entry(2, entry);
  BOOST_TEST(!is_known(handle));
  BOOST_TEST(is_known(slots.handle_of(entry)));
  BOOST_TEST(!slots.entry_of(kTags, entry));
}

BOOST_AUTO_TEST_CASE(what_a_removal_without_completion_has_removed_is_free) {
  std::uint32_t entry = 0;
  slots.take_entry(1, entry);
  const std::uint32_t handle = slots.handle_of(entry);
  post(abi::TagOpcode::remove, 5, false, entry);
  consume(1, false);  // the removal came too late: the entry stays in use
  slots.next_operation();
  BOOST_TEST(is_known(handle));
  post(abi::TagOpcode::remove, 6, false, entry);
  consume(2, true);
  slots.next_operation();
  BOOST_TEST(!is_known(handle));
}

BOOST_AUTO_TEST_CASE(what_a_polled_removal_has_removed_is_free_once) {
  std::uint32_t entry = 0;
  slots.take_entry(1, entry);
  post(abi::TagOpcode::remove, 5, true, entry);
  consume(1, true);
  BOOST_TEST(slots.operation_done(0, true) == 5u);
  slots.take_entry(2, entry);
  const std::uint32_t handle = slots.handle_of(entry);
  slots.next_operation();
  BOOST_TEST(is_known(handle));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::provider
