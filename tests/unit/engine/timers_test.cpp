#include "device_model/engine/round/timers.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>
#include <vector>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace {

transport::Time at(std::int64_t nanoseconds) { return transport::Time(transport::Nanoseconds(nanoseconds)); }

// QPs that only lend their place in the heap.
struct QueuePairs : Fabric {
  std::vector<std::unique_ptr<abi::QueuePairIndices>> indices;
  std::vector<std::unique_ptr<QueuePairContext>> queue_pairs;
  Timers timers;
  std::vector<TimerId> ids;

  explicit QueuePairs(std::size_t count = 50) {
    for (std::uint32_t i = 0; i < count; ++i) {
      indices.push_back(std::make_unique<abi::QueuePairIndices>());
      QueuePairConfig config;
      config.device = &device0.resources();
      config.indices = indices.back().get();
      queue_pairs.push_back(QueuePairContext::make(config));
      ids.push_back(timers.add(*queue_pairs.back()));
    }
  }
  QueuePairContext& operator[](std::size_t i) { return *queue_pairs[i]; }
  TimerId timer(std::size_t i) const { return ids[i]; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(timers_heap, QueuePairs)

BOOST_AUTO_TEST_CASE(nothing_is_due_without_deadlines) {
  timers.set(timer(0), std::nullopt);
  BOOST_TEST(!timers.earliest());
  BOOST_TEST(timers.take_due(at(1'000'000)) == nullptr);
}

BOOST_AUTO_TEST_CASE(due_from_its_time_on) {
  timers.set(timer(0), at(100));
  BOOST_TEST((timers.earliest() == at(100)));
  BOOST_TEST(timers.take_due(at(99)) == nullptr);
  BOOST_TEST(timers.take_due(at(100)) == &(*this)[0]);
  BOOST_TEST(timers.take_due(at(100)) == nullptr);
}

BOOST_AUTO_TEST_CASE(moves_earlier_at_once_and_later_when_its_old_time_comes) {
  timers.set(timer(0), at(100));
  timers.set(timer(0), at(50));
  BOOST_TEST((timers.earliest() == at(50)));
  timers.set(timer(0), at(500));
  BOOST_TEST(timers.take_due(at(50)) == nullptr);
  BOOST_TEST((timers.earliest() == at(500)));
  BOOST_TEST(timers.take_due(at(499)) == nullptr);
  BOOST_TEST(timers.take_due(at(500)) == &(*this)[0]);
}

BOOST_AUTO_TEST_CASE(one_without_a_deadline_does_not_come) {
  timers.set(timer(0), at(100));
  timers.set(timer(0), std::nullopt);
  BOOST_TEST(timers.take_due(at(100)) == nullptr);
  BOOST_TEST(!timers.earliest());
  timers.set(timer(0), at(200));
  BOOST_TEST(timers.take_due(at(200)) == &(*this)[0]);
}

BOOST_AUTO_TEST_CASE(removed_ones_never_come) {
  for (std::size_t i = 0; i < 50; ++i) timers.set(timer(i), at(static_cast<std::int64_t>(i * 37 % 50)));
  for (std::size_t i = 0; i < 50; i += 2) timers.remove(timer(i));
  for (std::size_t n = 0; n < 25; ++n) {
    const QueuePairContext* due = timers.take_due(at(1000));
    BOOST_REQUIRE(due != nullptr);
    BOOST_TEST((due->qpn().value - 2) % 2 == 1u);
  }
  BOOST_TEST(timers.take_due(at(1000)) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_timer_of_a_removed_one_is_used_again_disarmed) {
  timers.set(timer(3), at(100));
  timers.remove(timer(3));
  BOOST_TEST((timers.add((*this)[4]) == timer(3)));
  BOOST_TEST(timers.take_due(at(100)) == nullptr);
}

BOOST_AUTO_TEST_CASE(come_in_order_whatever_happens) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> wanted(50, -1);
    for (int step = 0; step < 200; ++step) {
      const std::size_t i = random() % 50;
      if (random() % 8 == 0) {
        timers.set(timer(i), std::nullopt);
        wanted[i] = -1;
        continue;
      }
      wanted[i] = static_cast<std::int64_t>(random() % 1000);
      timers.set(timer(i), at(wanted[i]));
    }
    std::vector<std::int64_t> expected;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(expected), [](auto t) { return t >= 0; });
    std::sort(expected.begin(), expected.end());
    for (const std::int64_t time : expected) {
      BOOST_REQUIRE((*timers.earliest() <= at(time)));
      const QueuePairContext* due = timers.take_due(at(time));
      BOOST_REQUIRE(due != nullptr);
      BOOST_REQUIRE(wanted[due->qpn().value - 2] == time);
    }
    BOOST_REQUIRE(timers.take_due(at(1000)) == nullptr);
    BOOST_REQUIRE(!timers.earliest());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
