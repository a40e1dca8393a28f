#include "device_model/control/objects/arena_allocator.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <vector>

namespace urnic::control {
namespace {

bool is_zero(const ArenaBlock& block) {
  return std::all_of(block.data(), block.data() + block.length(),
                     [](std::byte b) { return b == std::byte{}; });
}

BOOST_AUTO_TEST_SUITE(arena)

BOOST_AUTO_TEST_CASE(memory_used_again_is_zero) {
  ArenaAllocator arenas(1 << 20);
  std::uint64_t offset = 0;
  {
    const ArenaBlock block = arenas.allocate(4096);
    offset = block.offset();
    BOOST_TEST(is_zero(block));
    std::memset(block.data(), 0xA5, block.length());
  }
  const ArenaBlock again = arenas.allocate(4096);
  BOOST_TEST(again.offset() == offset);
  BOOST_TEST(is_zero(again));
}

BOOST_AUTO_TEST_CASE(blocks_are_aligned_and_apart) {
  ArenaAllocator arenas(64 << 20);
  std::mt19937 random(1);
  std::vector<ArenaBlock> blocks;
  for (int round = 0; round < 2000; ++round) {
    if (random() % 3 == 0 && !blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      blocks.pop_back();
      continue;
    }
    blocks.push_back(arenas.allocate(std::uint64_t{1} << (random() % 16)));
  }
  std::sort(blocks.begin(), blocks.end(), [](const ArenaBlock& a, const ArenaBlock& b) {
    return std::pair(a.arena(), a.offset()) < std::pair(b.arena(), b.offset());
  });
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    BOOST_REQUIRE_EQUAL(blocks[i].offset() % std::clamp<std::uint64_t>(blocks[i].length(), 128, 4096), 0u);
    BOOST_REQUIRE_LE(blocks[i].offset() + blocks[i].length(), arenas.size(blocks[i].arena()));
    if (i == 0 || blocks[i - 1].arena() != blocks[i].arena()) continue;
    BOOST_REQUIRE_LE(blocks[i - 1].offset() + blocks[i - 1].length(), blocks[i].offset());
  }
}

BOOST_AUTO_TEST_CASE(freed_neighbours_join) {
  ArenaAllocator arenas(1 << 20);
  std::vector<ArenaBlock> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(arenas.allocate(4096));
  const std::uint64_t total = arenas.total_size();
  // Every order of neighbours: even ones first, then the odd ones between them.
  for (std::size_t i = 0; i < blocks.size(); i += 2) blocks[i] = ArenaBlock();
  for (std::size_t i = 1; i < blocks.size(); i += 2) blocks[i] = ArenaBlock();
  const ArenaBlock whole = arenas.allocate(64 * 4096);
  BOOST_TEST(whole.length() == 64u * 4096u);
  BOOST_TEST(arenas.total_size() == total);
}

// Each call does a little, and what it has prepared is what is given.
BOOST_AUTO_TEST_CASE(large_blocks_are_prepared_in_portions) {
  constexpr std::uint64_t kLarge = 3 << 20;
  ArenaAllocator arenas(64 << 20);
  int fresh = 0;
  while (!arenas.prepare({kLarge, 4096, kLarge})) ++fresh;
  BOOST_TEST(fresh >= 64);
  const std::uint64_t total = arenas.total_size();
  {
    const ArenaBlock one = arenas.allocate(kLarge);
    const ArenaBlock other = arenas.allocate(kLarge);
    BOOST_TEST((one.arena() != other.arena() || one.offset() != other.offset()));
    BOOST_TEST(arenas.total_size() == total);
    for (const ArenaBlock* block : {&one, &other}) {
      BOOST_TEST(is_zero(*block));
      std::memset(block->data(), 0xA5, block->length());
    }
  }
  int again = 0;
  while (!arenas.prepare({kLarge, kLarge})) ++again;
  BOOST_TEST(again == fresh);
  BOOST_TEST(is_zero(arenas.allocate(kLarge)));
  BOOST_TEST(is_zero(arenas.allocate(kLarge)));
}

BOOST_AUTO_TEST_CASE(small_blocks_need_no_preparation) {
  ArenaAllocator arenas(64 << 20);
  BOOST_TEST(arenas.prepare({128, 4096, 0}));
  BOOST_TEST(arenas.total_size() == 0u);
}

BOOST_AUTO_TEST_CASE(what_was_prepared_goes_when_the_rest_cannot_be_had) {
  ArenaAllocator arenas(8 << 20);
  const auto is_out_of_memory = [](const std::system_error& error) { return error.code().value() == ENOMEM; };
  const auto prepare_all = [&] {
    while (!arenas.prepare({5 << 20, 4 << 20})) {
    }
  };
  BOOST_CHECK_EXCEPTION(prepare_all(), std::system_error, is_out_of_memory);
  const ArenaBlock block = arenas.allocate(5 << 20);
  BOOST_TEST(is_zero(block));
}

// An arena is larger than its first blocks: memory that nobody has yet is not taken from the machine.
BOOST_AUTO_TEST_CASE(an_arena_takes_memory_as_its_blocks_do) {
  ArenaAllocator arenas(64 << 20);
  const ArenaBlock block = arenas.allocate(4096);
  struct stat file {};
  BOOST_REQUIRE(fstat(arenas.descriptor(block.arena()), &file) == 0);
  BOOST_TEST(file.st_size == 256 * 1024);
  BOOST_TEST(file.st_blocks * 512 == 64 * 1024);
}

BOOST_AUTO_TEST_CASE(the_limit_holds) {
  ArenaAllocator arenas(1 << 20);
  const ArenaBlock half = arenas.allocate(600 * 1024);
  const auto is_out_of_memory = [](const std::system_error& error) { return error.code().value() == ENOMEM; };
  BOOST_CHECK_EXCEPTION(arenas.allocate(600 * 1024), std::system_error, is_out_of_memory);
  BOOST_CHECK_EXCEPTION(arenas.allocate(~std::uint64_t{0}), std::system_error, is_out_of_memory);
  BOOST_TEST(arenas.total_size() <= (1u << 20));
  BOOST_TEST(arenas.allocate(64 * 1024).length() == 64u * 1024u);
}

BOOST_AUTO_TEST_CASE(programs_cannot_shrink_an_arena_under_the_device) {
  ArenaAllocator arenas(1 << 20);
  const ArenaBlock block = arenas.allocate(4096);
  const int descriptor = arenas.descriptor(block.arena());
  BOOST_TEST(ftruncate(descriptor, 0) == -1);
  BOOST_TEST(ftruncate(descriptor, 1 << 30) == -1);
  struct stat status {};
  BOOST_REQUIRE(fstat(descriptor, &status) == 0);
  BOOST_TEST(static_cast<std::uint64_t>(status.st_blocks) * 512 >=
             block.length());  // no page can be missing later
}

BOOST_AUTO_TEST_CASE(nothing_is_an_empty_block) {
  ArenaAllocator arenas(1 << 20);
  BOOST_TEST(arenas.allocate(0).length() == 0u);
  BOOST_TEST(arenas.total_size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control
