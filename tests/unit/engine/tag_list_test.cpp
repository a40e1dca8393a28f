// The list of tagged buffers: which one a tag gets.
#include "device_model/engine/receives/tag_list.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace urnic::engine::test {
namespace tag_list {

constexpr std::uint64_t kEveryBit = ~std::uint64_t{0};

struct List {
  TagList list{8, 2};
  bool add(std::uint32_t entry, std::uint64_t tag, std::uint64_t mask = kEveryBit, bool waits = false) {
    const abi::ScatterGather sges[] = {{0x1000, 10, 1}, {0x2000, 20, 1}};
    return list.add(entry, tag, mask, reinterpret_cast<const std::byte*>(sges), 2, waits);
  }
  std::uint32_t match(std::uint64_t tag) { return list.match(tag).value_or(99); }
};

}  // namespace tag_list

BOOST_FIXTURE_TEST_SUITE(tag_list, List)

BOOST_AUTO_TEST_CASE(the_first_that_was_posted_is_the_first_that_matches) {
  for (const std::uint32_t entry : {5u, 0u, 3u}) BOOST_TEST(add(entry, 7));
  BOOST_TEST(match(7) == 5u);
  BOOST_TEST(match(7) == 0u);
  BOOST_TEST(match(7) == 3u);
  BOOST_TEST(match(7) == 99u);
}

BOOST_AUTO_TEST_CASE(bits_outside_of_the_mask_do_not_count) {
  BOOST_TEST(add(0, 0x1200, 0xFF00));
  BOOST_TEST(match(0x1334) == 99u);
  BOOST_TEST(match(0xAB12FF) == 0u);
}

// TMH.tag & entry.mask == entry.tag, to the letter.
BOOST_AUTO_TEST_CASE(a_tag_with_bits_outside_of_its_mask_matches_nothing) {
  BOOST_TEST(add(0, 0x1234, 0xFF00));
  BOOST_TEST(match(0x1234) == 99u);
}

BOOST_AUTO_TEST_CASE(a_wildcard_takes_what_no_earlier_buffer_wants) {
  BOOST_TEST(add(0, 7));
  BOOST_TEST(add(1, 0, 0));
  BOOST_TEST(add(2, 8));
  BOOST_TEST(match(7) == 0u);
  BOOST_TEST(match(8) == 1u);
  BOOST_TEST(match(8) == 2u);
}

BOOST_AUTO_TEST_CASE(an_entry_holds_one_buffer) {
  BOOST_TEST(add(0, 7));
  BOOST_TEST(!add(0, 8));
  BOOST_TEST(match(7) == 0u);
  BOOST_TEST(!add(0, 8));
  BOOST_TEST(list.length(0) == 30u);
  BOOST_TEST(list.sges(0)[1].address == 0x2000u);
  list.release(0);
  BOOST_TEST(add(0, 8));
  BOOST_TEST(!add(8, 9));
}

BOOST_AUTO_TEST_CASE(segments_beyond_the_most_are_refused) {
  const std::vector<std::byte> sges(3 * sizeof(abi::ScatterGather));
  BOOST_TEST(!list.add(0, 1, 1, sges.data(), 3, false));
  BOOST_TEST(list.add(0, 1, 1, sges.data(), 0, false));
}

BOOST_AUTO_TEST_CASE(what_is_removed_is_not_matched) {
  for (std::uint32_t entry = 0; entry < 4; ++entry) add(entry, 7);
  for (const std::uint32_t entry : {1u, 0u, 3u}) BOOST_TEST(list.remove(entry));
  BOOST_TEST(!list.remove(1));
  BOOST_TEST(!list.remove(8));
  BOOST_TEST(match(7) == 2u);
  BOOST_TEST(!list.remove(2));
  BOOST_TEST(match(7) == 99u);
  BOOST_TEST(add(1, 7));
  BOOST_TEST(match(7) == 1u);
}

BOOST_AUTO_TEST_CASE(those_that_wait_are_passed_over_until_admitted) {
  add(0, 7);
  BOOST_TEST(!list.any_waiting());
  add(1, 8, kEveryBit, true);
  add(2, 8, kEveryBit, true);
  BOOST_TEST(list.any_waiting());
  BOOST_TEST(match(8) == 99u);
  BOOST_TEST(match(7) == 0u);
  BOOST_TEST(list.remove(1));
  BOOST_TEST(match(8) == 99u);
  list.admit();
  BOOST_TEST(!list.any_waiting());
  BOOST_TEST(match(8) == 2u);
}

BOOST_AUTO_TEST_CASE(nothing_waits_once_the_last_that_did_is_removed) {
  add(0, 7);
  add(1, 8, kEveryBit, true);
  BOOST_TEST(list.remove(1));
  BOOST_TEST(!list.any_waiting());
  add(1, 9);
  BOOST_TEST(match(9) == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
