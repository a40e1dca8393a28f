// Batches against a living process, by both ways through the kernel.
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "tests/unit/memory/child_process.hpp"

namespace urnic::memory::test {

namespace {

std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 7 + i / 256 + 3); }

void fill_pattern(const Pages& pages) {
  for (std::size_t i = 0; i < pages.all().size(); ++i) pages.all()[i] = pattern(i);
}

// 'y' if each byte i of `pages` is expected(i).
template <class Expected>
char compare(const Pages& pages, Expected expected) {
  for (std::size_t i = 0; i < pages.all().size(); ++i)
    if (pages.all()[i] != expected(i)) return 'n';
  return 'y';
}

// A child that has no page 1.
ChildProcess child_with_hole(const Pages& pages) {
  return ChildProcess([&pages] {
    fill_pattern(pages);
    munmap(pages.page(1), Pages::kBytes);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transfer_batch)

BOOST_AUTO_TEST_CASE(reads_what_the_other_process_has) {
  for (const Way way : kWays) {
    Pages pages(3);
    ChildProcess child([&] { fill_pattern(pages); });
    auto memory = reach(child, way);
    std::vector<std::byte> here(Pages::kBytes * 2 + 100);
    const std::span<std::byte> bytes(here);
    Transfer batch[] = {{pages.address(0, 17), bytes.first(1)},
                        {pages.address(1, 4000), bytes.subspan(1, 4190)},  // across the end of a page
                        {pages.address(2), bytes.subspan(4197, 0)},
                        {pages.address(0), bytes.subspan(4197, 4095)}};
    memory->read(batch);
    for (const Transfer& transfer : batch) {
      BOOST_TEST(!transfer.failed);
      const std::size_t at = transfer.address - pages.address(0);
      for (std::size_t i = 0; i < transfer.local.size(); ++i)
        BOOST_REQUIRE(transfer.local[i] == pattern(at + i));
    }
  }
}

BOOST_AUTO_TEST_CASE(writes_only_what_was_asked) {
  for (const Way way : kWays) {
    Pages pages(2);
    const auto expected = [](std::size_t i) {
      const bool written = i == 5 || (i >= 4090 && i < 4110) || i == 8191;
      return written ? std::byte{0xEE} : pattern(i);
    };
    ChildProcess child([&] { fill_pattern(pages); }, [&](char) { return compare(pages, expected); });
    auto memory = reach(child, way);
    std::vector<std::byte> here(20, std::byte{0xEE});
    const std::span<std::byte> bytes(here);
    Transfer batch[] = {{pages.address(0, 5), bytes.first(1)},
                        {pages.address(0, 4090), bytes},
                        {pages.address(1, 4095), bytes.first(1)}};
    memory->write(batch);
    for (const Transfer& transfer : batch) BOOST_TEST(!transfer.failed);
    BOOST_TEST(child.command('?') == 'y');
  }
}

BOOST_AUTO_TEST_CASE(later_transfers_of_a_batch_win) {
  for (const Way way : kWays) {
    Pages pages(1);
    ChildProcess child([] {}, [&](char) { return static_cast<char>(pages.page(0)[0]); });
    std::byte first{'a'};
    std::byte second{'b'};
    Transfer batch[] = {{pages.address(0), {&first, 1}}, {pages.address(0), {&second, 1}}};
    reach(child, way)->write(batch);
    BOOST_TEST(child.command('?') == 'b');
  }
}

BOOST_AUTO_TEST_CASE(a_hole_fails_the_transfers_that_touch_it_and_no_others) {
  for (const Way way : kWays) {
    Pages pages(4);
    const ChildProcess child = child_with_hole(pages);
    auto memory = reach(child, way);
    std::vector<std::byte> here(3 * Pages::kBytes);
    const std::span<std::byte> bytes(here);
    // The fourth begins in a mapped page and runs into the hole; the fifth follows the hole without a gap.
    Transfer batch[] = {
        {pages.address(0), bytes.first(4096)},         {pages.address(1), bytes.first(8)},
        {pages.address(2), bytes.subspan(4096, 64)},   {pages.address(0, 4088), bytes.subspan(8000, 16)},
        {pages.address(2), bytes.subspan(8192, 4096)}, {pages.address(1, 4095), bytes.subspan(7000, 1)},
        {pages.address(3), bytes.subspan(4160, 8)}};
    const bool expected[] = {false, true, false, true, false, true, false};
    memory->read(batch);
    for (std::size_t i = 0; i < std::size(batch); ++i) BOOST_TEST(batch[i].failed == expected[i]);
    BOOST_TEST((here[4096] == pattern(8192)));
    BOOST_TEST((here[8192 + 4095] == pattern(3 * 4096 - 1)));
    BOOST_TEST((here[4160] == pattern(3 * 4096)));

    memory->write(batch);
    for (std::size_t i = 0; i < std::size(batch); ++i) BOOST_TEST(batch[i].failed == expected[i]);
  }
}

// As packets of a message lie that were received: the kernel sees one piece there, and many here.
BOOST_AUTO_TEST_CASE(of_packets_behind_each_other_only_those_in_a_hole_fail) {
  constexpr std::size_t kPacket = 1000;
  constexpr std::size_t kApart = 1100;
  constexpr std::size_t kCount = 12;
  for (const Way way : kWays) {
    Pages pages(3);
    const ChildProcess child = child_with_hole(pages);
    auto memory = reach(child, way);
    std::vector<std::byte> here(kCount * kApart);
    std::vector<Transfer> batch;
    for (std::size_t i = 0; i < kCount; ++i)
      batch.push_back({pages.address(0) + i * kPacket, std::span(here).subspan(i * kApart, kPacket)});
    for (const auto access : {&ApplicationMemory::read, &ApplicationMemory::write}) {
      ((*memory).*access)(batch);
      for (std::size_t i = 0; i < kCount; ++i) {
        const bool touches_hole = (i + 1) * kPacket > Pages::kBytes && i * kPacket < 2 * Pages::kBytes;
        BOOST_TEST(batch[i].failed == touches_hole);
        if (touches_hole) continue;
        for (std::size_t k = 0; k < kPacket; ++k)
          BOOST_REQUIRE(batch[i].local[k] == pattern(i * kPacket + k));
      }
    }
  }
}

// The other way bypasses page protection, as mem_file_memory.hpp says.
BOOST_AUTO_TEST_CASE(process_vm_respects_read_only_pages) {
  Pages pages(3);
  ChildProcess child(
      [&] {
        fill_pattern(pages);
        mprotect(pages.page(1), Pages::kBytes, PROT_READ);
      },
      [&](char) { return pages.page(1)[0] == pattern(4096) ? 'y' : 'n'; });
  auto memory = reach(child, Way::process_vm);
  std::byte byte{0};
  Transfer batch[] = {
      {pages.address(0), {&byte, 1}}, {pages.address(1), {&byte, 1}}, {pages.address(2), {&byte, 1}}};
  memory->write(batch);
  BOOST_TEST(!batch[0].failed);
  BOOST_TEST(batch[1].failed);
  BOOST_TEST(!batch[2].failed);
  BOOST_TEST(child.command('?') == 'y');
  memory->read(batch);
  for (const Transfer& transfer : batch) BOOST_TEST(!transfer.failed);
}

BOOST_AUTO_TEST_CASE(two_thousand_transfers_with_failures_among_them) {
  constexpr std::size_t kCount = 2000;
  for (const Way way : kWays) {
    for (const std::size_t stride : {7u, 1023u, 1024u, 1025u, 100000u}) {
      Pages pages(2);
      ChildProcess child([&] {
        fill_pattern(pages);
        munmap(pages.page(1), Pages::kBytes);
      });
      std::vector<std::byte> here(kCount * 2);
      std::vector<Transfer> batch(kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        const bool bad = i % stride == stride - 1;
        batch[i] = {pages.address(bad ? 1 : 0, 2 * i), {here.data() + 2 * i, 2}, !bad};
      }
      reach(child, way)->read(batch);
      for (std::size_t i = 0; i < kCount; ++i) {
        const bool bad = i % stride == stride - 1;
        BOOST_REQUIRE_EQUAL(batch[i].failed, bad);
        BOOST_REQUIRE(here[2 * i + 1] == (bad ? std::byte{0} : pattern(2 * i + 1)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(addresses_that_no_process_has_fail) {
  for (const Way way : kWays) {
    Pages pages(1);
    ChildProcess child([&] { fill_pattern(pages); });
    std::byte bytes[16];
    Transfer batch[] = {{0, bytes},
                        {~std::uint64_t{0} - 7, bytes},   // wraps around
                        {std::uint64_t{1} << 63, bytes},  // negative as a file offset
                        {0xFFFF'8880'0000'0000, bytes},   // the kernel's half
                        {pages.address(0), std::span(bytes).first(1)}};
    reach(child, way)->read(batch);
    for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(batch[i].failed);
    BOOST_TEST(!batch[4].failed);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
