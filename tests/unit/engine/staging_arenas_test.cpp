// Payload that must stay where it is, and arenas for all others meanwhile.
#include "device_model/engine/batch/staging_arenas.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

namespace urnic::engine::test {

namespace staging_arenas {

constexpr std::uint32_t kLength = 1000;

std::span<const std::byte> put(StagingArena& arena, std::byte value) {
  std::byte* const place = arena.take(kLength);
  std::fill_n(place, kLength, value);
  return {place, kLength};
}

bool all(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [=](std::byte one) { return one == value; });
}

struct Bench {
  StagingArenas arenas;
};

}  // namespace staging_arenas

BOOST_FIXTURE_TEST_SUITE(staging_arenas, Bench)

BOOST_AUTO_TEST_CASE(an_arena_that_was_given_back_is_the_next_one_and_empty) {
  StagingArena& first = arenas.take();
  put(first, std::byte{1});
  arenas.give_back(first);
  BOOST_TEST(&arenas.take() == &first);
  BOOST_TEST(first.remaining() == StagingArena::kBytes);
}

BOOST_AUTO_TEST_CASE(what_is_kept_stays_until_it_is_released) {
  StagingArena& home = arenas.take();
  const auto one = put(home, std::byte{1});
  const auto other = put(home, std::byte{2});
  const auto place = arenas.keep(one);
  BOOST_REQUIRE(place.has_value());
  BOOST_REQUIRE(arenas.keep(other) == place);
  arenas.give_back(home);
  for (int round = 0; round < 100; ++round) {
    StagingArena& arena = arenas.take();
    BOOST_REQUIRE(&arena != &home);
    put(arena, std::byte{9});
    arenas.give_back(arena);
  }
  arenas.release(*place);
  BOOST_TEST(all(one, std::byte{1}));
  BOOST_TEST(all(other, std::byte{2}));
  BOOST_TEST(&arenas.take() != &home);
  arenas.release(*place);
  BOOST_TEST(&arenas.take() == &home);
}

BOOST_AUTO_TEST_CASE(what_was_released_before_its_batch_was_over_costs_no_arena) {
  StagingArena& home = arenas.take();
  const auto place = arenas.keep(put(home, std::byte{1}));
  arenas.release(place.value());
  arenas.give_back(home);
  BOOST_TEST(&arenas.take() == &home);
}

// Two are in turn, and each batch has something to keep: the last arenas are not given away.
BOOST_AUTO_TEST_CASE(there_is_always_an_arena_to_go_on_with) {
  StagingArena* turn[] = {&arenas.take(), &arenas.take()};
  std::vector<StagingArenas::Place> places;
  for (std::uint32_t round = 0; round < 4 * StagingArenas::kArenas; ++round) {
    StagingArena*& current = turn[round % 2];
    if (const auto place = arenas.keep(put(*current, std::byte{1}))) places.push_back(*place);
    arenas.give_back(*current);
    current = &arenas.take();
    BOOST_REQUIRE(turn[0] != turn[1]);
    BOOST_REQUIRE(current->remaining() == StagingArena::kBytes);
  }
  BOOST_TEST(places.size() == StagingArenas::kArenas - 2);
  for (const StagingArenas::Place place : places) arenas.release(place);
  BOOST_TEST(arenas.keep(put(*turn[0], std::byte{1})).has_value());
}

BOOST_AUTO_TEST_CASE(bytes_that_lie_elsewhere_are_not_kept) {
  const std::vector<std::byte> elsewhere(kLength);
  BOOST_TEST(!arenas.keep(elsewhere).has_value());
  BOOST_TEST(!arenas.keep({}).has_value());
}

// At any other distance below that the kernel might copy bytewise (memory/bytewise_copies.hpp).
BOOST_AUTO_TEST_CASE(what_is_aligned_like_an_address_lies_at_its_offset_within_64_bytes) {
  StagingArena& arena = arenas.take();
  for (std::uint64_t address = 0x1000; address < 0x1100; ++address) {
    arena.take(1);
    arena.align_like(address);
    const auto place = reinterpret_cast<std::uintptr_t>(arena.take(8));
    BOOST_REQUIRE(place % 64 == address % 64);
    BOOST_REQUIRE(!memory::is_copied_bytewise(place, address));
  }
}

BOOST_AUTO_TEST_CASE(what_continues_an_address_continues_the_bytes) {
  StagingArena& arena = arenas.take();
  arena.align_like(0x1234);
  const std::byte* const first = arena.take(100);
  arena.align_like(0x1234 + 100);
  BOOST_TEST(arena.take(100) == first + 100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
