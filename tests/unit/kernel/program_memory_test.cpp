// Memory that a program names: on its stack, elsewhere, and nowhere.
#include "provider/kernel/program_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <thread>

namespace urnic::kernel::test {
namespace {

constexpr std::size_t kPage = 4096;

// Two pages, of which only the first is there.
class HalfMapped {
 public:
  HalfMapped() {
    BOOST_REQUIRE(pages_ != MAP_FAILED);
    mprotect(end(), kPage, PROT_NONE);
  }
  ~HalfMapped() { munmap(pages_, 2 * kPage); }
  HalfMapped(const HalfMapped&) = delete;
  HalfMapped& operator=(const HalfMapped&) = delete;

  char* end() const { return static_cast<char*>(pages_) + kPage; }

 private:
  void* pages_ = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

// As the stand-in's entry points, which a program calls with a place on its own stack or elsewhere.
[[gnu::noinline]] std::size_t read_of(void* to, const void* from, std::size_t size) {
  return ProgramMemory(__builtin_frame_address(0)).read(to, from, size);
}
[[gnu::noinline]] bool write_of(void* to, const void* from, std::size_t size) {
  return ProgramMemory(__builtin_frame_address(0)).write(to, from, size);
}

// Wherever the page ends on this stack.
void check_stack(std::size_t size) {
  std::array<char, 3 * kPage> place{};
  std::array<char, 3 * kPage> copy{};
  place[size - 1] = 'x';
  BOOST_TEST(read_of(copy.data(), place.data(), size) == size);
  BOOST_TEST(copy[size - 1] == 'x');
  copy[0] = 'y';
  BOOST_TEST(write_of(place.data(), copy.data(), size));
  BOOST_TEST(place[0] == 'y');
}

}  // namespace

BOOST_AUTO_TEST_SUITE(program_memory)

BOOST_AUTO_TEST_CASE(what_is_on_a_stack_is_copied) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{24}, std::size_t{328}, kPage, 3 * kPage}) {
    check_stack(size);
    std::thread(check_stack, size).join();
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_not_copied) {
  const HalfMapped memory;
  std::array<char, 64> own{};
  errno = 0;
  BOOST_TEST(read_of(own.data(), memory.end() - 24, 24) == 24u);
  BOOST_TEST(read_of(own.data(), memory.end() - 8, 24) < 24u);
  BOOST_TEST(read_of(own.data(), memory.end(), 24) == 0u);
  BOOST_TEST(read_of(own.data(), nullptr, 24) == 0u);
  BOOST_TEST(read_of(own.data(), memory.end(), 0) == 0u);
  BOOST_TEST(write_of(memory.end() - 24, own.data(), 24));
  BOOST_TEST(!write_of(memory.end() - 8, own.data(), 24));
  BOOST_TEST(!write_of(memory.end(), own.data(), 24));
  BOOST_TEST(!write_of(nullptr, own.data(), 24));
  BOOST_TEST(errno == 0);
}

// The page of the frame is the stack's last: what lies behind it may not be there.
BOOST_AUTO_TEST_CASE(beyond_the_page_of_the_frame_the_kernel_is_asked) {
  const HalfMapped memory;
  const ProgramMemory program(memory.end() - 64);
  std::array<char, 64> own{};
  BOOST_TEST(program.read(own.data(), memory.end() - 64, 64) == 64u);
  BOOST_TEST(program.read(own.data(), memory.end() - 63, 64) < 64u);
  BOOST_TEST(program.read(own.data(), memory.end() - 1, SIZE_MAX) != SIZE_MAX);
  BOOST_TEST(program.write(memory.end() - 64, own.data(), 64));
  BOOST_TEST(!program.write(memory.end() - 63, own.data(), 64));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::kernel::test
