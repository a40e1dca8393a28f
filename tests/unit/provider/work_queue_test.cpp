#define BOOST_TEST_DYN_LINK
#include "provider/plugin/queues/work_queue.hpp"

#include <boost/test/unit_test.hpp>

#include "provider/freestanding/number_table.hpp"

namespace urnic::test {

namespace work_queue {

using provider::MemoryUse;

struct Queue {
  static constexpr std::uint32_t kSlots = 4;
  char ring[kSlots * 64] = {};
  std::atomic<std::uint32_t> shared_producer{77};
  provider::Pd domain{};
  provider::WorkQueue queue;

  Queue() {
    BOOST_REQUIRE(queue.attach(ring, kSlots, 64, 2, &shared_producer, &domain.verbs, MemoryUse::send_wr_ids));
  }
  ~Queue() { queue.release(); }
};

}  // namespace work_queue

BOOST_FIXTURE_TEST_SUITE(work_queue, Queue)

BOOST_AUTO_TEST_CASE(slots_are_taken_until_retired) {
  for (std::uint32_t i = 0; i < kSlots; ++i) BOOST_CHECK(!queue.is_full_at(i));
  BOOST_CHECK(queue.is_full_at(kSlots));
  queue.publish(kSlots);
  queue.retire(1);  // frees slot 0 too
  BOOST_CHECK(!queue.is_full_at(kSlots + 1));
  BOOST_CHECK(queue.is_full_at(kSlots + 2));
}

BOOST_AUTO_TEST_CASE(indices_run_freely_through_32_bits) {
  queue.publish(UINT32_MAX);
  queue.retire(UINT32_MAX - 1);
  BOOST_TEST(queue.consumer() == UINT32_MAX);
  BOOST_CHECK(!queue.is_full_at(UINT32_MAX + kSlots - 1));
  BOOST_CHECK(queue.is_full_at(UINT32_MAX + kSlots));
  queue.publish(2);
  BOOST_TEST(shared_producer.load() == 2u);
  BOOST_CHECK(queue.has_outstanding());
}

BOOST_AUTO_TEST_CASE(an_index_is_masked_to_its_slot) {
  BOOST_CHECK(queue.slot(0) == ring);
  BOOST_CHECK(queue.slot(7) == ring + 3 * 64);
  queue.wr_id(6) = 42;
  BOOST_TEST(queue.wr_id(2) == 42u);
}

BOOST_AUTO_TEST_CASE(reset_begins_at_zero) {
  queue.publish(3);
  queue.retire(0);
  queue.reset();
  BOOST_TEST(shared_producer.load() == 0u);
  BOOST_TEST(queue.consumer() == 0u);
  BOOST_CHECK(!queue.has_outstanding());
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_not_there_is_always_full) {
  provider::WorkQueue none;
  BOOST_REQUIRE(none.attach(nullptr, 0, 0, 0, &shared_producer, &domain.verbs, MemoryUse::send_wr_ids));
  BOOST_CHECK(none.is_full_at(0));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(qp_table_finds_by_all_24_bits) {
  const auto table = std::make_unique<provider::QpTable>();
  auto* const one = reinterpret_cast<provider::Qp*>(0x10);
  auto* const other = reinterpret_cast<provider::Qp*>(0x20);
  BOOST_REQUIRE(table->insert(0x000001, one));
  BOOST_REQUIRE(table->insert(0xABC001, other));
  BOOST_CHECK(table->find(0x000001) == one);
  BOOST_CHECK(table->find(0xABC001) == other);
  BOOST_CHECK(table->find(0xABC002) == nullptr);
  BOOST_CHECK(table->find(0x123456) == nullptr);
  table->remove(0xABC001);
  BOOST_CHECK(table->find(0xABC001) == nullptr);
  table->clear();
}

}  // namespace urnic::test
