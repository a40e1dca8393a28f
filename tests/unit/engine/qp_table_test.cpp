#include "device_model/engine/queue_pair/qp_table.hpp"

#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

BOOST_AUTO_TEST_SUITE(qp_table)

BOOST_AUTO_TEST_CASE(gives_out_as_many_as_asked_and_takes_them_back) {
  constexpr std::uint32_t kLimit = 1 << 16;
  QpTable table(kLimit);
  std::set<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < kLimit; ++i) {
    const auto qpn = table.reserve();
    BOOST_REQUIRE(qpn);
    BOOST_TEST(numbers.insert(qpn->value).second);
  }
  BOOST_TEST(!table.reserve());
  table.release(wire::Qpn{*numbers.begin()});
  const auto again = table.reserve();
  BOOST_REQUIRE(again);
  BOOST_TEST(!numbers.contains(again->value));
}

// IBTA 3.5.10: 0 and 1 are the management QPs, 0xFFFFFF stands for multicast.
BOOST_AUTO_TEST_CASE(reserved_numbers_are_never_given_out) {
  QpTable table(1 << 20);  // four bits of generation: all 2^24 numbers come up
  for (std::uint32_t i = 0; i < 3u << 24; ++i) {
    const auto qpn = table.reserve();
    if (qpn->value < 2 || qpn->value >= 0xFFFFFF) BOOST_FAIL("reserved number " << qpn->value);
    table.release(*qpn);
  }
}

BOOST_AUTO_TEST_CASE(a_seed_chooses_the_numbers) {
  const auto numbers = [](memory::NumberSeed seed) {
    QpTable table(1 << 16, seed);
    std::vector<std::uint32_t> all;
    for (int i = 0; i < 1024; ++i) all.push_back(table.reserve()->value);
    return all;
  };
  const auto some = numbers(memory::NumberSeed(1));
  BOOST_TEST(some == numbers(memory::NumberSeed(1)));
  BOOST_TEST((some[0] & 1023) != (numbers(memory::NumberSeed(2))[0] & 1023));
  // The next number does not follow from the last one: its high bits are its own.
  std::set<std::uint32_t> steps;
  for (std::size_t i = 1; i < some.size(); ++i) steps.insert(some[i] - some[i - 1]);
  BOOST_TEST(steps.size() > 300);  // of 511 differences of eight bits
  BOOST_TEST(std::set(some.begin(), some.end()).size() == some.size());
}

BOOST_AUTO_TEST_CASE(reserved_numbers_are_not_given_out_with_any_seed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    QpTable table(1 << 16, memory::NumberSeed(seed));
    while (const auto qpn = table.reserve()) BOOST_TEST_REQUIRE((qpn->value >= 2 && qpn->value < 0xFFFFFF));
  }
}

// Linux's vmw_pvrdma and its library keep queue pairs by their numbers in tables of as many as the device
// has.
BOOST_AUTO_TEST_CASE(with_a_low_limit_all_numbers_are_below_it) {
  for (const std::uint32_t limit : {3u, 16u, 1000u, 1024u, 65535u}) {
    QpTable table(limit, memory::NumberSeed(limit));
    BOOST_TEST(QpTable::capacity(limit) == limit - 2);
    for (int round = 0; round < 5; ++round) {
      std::set<std::uint32_t> numbers;
      while (const auto qpn = table.reserve()) numbers.insert(qpn->value);
      BOOST_TEST_REQUIRE(numbers.size() == limit - 2);
      BOOST_TEST_REQUIRE(*numbers.begin() >= 2);
      BOOST_TEST_REQUIRE(*numbers.rbegin() < limit);
      for (const std::uint32_t number : numbers) table.release(wire::Qpn{number});
    }
  }
}

BOOST_AUTO_TEST_CASE(with_a_low_limit_a_number_comes_back_after_all_others) {
  QpTable table(16);
  const auto first = table.reserve();
  table.release(*first);
  std::set<std::uint32_t> others;
  for (auto next = table.reserve(); *next != *first; next = table.reserve()) {
    others.insert(next->value);
    table.release(*next);
  }
  BOOST_TEST(others.size() == 13);
}

BOOST_AUTO_TEST_CASE(a_number_comes_back_late) {
  QpTable table(65536);
  const auto first = table.reserve();
  table.release(*first);
  std::uint32_t others = 0;
  for (auto next = table.reserve(); *next != *first; next = table.reserve()) {
    table.release(*next);
    ++others;
  }
  BOOST_TEST(others > 1'000'000u);
}

BOOST_AUTO_TEST_CASE(an_old_number_does_not_find_the_next_one_in_its_place) {
  Fabric fabric;
  QpTable& table = fabric.device0.queue_pairs();
  abi::QueuePairIndices indices{};
  QueuePairConfig config;
  config.device = &fabric.device0.resources();
  config.indices = &indices;
  std::uint32_t old = 0;
  {
    const auto queue_pair = QueuePairContext::make(config);
    fabric.engine.execute([&] { queue_pair->install(); });
    old = queue_pair->qpn().value;
    BOOST_TEST(table.find(wire::Qpn{old}) == queue_pair.get());
  }
  BOOST_TEST(table.find(wire::Qpn{old}) == nullptr);
  auto next = QueuePairContext::make(config);
  while ((next->qpn().value & 1023) != (old & 1023)) next = QueuePairContext::make(config);
  next->install();
  BOOST_TEST(table.find(next->qpn()) == next.get());
  BOOST_TEST((next->qpn() != wire::Qpn{old}));
  BOOST_TEST(table.find(wire::Qpn{old}) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
