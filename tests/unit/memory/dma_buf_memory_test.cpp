// The copies, on a memory file that is mapped like a dma-buf. tests/apps checks whether a real dma-buf can be
// registered.
#include "device_model/memory/dma_buf_memory.hpp"

#include <sys/mman.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <system_error>

namespace urnic::memory::test {

namespace {

constexpr std::size_t kPage = 4096;

struct File {
  Descriptor file{memfd_create("buffer", MFD_CLOEXEC)};
  File() { BOOST_REQUIRE(ftruncate(file.get(), 3 * kPage) == 0); }

  std::string at(off_t place, std::size_t length) const {
    std::string text(length, '?');
    BOOST_REQUIRE(pread(file.get(), text.data(), length, place) == static_cast<ssize_t>(length));
    return text;
  }
};

Transfer transfer_of(std::uint64_t address, std::span<char> bytes) {
  return {address, std::as_writable_bytes(bytes), false};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(dma_buf_memory, File)

BOOST_AUTO_TEST_CASE(bytes_go_to_their_place_and_come_from_it) {
  DmaBufMemory memory(file, kPage - 4, 100, true);
  char hello[] = "hello", world[] = "world", back[10] = {};
  std::array<Transfer, 2> out{transfer_of(memory.address(), std::span(hello).first(5)),
                              transfer_of(memory.address() + 90, std::span(world).first(5))};
  memory.write(out);
  BOOST_TEST((!out[0].failed && !out[1].failed));
  BOOST_TEST(at(kPage - 4, 5) == "hello");
  BOOST_TEST(at(kPage - 4 + 90, 5) == "world");
  std::array<Transfer, 2> in{transfer_of(memory.address() + 90, std::span(back).first(5)),
                             transfer_of(memory.address(), std::span(back).last(5))};
  memory.read(in);
  BOOST_TEST((!in[0].failed && !in[1].failed));
  BOOST_TEST(std::string(back, 10) == "worldhello");
}

BOOST_AUTO_TEST_CASE(what_may_only_be_read_is_not_written) {
  DmaBufMemory memory(file, 0, kPage, false);
  char byte[] = "x";
  Transfer transfer = transfer_of(memory.address(), std::span(byte).first(1));
  memory.write({&transfer, 1});
  BOOST_TEST(transfer.failed);
  memory.read({&transfer, 1});
  BOOST_TEST(!transfer.failed);
}

// A direct access to a mapped page without a file behind it would raise SIGBUS.
BOOST_AUTO_TEST_CASE(pages_that_are_taken_away_are_an_error_and_no_signal) {
  DmaBufMemory memory(file, 0, 3 * kPage, true);
  BOOST_REQUIRE(ftruncate(file.get(), kPage) == 0);
  char byte[] = "x", good[] = "y";
  std::array<Transfer, 2> batch{transfer_of(memory.address() + 2 * kPage, std::span(byte).first(1)),
                                transfer_of(memory.address(), std::span(good).first(1))};
  memory.write(batch);
  BOOST_TEST((batch[0].failed && !batch[1].failed));
  memory.read(batch);
  BOOST_TEST((batch[0].failed && !batch[1].failed));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_mapped_is_refused) {
  const Descriptor none;
  BOOST_CHECK_THROW(DmaBufMemory(none, 0, kPage, true), std::system_error);
}

BOOST_AUTO_TEST_CASE(a_file_is_no_dma_buf) { BOOST_TEST(!is_dma_buf(file.get())); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
