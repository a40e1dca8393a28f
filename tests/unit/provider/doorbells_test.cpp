#define BOOST_TEST_DYN_LINK
#include "device_model/abi/doorbells.hpp"

#include <boost/test/unit_test.hpp>
#include <memory>

#include "provider/plugin/objects/events.hpp"

namespace urnic::test {

BOOST_AUTO_TEST_SUITE(doorbells)

BOOST_AUTO_TEST_CASE(ringing_sets_the_bit_and_its_summary) {
  for (const std::uint32_t number : {0u, 63u, 64u, 4095u, 4096u, abi::kDoorbellsPerContext - 1}) {
    const auto bells = std::make_unique<abi::Doorbells>();
    bells->ring(number);
    for (std::uint32_t word = 0; word < bells->bits.size(); ++word) {
      const std::uint64_t expected = word == number / 64 ? std::uint64_t{1} << (number % 64) : 0;
      BOOST_REQUIRE(bells->bits[word].load() == expected);
    }
    for (std::uint32_t word = 0; word < bells->summary.size(); ++word) {
      const std::uint64_t expected = word == number / 4096 ? std::uint64_t{1} << (number / 64 % 64) : 0;
      BOOST_REQUIRE(bells->summary[word].load() == expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_collected_doorbell_rings_again) {
  const auto bells = std::make_unique<abi::Doorbells>();
  bells->ring(70);
  bells->summary[0].exchange(0);
  bells->bits[1].exchange(0);
  bells->ring(70);
  BOOST_TEST(bells->summary[0].load() == 2u);
  BOOST_TEST(bells->bits[1].load() == 64u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(arm_words)

constexpr std::uint32_t kSolicited = 1;
constexpr std::uint32_t kNext = 2;

BOOST_AUTO_TEST_CASE(each_request_is_a_new_word) {
  BOOST_TEST(provider::next_arm_word(1, false, 0, 0) == (1 << 2 | kNext));
  BOOST_TEST(provider::next_arm_word(2, false, 1 << 2 | kNext, 1 << 2 | kNext) == (2 << 2 | kNext));
  BOOST_TEST(provider::next_arm_word(3, true, 2 << 2 | kNext, 2 << 2 | kNext) == (3 << 2 | kSolicited));
}

// IBTA 11.4.2.2: a pending request for the next completion does not become one for solicited completions.
BOOST_AUTO_TEST_CASE(a_standing_request_for_all_is_not_weakened) {
  BOOST_TEST(provider::next_arm_word(2, true, 1 << 2 | kNext, 0) == (2 << 2 | kNext));
}

BOOST_AUTO_TEST_CASE(a_standing_request_for_solicited_ones_is_widened) {
  BOOST_TEST(provider::next_arm_word(2, false, 1 << 2 | kSolicited, 0) == (2 << 2 | kNext));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
