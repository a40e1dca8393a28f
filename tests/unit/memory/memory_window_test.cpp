// Memory windows (IBTA 10.6.7, ibv_bind_mw(3)).
#include <boost/test/unit_test.hpp>
#include <vector>

#include "device_model/in_process/in_process_memory.hpp"
#include "device_model/memory/memory_table.hpp"

namespace urnic::memory::test {

using transport::AccessRight;
using transport::KeyCheck;
using transport::Lkey;
using transport::MemoryRange;
using transport::PdId;
using transport::WindowBinding;
using wire::Qpn;
using wire::Rkey;

namespace memory_windows {

constexpr PdId kPd{7};
constexpr Qpn kQp{17};
constexpr Qpn kOtherQp{18};
constexpr std::uint64_t kStart = 0x10'0200;

struct Fixture {
  InProcessMemory memory;
  MemoryTable table{64};
  MemoryRange range;
  Lkey region = add(access_local_write | access_window_bind);
  Rkey type_1 = table.add_window(kPd, 1).value();
  Rkey type_2 = table.add_window(kPd, 2).value();

  Lkey add(std::uint32_t access, PdId pd = kPd) {
    return table.add_region({&memory, pd, 0x7000'0000, 0x10'0000, 0x1000, access}).value();
  }
  WindowBinding binding(Rkey window, std::uint32_t access = access_remote_read | access_remote_write) {
    return {window, Rkey{window.value + 1}, region, kStart, 0x100, access};
  }
  KeyCheck bind(const WindowBinding& what, Qpn queue_pair = kQp) { return table.bind(what, kPd, queue_pair); }
  KeyCheck remote(Rkey key, std::uint64_t address = kStart, std::uint32_t length = 1,
                  AccessRight right = AccessRight::remote_read, Qpn queue_pair = kQp) {
    return table.check_remote(key, kPd, queue_pair, address, length, right, range);
  }
};

Rkey next(Rkey key) { return Rkey{key.value + 1}; }

}  // namespace memory_windows

BOOST_FIXTURE_TEST_SUITE(memory_windows, Fixture)

BOOST_AUTO_TEST_CASE(an_unbound_window_opens_nothing) {
  for (const Rkey key : {type_1, type_2}) {
    BOOST_TEST((remote(key) == KeyCheck::unknown_key));
    BOOST_TEST((remote(key, 0, 0) == KeyCheck::unknown_key));
  }
}

BOOST_AUTO_TEST_CASE(a_bound_window_opens_its_range_under_its_new_key) {
  for (const Rkey key : {type_1, type_2}) {
    BOOST_REQUIRE((bind(binding(key)) == KeyCheck::ok));
    BOOST_TEST((remote(key) == KeyCheck::unknown_key));
    BOOST_REQUIRE((remote(next(key), kStart + 0xFF, 1) == KeyCheck::ok));
    BOOST_TEST(range.address == 0x7000'02FF);
    BOOST_TEST(range.space == &memory);
    BOOST_TEST((remote(next(key), kStart + 0xFF, 2) == KeyCheck::out_of_bounds));
    BOOST_TEST((remote(next(key), kStart - 1, 1) == KeyCheck::out_of_bounds));
  }
}

BOOST_AUTO_TEST_CASE(a_window_is_no_lkey) {
  BOOST_REQUIRE((bind(binding(type_1)) == KeyCheck::ok));
  BOOST_TEST((table.check_local(Lkey{next(type_1).value}, kPd, kStart, 1, AccessRight::local_read, range) ==
              KeyCheck::unknown_key));
}

BOOST_AUTO_TEST_CASE(window_rights_are_its_own) {
  // The region itself gives no remote right.
  BOOST_TEST((remote(Rkey{region.value}) == KeyCheck::no_right));
  BOOST_REQUIRE((bind(binding(type_1, access_remote_read)) == KeyCheck::ok));
  BOOST_TEST((remote(next(type_1)) == KeyCheck::ok));
  BOOST_TEST((remote(next(type_1), kStart, 1, AccessRight::remote_write) == KeyCheck::no_right));
  BOOST_TEST((remote(next(type_1), kStart, 8, AccessRight::remote_atomic) == KeyCheck::no_right));
}

// C10-73
BOOST_AUTO_TEST_CASE(the_region_must_allow_binding) {
  region = add(access_local_write | access_remote_read);
  for (const Rkey key : {type_1, type_2})
    BOOST_TEST((bind(binding(key, access_remote_read)) == KeyCheck::no_right));
}

// C10-74
BOOST_AUTO_TEST_CASE(remote_writes_need_a_region_that_may_be_written) {
  region = add(access_window_bind);
  for (const Rkey key : {type_1, type_2}) {
    BOOST_TEST((bind(binding(key, access_remote_write)) == KeyCheck::no_right));
    BOOST_TEST((bind(binding(key, access_remote_atomic)) == KeyCheck::no_right));
    BOOST_TEST((bind(binding(key, access_remote_read)) == KeyCheck::ok));
  }
}

// C10-75
BOOST_AUTO_TEST_CASE(a_window_lies_within_its_region) {
  struct {
    std::uint64_t address;
    std::uint64_t length;
    KeyCheck expected;
  } const cases[] = {{0x10'0000, 0x1001, KeyCheck::out_of_bounds},
                     {0x0F'FFFF, 1, KeyCheck::out_of_bounds},
                     {0x10'1000, 1, KeyCheck::out_of_bounds},
                     {0x10'0001, ~std::uint64_t{0}, KeyCheck::out_of_bounds},
                     {~std::uint64_t{0}, 2, KeyCheck::out_of_bounds},
                     {0x10'0000, 0x1000, KeyCheck::ok}};
  for (const auto& c : cases) {
    WindowBinding what = binding(type_1);
    what.address = c.address;
    what.length = c.length;
    BOOST_TEST((bind(what) == c.expected));
  }
}

// C10-72: the QP's, the window's and the region's protection domain are one.
BOOST_AUTO_TEST_CASE(protection_domains_must_agree) {
  for (const Rkey key : {type_1, type_2}) {
    BOOST_TEST((table.bind(binding(key), PdId{8}, kQp) == KeyCheck::wrong_pd));
    WindowBinding foreign = binding(key);
    foreign.region = add(access_local_write | access_window_bind, PdId{8});
    BOOST_TEST((bind(foreign) == KeyCheck::wrong_pd));
    BOOST_REQUIRE((bind(binding(key)) == KeyCheck::ok));
    BOOST_TEST((table.check_remote(next(key), PdId{8}, kQp, kStart, 1, AccessRight::remote_read, range) ==
                KeyCheck::wrong_pd));
  }
}

BOOST_AUTO_TEST_CASE(window_and_region_keys_do_not_stand_for_each_other) {
  WindowBinding no_window = binding(Rkey{region.value});
  BOOST_TEST((bind(no_window) == KeyCheck::unknown_key));
  WindowBinding no_region = binding(type_1);
  no_region.region = Lkey{type_2.value};
  BOOST_TEST((bind(no_region) == KeyCheck::unknown_key));
  no_region.region = Lkey{0};
  BOOST_TEST((bind(no_region) == KeyCheck::unknown_key));
}

BOOST_AUTO_TEST_CASE(the_consumer_owns_only_the_low_bits_of_a_key) {
  WindowBinding what = binding(type_2);
  what.next = Rkey{type_2.value + 0x100};
  BOOST_TEST((bind(what) == KeyCheck::unknown_key));
  what.next = Rkey{0};
  BOOST_TEST((bind(what) == KeyCheck::unknown_key));
  what.next = Rkey{type_2.value ^ 0xFF};
  BOOST_TEST((bind(what) == KeyCheck::ok));
  BOOST_TEST((remote(what.next) == KeyCheck::ok));
}

BOOST_AUTO_TEST_CASE(a_type_1_window_may_keep_its_key) {
  WindowBinding what = binding(type_1);
  what.next = Rkey{0};
  BOOST_REQUIRE((bind(what) == KeyCheck::ok));
  BOOST_TEST((remote(type_1) == KeyCheck::ok));
}

// o10-36.2.2
BOOST_AUTO_TEST_CASE(only_type_2_windows_are_zero_based) {
  const std::uint32_t access = access_remote_read | access_zero_based;
  BOOST_TEST((bind(binding(type_1, access)) == KeyCheck::no_right));
  BOOST_REQUIRE((bind(binding(type_2, access)) == KeyCheck::ok));
  BOOST_REQUIRE((remote(next(type_2), 0xFF, 1) == KeyCheck::ok));
  BOOST_TEST(range.address == 0x7000'02FF);
  BOOST_TEST((remote(next(type_2), 0x100, 1) == KeyCheck::out_of_bounds));
  BOOST_TEST((remote(next(type_2), kStart, 1) == KeyCheck::out_of_bounds));
}

BOOST_AUTO_TEST_CASE(unknown_window_rights_are_refused) {
  BOOST_TEST((bind(binding(type_1, access_remote_read | access_local_write)) == KeyCheck::no_right));
  BOOST_TEST((bind(binding(type_2, 1u << 20)) == KeyCheck::no_right));
}

BOOST_AUTO_TEST_CASE(a_type_1_window_is_bound_again_and_unbound_by_a_bind) {
  BOOST_REQUIRE((bind(binding(type_1)) == KeyCheck::ok));
  const Rkey second = next(type_1);
  WindowBinding moved = binding(second);
  moved.address = 0x10'0800;
  BOOST_REQUIRE((bind(moved) == KeyCheck::ok));
  BOOST_TEST((remote(next(second)) == KeyCheck::out_of_bounds));
  BOOST_TEST((remote(next(second), 0x10'0800) == KeyCheck::ok));
  WindowBinding unbound = binding(next(second));
  unbound.length = 0;
  unbound.region = Lkey{0};
  BOOST_REQUIRE((bind(unbound) == KeyCheck::ok));
  BOOST_TEST((remote(unbound.next, 0x10'0800) == KeyCheck::unknown_key));
  BOOST_TEST(table.remove_region(region));
}

BOOST_AUTO_TEST_CASE(a_refused_bind_changes_nothing) {
  BOOST_REQUIRE((bind(binding(type_1)) == KeyCheck::ok));
  WindowBinding bad = binding(next(type_1));
  bad.length = 0x10000;
  BOOST_TEST((bind(bad) == KeyCheck::out_of_bounds));
  BOOST_TEST((remote(next(type_1)) == KeyCheck::ok));
  BOOST_TEST(!table.remove_region(region));
}

// o10-37.2.30, o10-37.2.40
BOOST_AUTO_TEST_CASE(a_type_2_window_is_invalidated_before_it_is_bound_again) {
  WindowBinding empty = binding(type_2);
  empty.length = 0;
  BOOST_TEST((bind(empty) == KeyCheck::out_of_bounds));
  BOOST_REQUIRE((bind(binding(type_2)) == KeyCheck::ok));
  BOOST_TEST((bind(binding(next(type_2))) == KeyCheck::in_use));
  BOOST_REQUIRE((table.invalidate(next(type_2), kPd, kQp) == KeyCheck::ok));
  BOOST_TEST((bind(binding(next(type_2))) == KeyCheck::ok));
}

BOOST_AUTO_TEST_CASE(a_type_2_window_belongs_to_the_queue_pair_that_bound_it) {
  BOOST_REQUIRE((bind(binding(type_2)) == KeyCheck::ok));
  BOOST_TEST(
      (remote(next(type_2), kStart, 1, AccessRight::remote_read, kOtherQp) == KeyCheck::wrong_queue_pair));
  BOOST_TEST((table.invalidate(next(type_2), kPd, kOtherQp) == KeyCheck::wrong_queue_pair));
  BOOST_TEST((remote(next(type_2)) == KeyCheck::ok));
  // Type 1: any QP of the protection domain.
  BOOST_REQUIRE((bind(binding(type_1)) == KeyCheck::ok));
  BOOST_TEST((remote(next(type_1), kStart, 1, AccessRight::remote_read, kOtherQp) == KeyCheck::ok));
}

// o10-37.2.26
BOOST_AUTO_TEST_CASE(only_type_2_windows_are_invalidated) {
  BOOST_REQUIRE((bind(binding(type_1)) == KeyCheck::ok));
  BOOST_TEST((table.invalidate(next(type_1), kPd, kQp) == KeyCheck::no_right));
  BOOST_TEST((table.invalidate(Rkey{region.value}, kPd, kQp) == KeyCheck::no_right));
  BOOST_TEST((table.invalidate(type_2, kPd, kQp) == KeyCheck::unknown_key));  // not bound
  BOOST_TEST((table.invalidate(Rkey{12345}, kPd, kQp) == KeyCheck::unknown_key));
  BOOST_REQUIRE((bind(binding(type_2)) == KeyCheck::ok));
  BOOST_TEST((table.invalidate(next(type_2), PdId{8}, kQp) == KeyCheck::wrong_pd));
  BOOST_TEST((table.invalidate(next(type_2), kPd, kQp) == KeyCheck::ok));
  BOOST_TEST((remote(next(type_2)) == KeyCheck::unknown_key));
}

BOOST_AUTO_TEST_CASE(a_region_with_bound_windows_stays) {
  BOOST_REQUIRE((bind(binding(type_1)) == KeyCheck::ok));
  BOOST_REQUIRE((bind(binding(type_2)) == KeyCheck::ok));
  Lkey changed;
  const RegionSpec spec{&memory, kPd, 0x8000'0000, 0, 0x1000, access_window_bind};
  BOOST_TEST(!table.remove_region(region));
  BOOST_TEST(!table.change_region(region, spec, changed));
  BOOST_REQUIRE((table.invalidate(next(type_2), kPd, kQp) == KeyCheck::ok));
  BOOST_TEST(!table.remove_region(region));
  table.remove_window(next(type_1));
  BOOST_TEST((remote(next(type_1)) == KeyCheck::unknown_key));
  BOOST_TEST(table.remove_region(region));
}

BOOST_AUTO_TEST_CASE(windows_do_not_outlive_their_queue_pair) {
  const Rkey other = table.add_window(kPd, 2).value();
  BOOST_REQUIRE((bind(binding(type_1)) == KeyCheck::ok));
  BOOST_REQUIRE((bind(binding(type_2)) == KeyCheck::ok));
  BOOST_REQUIRE((bind(binding(other), kOtherQp) == KeyCheck::ok));
  table.release_queue_pair(kQp);
  BOOST_TEST((remote(next(type_2)) == KeyCheck::unknown_key));
  BOOST_TEST((remote(next(type_1)) == KeyCheck::ok));
  BOOST_TEST((remote(next(other), kStart, 1, AccessRight::remote_read, kOtherQp) == KeyCheck::ok));
}

// However many windows other QPs have bound: the engine serves nobody else meanwhile.
BOOST_AUTO_TEST_CASE(a_queue_pair_that_goes_has_its_own_windows_looked_at_and_no_others) {
  MemoryTable large(4096);
  const Lkey bound = large.add_region({&memory, kPd, 0x7000'0000, 0x10'0000, 0x1000, 0x1F}).value();
  const auto bind_one = [&](Qpn queue_pair) {
    const Rkey window = large.add_window(kPd, 2).value();
    const WindowBinding binding{window, next(window), bound, kStart, 0x100, access_remote_read};
    BOOST_REQUIRE((large.bind(binding, kPd, queue_pair) == KeyCheck::ok));
    return next(window);
  };
  std::vector<Rkey> own;
  for (int i = 0; i < 3000; ++i) {
    bind_one(kOtherQp);
    if (i % 1000 == 7) own.push_back(bind_one(kQp));
  }
  large.remove_window(own[1]);  // out of the middle of the list
  BOOST_TEST(large.release_queue_pair(kQp) == 2u);
  BOOST_TEST(large.release_queue_pair(kQp) == 0u);
  for (const Rkey key : own) {
    BOOST_TEST((large.check_remote(key, kPd, kQp, kStart, 1, AccessRight::remote_read, range) ==
                KeyCheck::unknown_key));
  }
  // Many windows of one QP are released in portions.
  BOOST_TEST(large.release_queue_pair(kOtherQp, 1000) == 1000u);
  BOOST_TEST(!large.remove_region(bound));
  BOOST_TEST(large.release_queue_pair(kOtherQp, 1000) == 1000u);
  BOOST_TEST(large.release_queue_pair(kOtherQp, 1001) == 1000u);
  BOOST_TEST(large.remove_region(bound));
}

// The other QP's number has the same low bits.
BOOST_AUTO_TEST_CASE(windows_of_a_queue_pair_with_the_same_list_stay) {
  constexpr Qpn kSameList{kQp.value + (1u << 16)};
  const Rkey other = table.add_window(kPd, 2).value();
  BOOST_REQUIRE((bind(binding(type_2)) == KeyCheck::ok));
  BOOST_REQUIRE((bind(binding(other), kSameList) == KeyCheck::ok));
  table.release_queue_pair(kQp);
  BOOST_TEST((remote(next(type_2)) == KeyCheck::unknown_key));
  BOOST_TEST((remote(next(other), kStart, 1, AccessRight::remote_read, kSameList) == KeyCheck::ok));
}

BOOST_AUTO_TEST_CASE(removing_what_is_no_window_changes_nothing) {
  table.remove_window(Rkey{region.value});
  table.remove_window(Rkey{0});
  BOOST_TEST((bind(binding(type_1)) == KeyCheck::ok));
}

BOOST_AUTO_TEST_CASE(windows_have_two_types) {
  BOOST_CHECK_THROW(table.add_window(kPd, 0), std::invalid_argument);
  BOOST_CHECK_THROW(table.add_window(kPd, 3), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
