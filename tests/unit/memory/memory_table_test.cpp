#include "device_model/memory/memory_table.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "device_model/in_process/in_process_memory.hpp"

namespace urnic::memory::test {

using transport::AccessRight;
using transport::KeyCheck;
using transport::Lkey;
using transport::MemoryRange;
using transport::PdId;
using wire::Qpn;
using wire::Rkey;

namespace {

constexpr PdId kPd{7};
constexpr Qpn kQp{17};
constexpr AccessRight kRights[] = {AccessRight::local_read, AccessRight::local_write,
                                   AccessRight::remote_read, AccessRight::remote_write,
                                   AccessRight::remote_atomic};

struct Fixture {
  InProcessMemory memory;
  MemoryTable table{64};
  MemoryRange range;

  RegionSpec spec(std::uint32_t access = access_local_write) {
    return {&memory, kPd, 0x7000'0000, 0x10'0000, 0x1000, access};
  }
  Lkey add(std::uint32_t access = access_local_write) { return table.add_region(spec(access)).value(); }
  KeyCheck local(Lkey key, std::uint64_t address, std::uint32_t length,
                 AccessRight right = AccessRight::local_read) {
    return table.check_local(key, kPd, address, length, right, range);
  }
  KeyCheck remote(Lkey key, std::uint64_t address, std::uint32_t length, AccessRight right) {
    return table.check_remote(Rkey{key.value}, kPd, kQp, address, length, right, range);
  }
};

bool is_local(AccessRight right) {
  return right == AccessRight::local_read || right == AccessRight::local_write;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(memory_table, Fixture)

BOOST_AUTO_TEST_CASE(an_lkey_may_be_valid_in_all_domains) {
  const Lkey key = add(access_local_write | access_remote_read | access_in_all_domains);
  const Lkey other = add(access_local_write | access_remote_read);
  constexpr PdId kOtherPd{8};
  BOOST_TEST(
      (table.check_local(key, kOtherPd, 0x10'0000, 16, AccessRight::local_write, range) == KeyCheck::ok));
  BOOST_TEST((table.check_local(other, kOtherPd, 0x10'0000, 16, AccessRight::local_write, range) ==
              KeyCheck::wrong_pd));
  BOOST_TEST((table.check_remote(Rkey{key.value}, kOtherPd, kQp, 0x10'0000, 16, AccessRight::remote_read,
                                 range) == KeyCheck::wrong_pd));
}

BOOST_AUTO_TEST_CASE(iova_is_translated_to_the_process_address) {
  const Lkey key = add();
  BOOST_REQUIRE(local(key, 0x10'0123, 16) == KeyCheck::ok);
  BOOST_TEST(range.address == 0x7000'0123);
  BOOST_TEST(range.length == 16);
  BOOST_TEST(range.space == &memory);
}

BOOST_AUTO_TEST_CASE(iova_may_be_zero_or_above_the_address) {
  RegionSpec zero_based = spec();
  zero_based.iova = 0;
  const Lkey low = table.add_region(zero_based).value();
  BOOST_REQUIRE(local(low, 5, 1) == KeyCheck::ok);
  BOOST_TEST(range.address == 0x7000'0005);
  RegionSpec high = spec();
  high.iova = 0xFFFF'FFFF'FFFF'F000;  // the highest page
  const Lkey last = table.add_region(high).value();
  BOOST_REQUIRE(local(last, 0xFFFF'FFFF'FFFF'FFFF, 1) == KeyCheck::ok);
  BOOST_TEST(range.address == 0x7000'0FFF);
  BOOST_TEST((local(last, 0xFFFF'FFFF'FFFF'FFFF, 2) == KeyCheck::out_of_bounds));
  BOOST_TEST((local(last, 0xFFFF'FFFF'FFFF'F123, 1) == KeyCheck::ok));
  BOOST_TEST((local(last, 0, 1) == KeyCheck::out_of_bounds));
}

// No program should register such a region; the part that wraps around must be unreachable.
BOOST_AUTO_TEST_CASE(a_region_does_not_go_on_at_zero) {
  RegionSpec wrapping = spec();
  wrapping.iova = 0xFFFF'FFFF'FFFF'F000;
  wrapping.length = 0x2000;
  const Lkey key = table.add_region(wrapping).value();
  BOOST_TEST((local(key, 0xFFFF'FFFF'FFFF'FFFF, 1) == KeyCheck::ok));
  BOOST_TEST((local(key, 0, 1) == KeyCheck::out_of_bounds));
}

// The null region and implicit on-demand paging: all addresses but the very last byte.
BOOST_AUTO_TEST_CASE(a_region_may_be_the_whole_address_space) {
  const Lkey key = table.add_region({&memory, kPd, 0, 0, ~std::uint64_t{0}, access_local_write}).value();
  BOOST_TEST((local(key, 0, 0xFFFF'FFFF) == KeyCheck::ok));
  BOOST_TEST((local(key, 0x7000'0000'0000, 1) == KeyCheck::ok));
  BOOST_TEST(range.address == 0x7000'0000'0000);
  BOOST_TEST((local(key, 0xFFFF'FFFF'FFFF'FFFE, 1) == KeyCheck::ok));
  BOOST_TEST((local(key, 0xFFFF'FFFF'FFFF'FFFE, 2) == KeyCheck::out_of_bounds));
}

// Completions carry received bytes only if the program itself can put them into place.
BOOST_AUTO_TEST_CASE(received_bytes_are_left_to_the_program_only_in_memory_of_its_own) {
  BOOST_REQUIRE((local(add(access_local_write), 0x10'0000, 1) == KeyCheck::ok));
  BOOST_TEST(range.owner_only);
  BOOST_REQUIRE((local(add(access_local_write | std::uint32_t{access_placed_by_device}), 0x10'0000, 1) ==
                 KeyCheck::ok));
  BOOST_TEST(!range.owner_only);
  BOOST_REQUIRE((local(add(access_local_write | access_remote_read), 0x10'0000, 1) == KeyCheck::ok));
  BOOST_TEST(!range.owner_only);
}

BOOST_AUTO_TEST_CASE(an_empty_table_knows_no_key) {
  for (const std::uint32_t value : {0u, 1u, 0x100u, 0xFFFF'FFFFu})
    BOOST_TEST((local(Lkey{value}, 0, 1) == KeyCheck::unknown_key));
}

BOOST_AUTO_TEST_CASE(bounds_are_exact) {
  const Lkey key = add();
  struct {
    std::uint64_t address;
    std::uint32_t length;
    KeyCheck expected;
  } const cases[] = {
      {0x10'0000, 0x1000, KeyCheck::ok},
      {0x10'0FFF, 1, KeyCheck::ok},
      {0x10'0000, 0x1001, KeyCheck::out_of_bounds},
      {0x10'0FFF, 2, KeyCheck::out_of_bounds},
      {0x10'1000, 1, KeyCheck::out_of_bounds},
      {0x0F'FFFF, 1, KeyCheck::out_of_bounds},
      {0x0F'FFFF, 2, KeyCheck::out_of_bounds},
      {0xFFFF'FFFF'FFFF'FFFF, 0xFFFF'FFFF, KeyCheck::out_of_bounds},
      {0xFFFF'FFFF'FFFF'FFFF, 2, KeyCheck::out_of_bounds},
      {0x10'0001, 0xFFFF'FFFF, KeyCheck::out_of_bounds},
      {0, 0, KeyCheck::ok},  // a length of 0 is always within bounds
      {0x10'1000, 0, KeyCheck::ok},
  };
  for (const auto& c : cases) {
    BOOST_TEST_CONTEXT(std::hex << c.address << "+" << c.length)
    BOOST_TEST((local(key, c.address, c.length) == c.expected));
  }
}

// IBTA 10.6.3: local read is implied, every other right is granted by its flag and by no other.
BOOST_AUTO_TEST_CASE(each_right_has_its_flag) {
  const std::uint32_t flags[] = {0, access_local_write, access_remote_read, access_remote_write,
                                 access_remote_atomic};
  for (std::size_t granted = 0; granted < std::size(flags); ++granted) {
    const Lkey key = add(flags[granted]);
    for (std::size_t asked = 0; asked < std::size(kRights); ++asked) {
      const KeyCheck result = is_local(kRights[asked]) ? local(key, 0x10'0000, 1, kRights[asked])
                                                       : remote(key, 0x10'0000, 1, kRights[asked]);
      const bool allowed = asked == 0 || asked == granted;
      BOOST_TEST((result == (allowed ? KeyCheck::ok : KeyCheck::no_right)));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_peers_have_no_way_to_is_its_owners_only) {
  for (const std::uint32_t access : {0u, +access_local_write}) {
    BOOST_REQUIRE(local(add(access), 0x10'0000, 1) == KeyCheck::ok);
    BOOST_TEST(range.owner_only);
  }
  for (const std::uint32_t access :
       {access_remote_read, access_remote_write, access_remote_atomic, access_window_bind}) {
    BOOST_REQUIRE(local(add(access_local_write | access), 0x10'0000, 1) == KeyCheck::ok);
    BOOST_TEST(!range.owner_only);
  }
}

BOOST_AUTO_TEST_CASE(another_protection_domain_is_refused) {
  const Lkey key = add(access_local_write | access_remote_write);
  BOOST_TEST(
      (table.check_local(key, PdId{8}, 0x10'0000, 1, AccessRight::local_read, range) == KeyCheck::wrong_pd));
  BOOST_TEST((table.check_remote(Rkey{key.value}, PdId{8}, kQp, 0x10'0000, 1, AccessRight::remote_write,
                                 range) == KeyCheck::wrong_pd));
}

BOOST_AUTO_TEST_CASE(keys_that_were_not_given_out_are_unknown) {
  const Lkey key = add();
  for (const std::uint32_t value :
       {0u, key.value + 1, key.value ^ 0x80, key.value + 0x100, 0xFFFF'FFFFu, 0xFFu, (64u << 8), (65u << 8)})
    BOOST_TEST((local(Lkey{value}, 0x10'0000, 1) == KeyCheck::unknown_key));
}

BOOST_AUTO_TEST_CASE(a_removed_region_is_unknown) {
  const Lkey key = add();
  BOOST_TEST(table.remove_region(key));
  BOOST_TEST((local(key, 0x10'0000, 1) == KeyCheck::unknown_key));
  BOOST_TEST(!table.remove_region(key));
}

BOOST_AUTO_TEST_CASE(a_refused_check_gives_no_range) {
  const Lkey key = add();
  range = {nullptr, 42, 42};
  BOOST_TEST((local(key, 0, 1) == KeyCheck::out_of_bounds));
  BOOST_TEST(range.address == 42);
}

BOOST_AUTO_TEST_CASE(the_table_has_as_many_entries_as_it_says) {
  std::set<std::uint32_t> keys;
  for (int i = 0; i < 64; ++i) keys.insert(add().value);
  BOOST_TEST(keys.size() == 64);
  BOOST_TEST(!keys.contains(0));
  BOOST_TEST(!table.add_region(spec()));
  BOOST_TEST(!table.add_window(kPd, 1));
  BOOST_TEST(table.remove_region(Lkey{*keys.begin()}));
  BOOST_TEST(table.add_region(spec()).has_value());
  BOOST_TEST(!table.add_region(spec()));
}

// A peer with an old key must not reach another region by it.
BOOST_AUTO_TEST_CASE(keys_come_back_as_late_as_possible) {
  std::vector<Lkey> keys;
  for (int i = 0; i < 64; ++i) keys.push_back(add());
  for (const Lkey key : keys) BOOST_REQUIRE(table.remove_region(key));
  // The entry freed first is reused first, with another key.
  std::set<std::uint32_t> seen;
  for (const Lkey key : keys) seen.insert(key.value);
  for (int round = 1; round < 256; ++round) {
    for (const Lkey first : keys) {
      const Lkey key = add();
      BOOST_REQUIRE_EQUAL(key.value >> 8, first.value >> 8);
      BOOST_REQUIRE(seen.insert(key.value).second);
      BOOST_REQUIRE(table.remove_region(key));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_large_table_prefers_entries_never_used) {
  MemoryTable large(1u << 20);
  std::set<std::uint32_t> indices;
  for (int i = 0; i < 4000; ++i) {
    const Lkey key = large.add_region(spec()).value();
    BOOST_REQUIRE(indices.insert(key.value >> 8).second);
    BOOST_REQUIRE(large.remove_region(key));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_large_table_grows_no_further_than_its_delay) {
  MemoryTable large(1u << 20);
  std::uint32_t highest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Lkey key = large.add_region(spec()).value();
    highest = std::max(highest, key.value >> 8);
    BOOST_REQUIRE(large.remove_region(key));
  }
  BOOST_TEST(highest < 8192);
}

BOOST_AUTO_TEST_CASE(a_million_entries_over_many_chunks) {
  constexpr std::uint32_t kMany = 1u << 20;
  MemoryTable large(kMany);
  std::vector<Lkey> keys;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    RegionSpec numbered = spec();
    numbered.address = i * std::uint64_t{4096};
    keys.push_back(large.add_region(numbered).value());
  }
  BOOST_TEST(!large.add_region(spec()));
  for (std::uint32_t i = 0; i < kMany; i += 997) {
    BOOST_REQUIRE(large.check_local(keys[i], kPd, 0x10'0000, 1, AccessRight::local_read, range) ==
                  KeyCheck::ok);
    BOOST_REQUIRE_EQUAL(range.address, i * std::uint64_t{4096});
  }
}

BOOST_AUTO_TEST_CASE(a_seed_chooses_the_keys) {
  const auto keys = [&](MemoryTable&& seeded) {
    std::vector<std::uint32_t> all;
    for (int i = 0; i < 64; ++i) {
      const Lkey key = seeded.add_region(spec()).value();
      BOOST_TEST(
          (seeded.check_local(key, kPd, 0x10'0000, 1, AccessRight::local_read, range) == KeyCheck::ok));
      for (const std::uint32_t other : {key.value + 1, key.value - 1, key.value & 0xFFFF, 0u, ~0u}) {
        if (std::find(all.begin(), all.end(), other) != all.end()) continue;
        BOOST_TEST((seeded.check_local(Lkey{other}, kPd, 0x10'0000, 1, AccessRight::local_read, range) ==
                    KeyCheck::unknown_key));
      }
      all.push_back(key.value);
    }
    BOOST_TEST(!seeded.add_region(spec()));
    BOOST_TEST(seeded.remove_region(Lkey{all[7]}));
    BOOST_TEST((seeded.add_region(spec())->value >> 8) == (all[7] >> 8));
    return all;
  };
  const auto some = keys(MemoryTable(64, NumberSeed(1)));
  BOOST_TEST(some == keys(MemoryTable(64, NumberSeed(1))));
  BOOST_TEST((some[0] >> 8) != (keys(MemoryTable(64, NumberSeed(2)))[0] >> 8));
  std::set<std::uint32_t> low_bits;
  for (const std::uint32_t key : some) low_bits.insert(key & 0xFF);
  BOOST_TEST(low_bits.size() > 32);
}

// With any first index, 24 bits of index are enough for the largest table.
BOOST_AUTO_TEST_CASE(the_largest_table_has_room_with_any_seed) {
  constexpr std::uint32_t kLargest = (1u << 24) - 1;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    MemoryTable large(kLargest, NumberSeed(seed));
    BOOST_TEST((large.add_region(spec())->value >> 8) == 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_changed_region_has_a_new_key_and_the_new_properties) {
  const Lkey key = add();
  RegionSpec changed = spec(access_local_write | access_remote_read);
  changed.address = 0x9000'0000;
  changed.pd = PdId{9};
  Lkey next;
  BOOST_REQUIRE(table.change_region(key, changed, next));
  BOOST_TEST((local(key, 0x10'0000, 1) == KeyCheck::unknown_key));
  BOOST_TEST((local(next, 0x10'0000, 1) == KeyCheck::wrong_pd));
  BOOST_REQUIRE((table.check_remote(Rkey{next.value}, PdId{9}, kQp, 0x10'0000, 1, AccessRight::remote_read,
                                    range) == KeyCheck::ok));
  BOOST_TEST(range.address == 0x9000'0000);
  BOOST_TEST(!table.change_region(key, changed, next));

  Lkey same;
  changed.access = 0;
  changed.pd = kPd;
  BOOST_REQUIRE(table.change_region(next, changed, same));
  BOOST_TEST(same.value == next.value);
  BOOST_TEST((table.check_remote(Rkey{same.value}, kPd, kQp, 0x10'0000, 1, AccessRight::remote_read, range) ==
              KeyCheck::no_right));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
