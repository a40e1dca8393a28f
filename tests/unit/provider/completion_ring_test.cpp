#define BOOST_TEST_DYN_LINK
#include "provider/plugin/queues/completion_ring.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

namespace urnic::test {

namespace {

constexpr std::uint32_t kEntries = 8;

// A ring, and the device's side of it.
struct Fixture {
  std::unique_ptr<abi::Cqe[]> memory = std::make_unique<abi::Cqe[]>(kEntries);
  abi::CompletionQueueIndices indices{};
  provider::CompletionRing ring;
  std::uint32_t producer = 0;

  Fixture() { ring.attach(memory.get(), kEntries, &indices); }

  void produce(std::uint32_t qpn, std::uint32_t wqe_index) {
    abi::Cqe& cqe = memory[producer % kEntries];
    cqe.qpn = qpn;
    cqe.wqe_index = wqe_index;
    cqe.phase.store((producer / kEntries) % 2 == 0 ? 1 : 0);
    ++producer;
  }

  // Consumes all valid CQEs; returns their wqe_index.
  std::vector<std::uint32_t> consume() {
    std::vector<std::uint32_t> seen;
    while (const abi::Cqe* cqe = ring.peek()) {
      seen.push_back(cqe->wqe_index);
      ring.advance();
    }
    ring.publish();
    return seen;
  }
};

using Indices = std::vector<std::uint32_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(completion_ring)

BOOST_AUTO_TEST_CASE(a_fresh_ring_is_empty) {
  Fixture fixture;
  BOOST_CHECK(fixture.ring.peek() == nullptr);
}

BOOST_AUTO_TEST_CASE(phase_tells_new_from_old_over_many_laps) {
  Fixture fixture;
  std::uint32_t next = 0;
  for (int lap = 0; lap < 7; ++lap) {
    for (std::uint32_t i = 0; i < kEntries; ++i) fixture.produce(1, next + i);
    Indices expected;
    for (std::uint32_t i = 0; i < kEntries; ++i) expected.push_back(next + i);
    BOOST_TEST(fixture.consume() == expected);
    BOOST_CHECK(fixture.ring.peek() == nullptr);
    next += kEntries;
  }
}

BOOST_AUTO_TEST_CASE(the_consumer_index_is_published_free_running) {
  Fixture fixture;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 5; ++i) fixture.produce(1, i);
    fixture.consume();
  }
  BOOST_TEST(fixture.indices.consumer.load() == 15u);
}

BOOST_AUTO_TEST_CASE(removal_keeps_the_order_of_the_others) {
  Fixture fixture;
  for (std::uint32_t i = 0; i < 5; ++i) fixture.produce(9, i);
  fixture.consume();  // so that the next CQEs wrap around
  const std::uint32_t qpns[] = {1, 2, 1, 1, 2, 2, 1};
  for (std::uint32_t i = 0; i < 7; ++i) fixture.produce(qpns[i], 100 + i);
  fixture.ring.remove_completions_of(1);
  BOOST_TEST(fixture.indices.consumer.load() == 5u + 4u);
  BOOST_TEST(fixture.consume() == (Indices{101, 104, 105}));
}

BOOST_AUTO_TEST_CASE(removal_leaves_what_the_device_adds_next) {
  Fixture fixture;
  for (std::uint32_t i = 0; i < kEntries; ++i) fixture.produce(i % 2 == 0 ? 1 : 2, i);
  fixture.ring.remove_completions_of(1);
  for (std::uint32_t i = 0; i < 4; ++i) fixture.produce(2, 50 + i);
  BOOST_TEST(fixture.consume() == (Indices{1, 3, 5, 7, 50, 51, 52, 53}));
}

BOOST_AUTO_TEST_CASE(removal_of_everything_empties_the_ring) {
  Fixture fixture;
  for (std::uint32_t i = 0; i < kEntries; ++i) fixture.produce(1, i);
  fixture.ring.remove_completions_of(1);
  BOOST_CHECK(fixture.ring.peek() == nullptr);
  BOOST_TEST(fixture.indices.consumer.load() == kEntries);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
