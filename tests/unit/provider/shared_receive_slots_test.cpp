// The provider's state of a shared receive queue.
#include "provider/plugin/queues/shared_receive_slots.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <set>

namespace urnic::test {
namespace {

struct Queue {
  static constexpr std::uint32_t kSlotSize = 32;
  std::array<char, 16 * kSlotSize> memory{};
  std::array<std::uint32_t, 16> posted{};
  std::atomic<std::uint32_t> producer{0};
  provider::SharedReceiveSlots slots;
  Queue() {
    BOOST_REQUIRE(slots.reserve(4));
    slots.attach(memory.data(), posted.data(), 4, kSlotSize);
    slots.use(&producer);
    slots.max_wr = 4;
  }
  ~Queue() { slots.release(); }
  std::set<std::uint32_t> take_all() {
    std::set<std::uint32_t> taken;
    std::uint32_t slot;
    while (slots.take(slot)) taken.insert(slot);
    return taken;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_receive_slots, Queue)

BOOST_AUTO_TEST_CASE(each_slot_is_given_once_until_it_comes_back) {
  BOOST_TEST(take_all() == (std::set<std::uint32_t>{0, 1, 2, 3}), boost::test_tools::per_element());
  slots.give_back(2);
  slots.give_back(0);
  BOOST_TEST(slots.in_use() == 2u);
  BOOST_TEST(take_all() == (std::set<std::uint32_t>{0, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_more_are_in_use_than_may_be) {
  slots.max_wr = 2;
  BOOST_TEST(take_all().size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_device_sees_what_was_posted_when_it_is_published) {
  slots.post(3);
  slots.post(1);
  BOOST_TEST(producer.load() == 0u);
  slots.publish();
  BOOST_TEST(producer.load() == 2u);
  BOOST_TEST(posted[0] == 3u);
  BOOST_TEST(posted[1] == 1u);
}

BOOST_AUTO_TEST_CASE(growing_keeps_slots_wr_ids_and_the_ring_s_index) {
  take_all();
  slots.wr_id(3) = 0x1234567890;
  slots.post(3);
  slots.give_back(1);
  BOOST_REQUIRE(slots.reserve(16));
  slots.attach(memory.data(), posted.data(), 16, kSlotSize);
  slots.max_wr = 16;
  BOOST_TEST(slots.wr_id(3) == 0x1234567890u);
  BOOST_TEST(slots.in_use() == 3u);
  const auto taken = take_all();
  BOOST_TEST(taken.size() == 13u);
  BOOST_TEST(taken.contains(1));
  BOOST_TEST(!taken.contains(3));
  slots.post(9);
  BOOST_TEST(posted[1] == 9u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
