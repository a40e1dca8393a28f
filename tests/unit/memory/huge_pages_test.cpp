// Files and segments of huge pages, of which a program uses a part: the kernel maps and unmaps whole ones.
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/file_pages.hpp"
#include "device_model/memory/mapped_memory.hpp"

namespace urnic::memory::test {
namespace huge_pages {

constexpr std::size_t kHuge = 2 << 20;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kOffset = 2 * kHuge - kPage;  // a range over two of them
constexpr std::size_t kLength = 2 * kPage;
constexpr std::size_t kHugePages = 4;
constexpr int kSegmentOf2MiB = 21 << 26;  // SHM_HUGE_2MB, which the C library's headers do not have

Descriptor make_huge_file() {
  Descriptor file(memfd_create("huge_pages_test", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB));
  if (!file || ftruncate(file.get(), kHugePages * kHuge) != 0) return {};
  void* const mapped = mmap(nullptr, kHugePages * kHuge, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return {};
  munmap(mapped, kHugePages * kHuge);
  return file;
}

boost::test_tools::assertion_result has_huge_pages(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result has(static_cast<bool>(make_huge_file()));
  has.message() << "no four huge pages of 2 MiB are free here (/proc/sys/vm/nr_hugepages)";
  return has;
}

struct Nothing final : ApplicationMemory {
  void read(std::span<Transfer> batch) override { fail(batch); }
  void write(std::span<Transfer> batch) override { fail(batch); }
  bool owner_lives() override { return true; }
  const char* way() const override { return "nothing"; }
  static void fail(std::span<Transfer> batch) {
    for (Transfer& transfer : batch) transfer.failed = true;
  }
};

struct HugePages {
  Descriptor file = make_huge_file();
  std::byte* const programs = static_cast<std::byte*>(
      mmap(nullptr, kHugePages* kHuge, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));

  HugePages() { signal(SIGBUS, SIG_DFL); }
  ~HugePages() {
    munmap(programs, kHugePages * kHuge);
    signal(SIGBUS, SIG_DFL);
  }
  bool are_the_programs(std::span<std::byte> bytes) const {
    bytes[kPage] = std::byte{0x5A};
    programs[kOffset + 1] = std::byte{0x3C};
    return bytes.size() == kLength && programs[kOffset + kPage] == std::byte{0x5A} &&
           bytes[1] == std::byte{0x3C};
  }
};

}  // namespace huge_pages

BOOST_FIXTURE_TEST_SUITE(huge_pages, HugePages, *boost::unit_test::precondition(has_huge_pages))

BOOST_AUTO_TEST_CASE(queues_lie_in_parts_of_them) {
  const auto pages = FilePages::map(file.get(), kOffset, kLength);
  BOOST_REQUIRE(pages != nullptr);
  BOOST_TEST(are_the_programs(pages->bytes()));
}

BOOST_AUTO_TEST_CASE(pages_that_the_file_has_lost_are_zeros) {
  const auto pages = FilePages::map(file.get(), kOffset, kLength);
  BOOST_REQUIRE(pages != nullptr);
  BOOST_REQUIRE(ftruncate(file.get(), kHuge) == 0);
  volatile std::byte* const lost = pages->bytes().data();
  BOOST_TEST((*lost == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(regions_lie_in_parts_of_them) {
  Nothing nothing;
  constexpr std::uint64_t kAddress = 0x7000'0000'0000 + kOffset;
  const auto memory = MappedMemory::map(file.get(), {kOffset, kAddress, kLength}, true, nothing);
  BOOST_REQUIRE(memory != nullptr);
  std::array<std::byte, 8> here{};
  here.fill(std::byte{7});
  std::array transfers{Transfer{.address = kAddress + kPage, .local = here, .failed = false}};
  memory->write(transfers);
  BOOST_TEST(!transfers[0].failed);
  BOOST_TEST(std::memcmp(programs + kOffset + kPage, here.data(), here.size()) == 0);
}

// A hole may be punched in a sealed file, too, and the kernel may have no page left for it.
BOOST_AUTO_TEST_CASE(no_bytes_of_theirs_stay_in_place) {
  Nothing nothing;
  const Descriptor sealed(
      memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | MFD_HUGE_2MB));
  BOOST_REQUIRE(ftruncate(sealed.get(), kHuge) == 0);
  BOOST_REQUIRE(fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  constexpr std::uint64_t kAddress = 0x7000'0000'0000;
  munmap(programs, kHugePages * kHuge);  // for whose reservation there might be no pages
  file.reset();
  const auto memory = MappedMemory::map(sealed.get(), {0, kAddress, kPage}, true, nothing);
  BOOST_REQUIRE(memory != nullptr);
  BOOST_TEST(memory->in_place(kAddress, 8) == nullptr);
  BOOST_TEST(memory->word_in_place(kAddress) == nullptr);
}

BOOST_AUTO_TEST_CASE(a_file_becomes_no_longer) {
  Nothing nothing;
  BOOST_REQUIRE(ftruncate(file.get(), kHuge) == 0);
  BOOST_TEST((MappedMemory::map(file.get(), {kHuge, kHuge, kPage}, true, nothing) == nullptr));
  BOOST_TEST((FilePages::map(file.get(), kHuge, kPage) == nullptr));
  BOOST_TEST(lseek(file.get(), 0, SEEK_END) == static_cast<off_t>(kHuge));
}

BOOST_AUTO_TEST_CASE(segments_have_them) {
  const int identifier =
      shmget(IPC_PRIVATE, kHugePages * kHuge, IPC_CREAT | SHM_HUGETLB | kSegmentOf2MiB | 0600);
  if (identifier < 0) {
    BOOST_TEST_MESSAGE("segments of huge pages need the group of vm.hugetlb_shm_group");
    return;
  }
  auto* const attached = static_cast<std::byte*>(shmat(identifier, nullptr, 0));
  shmctl(identifier, IPC_RMID, nullptr);
  BOOST_REQUIRE(attached != reinterpret_cast<void*>(-1));
  {
    const auto pages = FilePages::map(Segment{identifier, kHuge}, kOffset, kLength);
    BOOST_REQUIRE(pages != nullptr);
    pages->bytes()[kPage] = std::byte{9};
    BOOST_TEST((attached[kOffset + kPage] == std::byte{9}));
    shmid_ds facts{};
    BOOST_TEST(shmctl(identifier, IPC_STAT, &facts) == 0);
    BOOST_TEST(facts.shm_nattch == 2u);
  }
  shmdt(attached);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
