// Pages of a file that a program shares, and that it takes away while they are used.
#include "device_model/memory/file_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "device_model/memory/descriptor.hpp"

namespace urnic::memory::test {
namespace file_pages {

constexpr std::size_t kPage = 4096;

Descriptor make_file(std::size_t pages) {
  Descriptor file(memfd_create("file_pages_test", MFD_CLOEXEC));
  BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(pages * kPage)) == 0);
  return file;
}

// The test framework has a handler of its own, which would be taken for the one before.
struct WithoutHandler {
  WithoutHandler() { signal(SIGBUS, SIG_DFL); }
  ~WithoutHandler() { signal(SIGBUS, SIG_DFL); }
};

}  // namespace file_pages

BOOST_FIXTURE_TEST_SUITE(file_pages, WithoutHandler)

BOOST_AUTO_TEST_CASE(they_are_the_files) {
  const Descriptor file = make_file(3);
  const auto pages = FilePages::map(file.get(), kPage, 2 * kPage);
  BOOST_REQUIRE(pages != nullptr);
  BOOST_REQUIRE(pages->bytes().size() == 2 * kPage);
  const char written = 'x';
  BOOST_REQUIRE(pwrite(file.get(), &written, 1, kPage + 5) == 1);
  BOOST_TEST((pages->bytes()[5] == std::byte{'x'}));
}

BOOST_AUTO_TEST_CASE(pages_that_the_file_does_not_have_are_refused) {
  const Descriptor file = make_file(2);
  BOOST_TEST(FilePages::map(file.get(), kPage, 2 * kPage) == nullptr);
  BOOST_TEST(FilePages::map(file.get(), 3 * kPage, kPage) == nullptr);
  BOOST_TEST(FilePages::map(file.get(), 0, 0) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_program_that_shrinks_its_file_ends_nobody_else) {
  const Descriptor file = make_file(2);
  const auto other = FilePages::map(file.get(), 0, kPage);
  const auto pages = FilePages::map(file.get(), 0, 2 * kPage);
  BOOST_REQUIRE(pages != nullptr);
  pages->bytes()[kPage] = std::byte{1};
  BOOST_REQUIRE(ftruncate(file.get(), kPage) == 0);
  volatile std::byte* const lost = pages->bytes().data() + kPage;
  BOOST_TEST((*lost == std::byte{0}));
  *lost = std::byte{2};
  BOOST_TEST((*lost == std::byte{2}));
  other->bytes()[0] = std::byte{3};  // still the file's
  char read = 0;
  BOOST_REQUIRE(pread(file.get(), &read, 1, 0) == 1);
  BOOST_TEST(read == 3);
}

BOOST_AUTO_TEST_CASE(what_is_not_such_a_page_is_left_alone) {
  const Descriptor file = make_file(1);
  auto pages = FilePages::map(file.get(), 0, kPage);
  const std::byte* const begin = pages->bytes().data();
  BOOST_TEST(!FilePages::replace_lost(begin + kPage));
  pages.reset();
  BOOST_TEST(!FilePages::replace_lost(begin));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
