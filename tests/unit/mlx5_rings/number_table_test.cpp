// A table of queue numbers against a map.
#define BOOST_TEST_DYN_LINK
#include "device_model/engine/mlx5_rings/number_table.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <random>

namespace urnic::engine::mlx5::test {

BOOST_AUTO_TEST_SUITE(number_table)

// Numbers with equal lower bits get in each other's way.
BOOST_AUTO_TEST_CASE(as_a_map_would_have_it) {
  std::mt19937 random(7);
  NumberTable<int> table;
  std::map<std::uint32_t, int> expected;
  BOOST_TEST(table.find(3) == nullptr);
  table.remove(3);
  for (int step = 0; step < 30000; ++step) {
    const auto number = static_cast<std::uint32_t>(random() % 24 + (random() % 3 << 16));
    if (random() % 2 == 0) {
      table.set(number, step);
      expected[number] = step;
    } else {
      table.remove(number);
      expected.erase(number);
    }
    BOOST_REQUIRE(table.empty() == expected.empty());
    for (std::uint32_t low = 0; low < 24; ++low) {
      for (std::uint32_t high = 0; high < 3; ++high) {
        const int* const found = table.find(low + (high << 16));
        const auto entry = expected.find(low + (high << 16));
        BOOST_REQUIRE((found != nullptr) == (entry != expected.end()));
        if (found != nullptr) BOOST_REQUIRE(*found == entry->second);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::mlx5::test
