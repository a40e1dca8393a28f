#define BOOST_TEST_DYN_LINK
#include "provider/freestanding/memory_map.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

using urnic::provider::check_huge_pages;
using urnic::provider::check_mapped;

namespace {

// Four pages: writable, read-only, inaccessible, unmapped.
struct Pages {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* base =
      static_cast<char*>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

  Pages() {
    mprotect(base + page, page, PROT_READ);
    mprotect(base + 2 * page, page, PROT_NONE);
    munmap(base + 3 * page, page);
  }
  ~Pages() { munmap(base, 3 * page); }
  std::uint64_t at(std::size_t offset) const { return reinterpret_cast<std::uintptr_t>(base) + offset; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(memory_map, Pages)

BOOST_AUTO_TEST_CASE(memory_that_is_there_may_be_registered) {
  BOOST_TEST(check_mapped(at(0), page, true) == 0);
  BOOST_TEST(check_mapped(at(0), 2 * page, false) == 0);
  BOOST_TEST(check_mapped(at(1), 1, true) == 0);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_writable_may_only_be_read) {
  BOOST_TEST(check_mapped(at(page), page, false) == 0);
  BOOST_TEST(check_mapped(at(page), page, true) == EFAULT);
  BOOST_TEST(check_mapped(at(page - 1), 2, true) == EFAULT);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_there_is_a_fault) {
  BOOST_TEST(check_mapped(at(2 * page), 1, false) == EFAULT);
  BOOST_TEST(check_mapped(at(3 * page), 1, false) == EFAULT);
  BOOST_TEST(check_mapped(at(0), 2 * page + 1, false) == EFAULT);
  BOOST_TEST(check_mapped(0, page, false) == EFAULT);
}

BOOST_AUTO_TEST_CASE(a_length_of_zero_is_a_page_or_nothing) {
  BOOST_TEST(check_mapped(at(1), 0, true) == 0);
  BOOST_TEST(check_mapped(at(0), 0, true) == EINVAL);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_address_space_is_no_length) {
  BOOST_TEST(check_mapped(at(0), SIZE_MAX, false) == EINVAL);
  BOOST_TEST(check_mapped(UINT64_MAX - 10, 10, false) == EINVAL);
}

BOOST_AUTO_TEST_CASE(small_pages_are_no_huge_ones) {
  BOOST_TEST(check_huge_pages(at(0), page) == EINVAL);
  BOOST_TEST(check_huge_pages(at(3 * page), 1) == EINVAL);
  BOOST_TEST(check_huge_pages(at(0), SIZE_MAX) == EINVAL);
}

BOOST_AUTO_TEST_CASE(huge_pages_are_told) {
  constexpr std::size_t huge = std::size_t{2} << 20;
  void* const pages =
      mmap(nullptr, huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (pages == MAP_FAILED) return;  // the machine has no huge pages
  const auto address = reinterpret_cast<std::uintptr_t>(pages);
  BOOST_TEST(check_huge_pages(address, huge) == 0);
  BOOST_TEST(check_huge_pages(address + 5, 10) == 0);
  munmap(pages, huge);
}

BOOST_AUTO_TEST_SUITE_END()
