#include "device_model/engine/qp_table.hpp"

#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

BOOST_AUTO_TEST_SUITE(qp_table)

BOOST_AUTO_TEST_CASE(gives_out_as_many_as_asked_and_takes_them_back) {
  QpTable table(100);
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 100; ++i) {
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

BOOST_AUTO_TEST_CASE(a_number_comes_back_late) {
  QpTable table(16);
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
  QpTable table(16);
  abi::QueuePairIndices indices{};
  HostedQueuePairConfig config;
  config.device = &fabric.device0;
  config.indices = &indices;
  const auto old = table.reserve();
  table.release(*old);
  std::optional<wire::Qpn> next;
  do {
    next = table.reserve();
    table.release(*next);
  } while ((next->value & 15) != (old->value & 15));
  QueuePairContext queue_pair(config, *next);
  table.install(queue_pair);
  BOOST_TEST(table.find(*next) == &queue_pair);
  BOOST_TEST(table.find(*old) == nullptr);
  table.remove(queue_pair);
  BOOST_TEST(table.find(*next) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
