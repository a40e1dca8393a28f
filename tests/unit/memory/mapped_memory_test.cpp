// Memory of a shared file that both a program and the device have mapped.
#include "device_model/memory/mapped_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <vector>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/page_size.hpp"

namespace urnic::memory::test {

namespace {

constexpr std::uint64_t kPages = 8;
constexpr std::uint64_t kAddress = 0x7000'0000'0000;  // of the first page, in a program that is not there

// The other way to the memory; it only writes down what it is asked for.
struct Otherwise final : ApplicationMemory {
  std::vector<std::uint64_t> reads, writes;
  void read(std::span<Transfer> batch) override { note(batch, reads); }
  void write(std::span<Transfer> batch) override { note(batch, writes); }
  const char* way() const override { return "otherwise"; }

 private:
  static void note(std::span<Transfer> batch, std::vector<std::uint64_t>& to) {
    for (Transfer& transfer : batch) {
      to.push_back(transfer.address);
      transfer.failed = false;
    }
  }
};

struct Shared {
  Descriptor file{memfd_create("urnic-test", MFD_CLOEXEC)};
  std::size_t bytes = kPages * page_bytes();
  std::byte* programs = nullptr;
  Otherwise otherwise;

  Shared() {
    BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(bytes)) == 0);
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    BOOST_REQUIRE(mapped != MAP_FAILED);
    programs = static_cast<std::byte*>(mapped);
  }
  ~Shared() { munmap(programs, bytes); }

  std::unique_ptr<MappedMemory> map(std::uint64_t from, std::uint64_t length, bool writable = true) {
    return MappedMemory::map(file.get(), {from, kAddress + from, length}, writable, otherwise);
  }
};

bool read(MappedMemory& memory, std::uint64_t from, std::span<std::byte> to) {
  Transfer transfer{kAddress + from, to, false};
  memory.read({&transfer, 1});
  return !transfer.failed;
}

bool write(MappedMemory& memory, std::uint64_t to, std::span<std::byte> from) {
  Transfer transfer{kAddress + to, from, false};
  memory.write({&transfer, 1});
  return !transfer.failed;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mapped_memory, Shared)

BOOST_AUTO_TEST_CASE(both_see_the_same_bytes) {
  const std::uint64_t begin = page_bytes() + 24;  // in the middle of a page
  const auto memory = map(begin, 3 * page_bytes());
  BOOST_REQUIRE(memory != nullptr);
  for (std::size_t offset = 0; offset < 20; ++offset) {
    for (std::size_t length = 0; length < 170; length += 1 + length / 20) {
      std::array<std::byte, 170> from{}, back{};
      for (std::size_t i = 0; i < length; ++i) from[i] = std::byte(i + 1 + offset);
      std::memset(programs, 0xEE, bytes);
      BOOST_REQUIRE(write(*memory, begin + offset, std::span(from).first(length)));
      for (std::size_t i = 0; i < 200; ++i) {
        const bool inside = i >= offset && i < offset + length;
        BOOST_REQUIRE(programs[begin + i] == (inside ? from[i - offset] : std::byte{0xEE}));
      }
      BOOST_REQUIRE(read(*memory, begin + offset, std::span(back).first(length)));
      BOOST_REQUIRE(from == back);
    }
  }
  BOOST_TEST(otherwise.reads.empty());
  BOOST_TEST(otherwise.writes.empty());
}

BOOST_AUTO_TEST_CASE(what_is_beside_the_range_is_reached_otherwise) {
  const std::uint64_t begin = page_bytes(), end = begin + 100;
  const auto memory = map(begin, end - begin);
  struct {
    std::uint64_t from, length;
    std::vector<std::uint64_t> otherwise;
    std::uint64_t here_from, here_to;
  } const cases[] = {
      {begin, 100, {}, begin, end},
      {begin - 1, 1, {begin - 1}, begin, begin},
      {begin - 8, 16, {begin - 8}, begin, begin + 8},
      {begin + 99, 2, {end}, begin + 99, end},
      {end, 5, {end}, begin, begin},
      {begin - 3, 106, {begin - 3, end}, begin, end},
      {end, 0, {}, begin, begin},
      {end + 1, 0, {}, begin, begin},
  };
  for (const auto& each : cases) {
    std::memset(programs, 0xEE, bytes);
    otherwise.reads.clear();
    otherwise.writes.clear();
    std::vector<std::byte> here(each.length, std::byte{0x11});
    BOOST_TEST(write(*memory, each.from, here));
    for (std::uint64_t at = begin - 16; at < end + 16; ++at)
      BOOST_REQUIRE((programs[at] == std::byte{0x11}) == (at >= each.here_from && at < each.here_to));
    std::fill(here.begin(), here.end(), std::byte{});
    BOOST_TEST(read(*memory, each.from, here));
    for (std::uint64_t at = each.here_from; at < each.here_to; ++at)
      BOOST_REQUIRE((here[at - each.from] == std::byte{0x11}));
    std::vector<std::uint64_t> expected;
    for (const std::uint64_t at : each.otherwise) expected.push_back(kAddress + at);
    BOOST_TEST(otherwise.reads == expected, boost::test_tools::per_element());
    BOOST_TEST(otherwise.writes == expected, boost::test_tools::per_element());
  }
  std::array<std::byte, 2> two{};
  BOOST_TEST(!read(*memory, UINT64_MAX - kAddress, two));
}

