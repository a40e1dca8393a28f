#define BOOST_TEST_DYN_LINK
#include "provider/freestanding/huge_pages.hpp"

#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <string>

using urnic::provider::prefer_huge_pages;

namespace {

constexpr std::size_t kBlock = 2 * 1024 * 1024;
constexpr std::size_t kBlocks = 3;

// kBlocks aligned blocks in the middle of a mapping, which the kernel cannot merge with other mappings.
struct Blocks {
  explicit Blocks(int kind) : kind_(kind) {
    mprotect(mapping_, kPage, PROT_NONE);
    mprotect(mapping_ + kLength - kPage, kPage, PROT_NONE);
    begin = reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(mapping_) + kPage + kBlock - 1) &
                                    ~(kBlock - 1));
  }
  ~Blocks() { munmap(mapping_, kLength); }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // The bytes of this mapping that the kernel counts in `field`, such as "AnonHugePages:".
  std::size_t bytes_of(const std::string& field) const {
    std::ifstream maps("/proc/self/smaps");
    std::size_t sum = 0;
    bool ours = false;
    for (std::string line; std::getline(maps, line);) {
      if (const auto dash = line.find('-'); dash != std::string::npos && dash < line.find(' ')) {
        const std::uint64_t at = std::stoull(line, nullptr, 16);
        const auto first = reinterpret_cast<std::uintptr_t>(mapping_);
        ours = at >= first && at < first + kLength;
      } else if (ours && line.starts_with(field)) {
        sum += std::stoull(line.substr(field.size())) * 1024;
      }
    }
    return sum;
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(begin); }

  char* begin;

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kLength = (kBlocks + 2) * kBlock;
  int kind_;
  char* mapping_ =
      static_cast<char*>(mmap(nullptr, kLength, PROT_READ | PROT_WRITE, kind_ | MAP_ANONYMOUS, -1, 0));
};

// Whether the system wants huge pages, and the kernel (6.1 and later) moves memory to one on request.
bool system_has_them() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  if (!std::getline(file, text) || text.find("[never]") != std::string::npos) return false;
  Blocks blocks(MAP_PRIVATE);
  std::memset(blocks.begin, 1, kBlock);
  constexpr int kCollapse = 25;
  return madvise(blocks.begin, kBlock, kCollapse) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(huge_pages)

BOOST_AUTO_TEST_CASE(contents_stay) {
  Blocks blocks(MAP_PRIVATE);
  for (std::size_t i = 0; i < kBlocks * kBlock; i += 4096) std::memcpy(blocks.begin + i, &i, sizeof i);
  prefer_huge_pages(blocks.address() + 1, kBlocks * kBlock - 2);
  for (std::size_t i = 0; i < kBlocks * kBlock; i += 4096) {
    std::size_t found = 0;
    std::memcpy(&found, blocks.begin + i, sizeof found);
    BOOST_REQUIRE(found == i);
  }
}

BOOST_AUTO_TEST_CASE(whole_blocks_are_moved_and_nothing_beside_them) {
  Blocks blocks(MAP_PRIVATE);
  std::memset(blocks.begin, 1, kBlocks * kBlock);
  const std::size_t before = blocks.bytes_of("AnonHugePages:");
  prefer_huge_pages(blocks.address() + 1, 2 * kBlock - 1);
  if (before == 0) BOOST_TEST(blocks.bytes_of("AnonHugePages:") <= kBlock);
  prefer_huge_pages(blocks.address(), kBlocks * kBlock);
  BOOST_TEST(blocks.bytes_of("Rss:") == kBlocks * kBlock);
  const std::size_t after = blocks.bytes_of("AnonHugePages:");
  BOOST_TEST(after <= kBlocks * kBlock);
  if (system_has_them()) BOOST_TEST(after >= kBlock);
}

BOOST_AUTO_TEST_CASE(memory_that_was_not_touched_is_not_taken) {
  Blocks blocks(MAP_PRIVATE);
  prefer_huge_pages(blocks.address(), kBlocks * kBlock);
  BOOST_TEST(blocks.bytes_of("Rss:") == 0u);
}

BOOST_AUTO_TEST_CASE(shared_memory_stays_as_it_is) {
  Blocks blocks(MAP_SHARED);
  std::memset(blocks.begin, 1, kBlock + 4096);
  prefer_huge_pages(blocks.address(), kBlocks * kBlock);
  BOOST_TEST(blocks.bytes_of("Rss:") == kBlock + 4096);
}

BOOST_AUTO_TEST_SUITE_END()
