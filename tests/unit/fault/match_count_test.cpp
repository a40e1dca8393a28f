// Counters in a table of a fixed size.
#include "device_model/fault/match_count.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/link/chance.hpp"

namespace urnic::fault::test {

BOOST_AUTO_TEST_SUITE(match_count)

BOOST_AUTO_TEST_CASE(each_key_has_its_count) {
  MatchCount counts(1024);
  for (std::uint64_t round = 0; round < 3; ++round)
    for (std::uint64_t key = 0; key < 100; ++key) ++counts.of(link::mix(key)).seen;
  for (std::uint64_t key = 0; key < 100; ++key) BOOST_REQUIRE_EQUAL(counts.of(link::mix(key)).seen, 3);
  BOOST_TEST(counts.of(link::mix(1000)).seen == 0);
}

BOOST_AUTO_TEST_CASE(what_was_not_seen_for_longest_is_forgotten) {
  MatchCount counts(8);  // each key may take any entry
  for (std::uint64_t key = 1; key <= 8; ++key) counts.of(key).seen = 7;
  counts.of(1);
  counts.of(9).seen = 7;  // replaces 2
  BOOST_TEST(counts.of(1).seen == 7);
  BOOST_TEST(counts.of(3).seen == 7);
  BOOST_TEST(counts.of(2).seen == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::fault::test