BOOST_AUTO_TEST_CASE(bytes_are_in_place_where_the_file_cannot_lose_them) {
  const auto losable = map(0, bytes);
  BOOST_TEST(losable->in_place(kAddress, 8) == nullptr);
  const Descriptor sealed(memfd_create("urnic-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  BOOST_REQUIRE(ftruncate(sealed.get(), static_cast<off_t>(bytes)) == 0);
  BOOST_REQUIRE(fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  const auto memory = MappedMemory::map(sealed.get(), {0, kAddress, bytes}, true, otherwise);
  std::array<std::byte, 8> word{std::byte{3}, std::byte{4}};
  BOOST_TEST(write(*memory, 24, word));
  const std::byte* const place = memory->in_place(kAddress + 24, 8);
  BOOST_REQUIRE(place != nullptr);
  BOOST_TEST(std::memcmp(place, word.data(), word.size()) == 0);
  BOOST_TEST(memory->in_place(kAddress + bytes - 8, 9) == nullptr);
  BOOST_TEST(memory->in_place(kAddress - 1, 2) == nullptr);
  BOOST_TEST(memory->moved() == 2 * page_bytes());
}

// A System V segment, attached by a program of which only the address is known.
struct ProgramsSegment {
  int identifier = shmget(IPC_PRIVATE, kPages* page_bytes() - 100, IPC_CREAT | 0600);
  std::byte* programs = static_cast<std::byte*>(shmat(identifier, nullptr, 0));

  ProgramsSegment() { BOOST_REQUIRE(programs != reinterpret_cast<void*>(-1)); }
  ~ProgramsSegment() {
    shmdt(programs);
    shmctl(identifier, IPC_RMID, nullptr);
  }
  ProgramsSegment(const ProgramsSegment&) = delete;
  ProgramsSegment& operator=(const ProgramsSegment&) = delete;

  memory::Segment place() const { return {identifier, page_bytes()}; }
  std::uint64_t attached() const {
    shmid_ds facts{};
    BOOST_REQUIRE(shmctl(identifier, IPC_STAT, &facts) == 0);
    return facts.shm_nattch;
  }
};

BOOST_AUTO_TEST_CASE(a_segment_is_mapped_where_the_range_is) {
  const ProgramsSegment segment;
  for (const std::uint64_t page : {std::uint64_t{0}, std::uint64_t{3}, kPages - 2}) {
    const std::uint64_t begin = page * page_bytes() + 16;
    const auto memory =
        MappedMemory::map(segment.place(), {begin, kAddress + begin, page_bytes()}, true, otherwise);
    BOOST_REQUIRE(memory != nullptr);
    std::array<std::byte, 16> here{};
    here.fill(std::byte(page + 1));
    BOOST_TEST(write(*memory, begin + 40, here));
    BOOST_TEST(std::memcmp(segment.programs + begin + 40, here.data(), here.size()) == 0);
    segment.programs[begin] = std::byte{99};
    BOOST_TEST(read(*memory, begin, here));
    BOOST_TEST((here[0] == std::byte{99}));
    BOOST_TEST((memory->in_place(kAddress + begin, 8) != nullptr));
    BOOST_TEST(segment.attached() == 2u);
  }
  BOOST_TEST(otherwise.reads.empty());
  BOOST_TEST(otherwise.writes.empty());
  BOOST_TEST(segment.attached() == 1u);
}

BOOST_AUTO_TEST_CASE(a_range_beyond_a_segment_is_not_mapped) {
  const ProgramsSegment segment;
  const auto can_map = [&](std::uint64_t offset, std::uint64_t length) {
    return MappedMemory::map(segment.place(), {offset, kAddress + offset, length}, true, otherwise) !=
           nullptr;
  };
  BOOST_TEST(can_map(0, kPages * page_bytes()));
  BOOST_TEST(!can_map(0, kPages * page_bytes() + 1));
  BOOST_TEST(!can_map(kPages * page_bytes(), 1));
  BOOST_TEST(!can_map((kPages + 9) * page_bytes(), 1));
  BOOST_TEST(segment.attached() == 1u);
  BOOST_TEST(
      (MappedMemory::map(memory::Segment{-1, page_bytes()}, {0, kAddress, 1}, true, otherwise) == nullptr));
}

// A NIC keeps the pages, too.
BOOST_AUTO_TEST_CASE(it_stays_when_the_program_unmaps_it) {
  const auto memory = map(0, bytes);
  programs[5] = std::byte{7};
  file.reset();
  munmap(programs, bytes);
  std::array<std::byte, 1> byte{};
  BOOST_TEST(read(*memory, 5, byte));
  BOOST_TEST((byte[0] == std::byte{7}));
}

BOOST_AUTO_TEST_CASE(pages_that_the_file_has_lost_are_reached_otherwise) {
  const auto memory = map(0, bytes);
  std::array<std::byte, 64> here{};
  BOOST_TEST(write(*memory, 3 * page_bytes(), here));
  BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(page_bytes())) == 0);
  BOOST_TEST(read(*memory, 0, here));  // this one is still there
  BOOST_TEST(otherwise.reads.empty());
  BOOST_TEST(write(*memory, 3 * page_bytes(), here));
  BOOST_TEST(otherwise.writes == std::vector<std::uint64_t>{kAddress + 3 * page_bytes()},
             boost::test_tools::per_element());
  // From now on all of it: the mapping has other pages.
  BOOST_TEST(read(*memory, 0, here));
  BOOST_TEST(otherwise.reads == std::vector<std::uint64_t>{kAddress}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_read_across_the_end_of_the_file_is_made_again_as_a_whole) {
  const auto memory = map(0, bytes);
  BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(page_bytes())) == 0);
  std::vector<std::byte> here(2 * page_bytes());
  BOOST_TEST(read(*memory, 0, here));
  BOOST_TEST(otherwise.reads == std::vector<std::uint64_t>{kAddress}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(holes_cost_only_their_bytes) {
  const auto memory = map(0, bytes);
  programs[page_bytes()] = std::byte{9};
  BOOST_REQUIRE(
      fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0);
  std::array<std::byte, 1> byte{std::byte{1}};
  BOOST_TEST(read(*memory, page_bytes(), byte));
  BOOST_TEST((byte[0] == std::byte{0}));
  BOOST_TEST(write(*memory, page_bytes(), byte));
  BOOST_TEST(otherwise.reads.empty());
}

// DPDK's packet buffers. Such a mapping is replaced and ended in pieces.
BOOST_AUTO_TEST_CASE(a_large_one) {
  const std::uint64_t large = std::uint64_t{300} << 20;
  BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(large)) == 0);
  auto memory = map(0, large);
  BOOST_REQUIRE(memory != nullptr);
  std::array<std::byte, 64> there{std::byte{7}};
  std::array<std::byte, 64> here{};
  BOOST_TEST(write(*memory, large - 64, there));
  BOOST_TEST(read(*memory, large - 64, here));
  BOOST_CHECK(here == there);
  BOOST_TEST(otherwise.writes.empty());
  BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(bytes)) == 0);
  for (const std::uint64_t at : {large - 64, large / 2, std::uint64_t{0}})
    BOOST_TEST(read(*memory, at, here));
  BOOST_TEST(otherwise.reads.size() == 3u);
  memory.reset();
  BOOST_TEST(MappedMemory::count() == 0u);
}

