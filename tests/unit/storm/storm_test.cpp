// Many storms. A storm that fails names its seed; URNIC_STORM_SEED=SEED URNIC_STORMS=1 repeats it.
#include "tests/unit/storm/storm.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace urnic::engine::storm {

namespace {

// How many storms share an engine, so that a storm meets what an earlier one left behind. To repeat a storm
// with its engine's past, begin with the seed of the engine's first storm.
constexpr std::uint64_t kStormsOfAnEngine = 20;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(storms)

BOOST_AUTO_TEST_CASE(after_each_storm_a_fresh_pair_moves_data_and_all_pools_are_at_rest) {
  const std::uint64_t count = from_environment("URNIC_STORMS", 10'000);
  const std::uint64_t first = from_environment("URNIC_STORM_SEED", 1);
  std::optional<test::Fabric> fabric;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % kStormsOfAnEngine == 0) fabric.emplace();
    Storm storm(*fabric, first + i);
    storm.rage();
    const std::string wrong = storm.calm();
    BOOST_TEST_REQUIRE(wrong == "", wrong << ", behind the storm with seed " << first + i << ", number "
                                          << i % kStormsOfAnEngine + 1 << " of its engine");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::storm
