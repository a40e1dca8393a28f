// When private memory is worth an exchange.
#include "device_model/control/objects/sharing_rule.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::control::test {
namespace sharing_rule {

using std::chrono::milliseconds;
constexpr std::uint64_t kBytes = 1 << 20;

struct Rule {
  SharingRule::Clock::time_point now{};
  SharingRule rule{now};
  // How many regions are passed over until the next one is shared.
  int passed_over() {
    int passed = 0;
    while (!rule.shares(now)) BOOST_REQUIRE(++passed < 1'000'000);
    return passed;
  }
};

}  // namespace sharing_rule

BOOST_FIXTURE_TEST_SUITE(sharing_rule, Rule)

BOOST_AUTO_TEST_CASE(long_lived_memory_is_shared_always) {
  for (int i = 0; i < 100; ++i) BOOST_TEST(rule.shares(now));
  for (int i = 0; i < 100; ++i) {
    BOOST_TEST(rule.shares(now));
    rule.ended(kBytes, SharingRule::kPaidByTimes * kBytes);
  }
}

BOOST_AUTO_TEST_CASE(memory_that_is_used_once_is_soon_left_as_it_is) {
  int shared = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!rule.shares(now)) continue;
    ++shared;
    rule.ended(kBytes, kBytes);
  }
  BOOST_TEST(shared == 5);
}

BOOST_AUTO_TEST_CASE(each_unpaid_region_passes_over_four_times_as_many_up_to_a_limit) {
  for (const int expected : {4, 16, 64, 256, 1024, 4096, 16384, 65536, 65536}) {
    rule.ended(kBytes, SharingRule::kPaidByTimes * kBytes - 1);
    BOOST_TEST(passed_over() == expected);
  }
  rule.ended(kBytes, SharingRule::kPaidByTimes * kBytes);
  BOOST_TEST(passed_over() == 0);
  rule.ended(kBytes, 0);
  BOOST_TEST(passed_over() == 4);
}

BOOST_AUTO_TEST_CASE(exchanges_take_a_small_part_of_a_programs_time) {
  rule.has_cost(SharingRule::kFreeTime);
  BOOST_TEST(rule.shares(now));
  rule.has_cost(milliseconds(10));
  BOOST_TEST(!rule.shares(now));
  now += milliseconds(10) * SharingRule::kPartOfLife - milliseconds(1);
  BOOST_TEST(!rule.shares(now));
  now += milliseconds(1);
  BOOST_TEST(rule.shares(now));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