BOOST_AUTO_TEST_CASE(some_are_not_mapped) {
  BOOST_TEST(MappedMemory::map(file.get(), {8, kAddress + 16, 8}, true, otherwise) == nullptr);
  BOOST_TEST(MappedMemory::map(-1, {0, kAddress, 8}, true, otherwise) == nullptr);
  BOOST_TEST(MappedMemory::map(file.get(), {0, kAddress, MappedMemory::kMostBytes + 1}, true, otherwise) ==
             nullptr);
  const Descriptor reader(
      open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDONLY | O_CLOEXEC));
  BOOST_TEST(MappedMemory::map(reader.get(), {0, kAddress, 8}, true, otherwise) == nullptr);
  BOOST_TEST(MappedMemory::map(reader.get(), {0, kAddress, 8}, false, otherwise) != nullptr);
  BOOST_TEST(MappedMemory::count() == 0u);
}

BOOST_AUTO_TEST_CASE(another_bus_error_ends_the_process_as_ever) {
  const auto memory = map(0, bytes);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGBUS, SIG_DFL);  // not the test framework's
    const auto again = map(0, bytes);
    if (ftruncate(file.get(), 0) != 0) _exit(1);
    static_cast<volatile std::byte*>(programs)[0] = std::byte{1};
    _exit(2);
  }
  int status = 0;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGBUS);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
