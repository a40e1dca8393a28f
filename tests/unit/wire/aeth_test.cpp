#include "wire/aeth.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>

namespace urnic::wire {
namespace {

// IBTA 9.7.7.2.3, codes 0 to 30; code 31 gives no count.
constexpr std::array<std::uint32_t, 31> kCredits{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

// IBTA 9.7.5.2.8, table 45, in microseconds.
constexpr std::array<std::int64_t, 32> kRnrMicroseconds{
    655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,   320,
    480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240, 15360,
    20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520};

BOOST_AUTO_TEST_SUITE(aeth)

BOOST_AUTO_TEST_CASE(credit_table) {
  for (std::uint8_t code = 0; code < kCredits.size(); ++code) {
    BOOST_TEST_CONTEXT("code " << int{code}) { BOOST_TEST(credits_from_code(code) == kCredits[code]); }
  }
}

BOOST_AUTO_TEST_CASE(credit_code_never_promises_more_than_there_is) {
  for (std::uint32_t credits = 0; credits <= 70000; ++credits) {
    std::uint8_t expected = 0;
    while (expected < 30 && kCredits[expected + 1u] <= credits) ++expected;
    if (credit_code_for(credits) != expected) BOOST_ERROR("wrong code for " << credits << " credits");
  }
  BOOST_TEST(int{credit_code_for(0xFFFFFFFF)} == 30);
}

BOOST_AUTO_TEST_CASE(rnr_timer_table) {
  for (std::uint8_t code = 0; code < kRnrMicroseconds.size(); ++code) {
    BOOST_TEST_CONTEXT("code " << int{code}) {
      const auto expected = std::chrono::microseconds(kRnrMicroseconds[code]);
      BOOST_TEST(rnr_timer(code).count() == std::chrono::nanoseconds(expected).count());
    }
  }
}

BOOST_AUTO_TEST_CASE(tables_look_at_five_bits) {
  BOOST_TEST(credits_from_code(0x20 | 5) == 6u);
  BOOST_TEST(rnr_timer(0x20 | 1).count() == 10'000);
}

BOOST_AUTO_TEST_CASE(syndromes_have_the_bits_of_table_43) {
  BOOST_TEST(int{ack_syndrome(kInvalidCreditCode)} == 0x1F);
  BOOST_TEST(int{ack_syndrome(3)} == 0x03);
  BOOST_TEST(int{rnr_nak_syndrome(14)} == 0x2E);
  BOOST_TEST(int{nak_syndrome(NakCode::psn_sequence_error)} == 0x60);
  BOOST_TEST(int{nak_syndrome(NakCode::invalid_request)} == 0x61);
  BOOST_TEST(int{nak_syndrome(NakCode::remote_access_error)} == 0x62);
  BOOST_TEST(int{nak_syndrome(NakCode::remote_operational_error)} == 0x63);
  BOOST_TEST(int{nak_syndrome(NakCode::invalid_rd_request)} == 0x64);
}

BOOST_AUTO_TEST_CASE(every_syndrome_byte_has_its_kind_and_code) {
  constexpr std::array<AethKind, 4> kKinds{AethKind::ack, AethKind::rnr_nak, AethKind::reserved,
                                           AethKind::nak};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto syndrome = static_cast<std::uint8_t>(byte);
    BOOST_TEST((kind(syndrome) == kKinds[byte / 32 % 4]));
    BOOST_TEST(unsigned{code(syndrome)} == byte % 32);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire
