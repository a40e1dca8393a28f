#include "wire/psn.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::wire {
namespace {

BOOST_AUTO_TEST_SUITE(psn)

BOOST_AUTO_TEST_CASE(keeps_24_bits) {
  BOOST_TEST(Psn(0xFF000001).value() == 1u);
  BOOST_TEST(Psn().value() == 0u);
}

BOOST_AUTO_TEST_CASE(wraps_at_2_to_the_24) {
  BOOST_TEST((Psn(0xFFFFFF) + 1).value() == 0u);
  BOOST_TEST((Psn(0) - 1).value() == 0xFFFFFFu);
  BOOST_TEST((Psn(0xFFFFF0) + 0x20).value() == 0x10u);
  BOOST_TEST((Psn(5) + 0x1000000).value() == 5u);
  Psn psn{0xFFFFFE};
  BOOST_TEST((++psn).value() == 0xFFFFFFu);
  BOOST_TEST((++psn).value() == 0u);
}

BOOST_AUTO_TEST_CASE(distance_is_signed_and_circular) {
  BOOST_TEST(distance(Psn(10), Psn(10)) == 0);
  BOOST_TEST(distance(Psn(10), Psn(13)) == 3);
  BOOST_TEST(distance(Psn(13), Psn(10)) == -3);
  BOOST_TEST(distance(Psn(0xFFFFFF), Psn(1)) == 2);
  BOOST_TEST(distance(Psn(1), Psn(0xFFFFFF)) == -2);
}

BOOST_AUTO_TEST_CASE(half_the_space_lies_on_each_side) {
  // IBTA 9.7.5.1.4.1: 2^23 - 1 PSNs ahead are later; from 2^23 on they are earlier.
  for (std::uint32_t base : {0u, 1u, 0x7FFFFFu, 0x800000u, 0xFFFFFFu}) {
    const Psn psn{base};
    BOOST_TEST(distance(psn, psn + 0x7FFFFF) == 0x7FFFFF);
    BOOST_TEST(before(psn, psn + 0x7FFFFF));
    BOOST_TEST(distance(psn, psn + 0x800000) == -0x800000);
    BOOST_TEST(!before(psn, psn + 0x800000));
    BOOST_TEST(distance(psn, psn + 0x800001) == -0x7FFFFF);
    BOOST_TEST(before(psn + 0x800001, psn));
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_before_itself) { BOOST_TEST(!before(Psn(7), Psn(7))); }

BOOST_AUTO_TEST_CASE(msn_wraps_at_2_to_the_24) {
  BOOST_TEST(Msn{0xFFFFFF}.next().value == 0u);
  BOOST_TEST(Msn{6}.next().value == 7u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire
