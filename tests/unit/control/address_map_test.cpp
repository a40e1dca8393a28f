// What a process has mapped. The process is this one.
#include "device_model/control/objects/address_map.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "device_model/control/objects/shared_file.hpp"
#include "device_model/memory/descriptor.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {
namespace {

constexpr std::size_t kPage = 4096;

// Pages that are mappings of their own, each with other rights than its neighbours: writable and not, in
// turn.
class ManyMappings {
 public:
  explicit ManyMappings(std::size_t pages)
      : bytes_(pages * kPage),
        start_(static_cast<std::byte*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    BOOST_REQUIRE(start_ != MAP_FAILED);
    for (std::size_t i = 1; i < pages; i += 2)
      BOOST_REQUIRE(mprotect(start_ + i * kPage, kPage, PROT_READ) == 0);
  }
  ~ManyMappings() { munmap(start_, bytes_); }
  ManyMappings(const ManyMappings&) = delete;
  ManyMappings& operator=(const ManyMappings&) = delete;

  std::uint64_t page(std::size_t number) const {
    return reinterpret_cast<std::uintptr_t>(start_) + number * kPage;
  }
  void protect(std::size_t number, int rights) {
    BOOST_REQUIRE(mprotect(start_ + number * kPage, kPage, rights) == 0);
  }
  void unmap(std::size_t number) { munmap(start_ + number * kPage, kPage); }

 private:
  std::size_t bytes_;
  std::byte* start_;
};

using Answer = AddressMap::Answer;

Answer covers(AddressMap& map, std::uint64_t address, std::uint64_t length, bool writable) {
  Answer answer = Answer::not_yet;
  while (answer == Answer::not_yet) answer = map.covers(address, length, writable);
  return answer;
}

// The kernel of this machine has PROCMAP_QUERY: one question does not bring the whole map.
bool has_queries(const ManyMappings& many) {
  AddressMap map(getpid());
  covers(map, many.page(0), 1, true);
  return map.mappings_told() == 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(address_map)

BOOST_AUTO_TEST_CASE(a_range_in_one_shared_mapping_has_a_file) {
  const memory::Descriptor file(memfd_create("urnic-test", MFD_CLOEXEC));
  BOOST_REQUIRE(ftruncate(file.get(), 8 * kPage) == 0);
  void* const place = mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 2 * kPage);
  void* const own = mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
  BOOST_REQUIRE((place != MAP_FAILED && own != MAP_FAILED));
  const auto shared = reinterpret_cast<std::uintptr_t>(place);
  for (const AddressMap::Way way : {AddressMap::Way::query, AddressMap::Way::text}) {
    AddressMap map(getpid(), way);
    BOOST_REQUIRE((covers(map, shared + kPage + 5, 2 * kPage, true) == Answer::yes));
    BOOST_REQUIRE(map.shared_file().has_value());
    BOOST_TEST((map.shared_file()->file == memory::file_number(file.get())));
    BOOST_TEST(map.shared_file()->offset == 3 * kPage + 5);
    BOOST_REQUIRE((covers(map, reinterpret_cast<std::uintptr_t>(own), kPage, true) == Answer::yes));
    BOOST_TEST(!map.shared_file());
    std::byte on_the_stack{};
    BOOST_REQUIRE((covers(map, reinterpret_cast<std::uintptr_t>(&on_the_stack), 1, true) == Answer::yes));
    BOOST_TEST(!map.shared_file());
  }
  // Of two mappings.
  BOOST_REQUIRE(mprotect(place, kPage, PROT_READ) == 0);
  AddressMap map(getpid());
  BOOST_REQUIRE((covers(map, shared, 4 * kPage, false) == Answer::yes));
  BOOST_TEST(!map.shared_file());
  munmap(place, 4 * kPage);
  munmap(own, 4 * kPage);
}

// Its identifier may be the inode number of a file of the same mount.
BOOST_AUTO_TEST_CASE(a_segment_of_system_v_is_no_file) {
  const int segment = shmget(IPC_PRIVATE, 4 * kPage, IPC_CREAT | 0600);
  void* const attached = shmat(segment, nullptr, 0);
  shmctl(segment, IPC_RMID, nullptr);
  BOOST_REQUIRE(attached != reinterpret_cast<void*>(-1));
  for (const AddressMap::Way way : {AddressMap::Way::query, AddressMap::Way::text}) {
    AddressMap map(getpid(), way);
    BOOST_REQUIRE(
        (covers(map, reinterpret_cast<std::uintptr_t>(attached) + kPage, kPage, true) == Answer::yes));
    BOOST_REQUIRE(map.shared_file().has_value());
    BOOST_TEST(map.shared_file()->is_segment());
    BOOST_TEST(map.shared_file()->file.inode == static_cast<ino_t>(segment));
    BOOST_TEST(map.shared_file()->offset == kPage);
  }
  shmdt(attached);
}

// Elsewhere the same identifier is another segment's.
BOOST_AUTO_TEST_CASE(identifiers_of_segments_mean_the_same_in_one_ipc_namespace) {
  BOOST_TEST(shares_segment_identifiers(getpid()));
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  const memory::Descriptor from(ends[0]);
  memory::Descriptor to(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const char is_elsewhere =
        unshare(CLONE_NEWIPC) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWIPC) == 0 ? 1 : 0;
    if (write(to.get(), &is_elsewhere, 1) != 1) _exit(1);
    for (;;) pause();
  }
  to.reset();
  char is_elsewhere = 0;
  BOOST_REQUIRE(read(from.get(), &is_elsewhere, 1) == 1);
  BOOST_TEST(shares_segment_identifiers(child) == (is_elsewhere == 0));
  if (is_elsewhere == 0) BOOST_TEST_MESSAGE("left out: this process may make no IPC namespace");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(a_file_with_the_name_of_a_segment_is_none) {
  char folder[] = "/dev/shm/urnic-test-XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    BOOST_TEST_MESSAGE("left out: no folder can be made in /dev/shm");
    return;
  }
  const std::string name = std::string(folder) + "/SYSV00000000";
  const memory::Descriptor file(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  BOOST_REQUIRE(ftruncate(file.get(), kPage) == 0);
  void* const place = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  unlink(name.c_str());
  rmdir(folder);
  BOOST_REQUIRE(place != MAP_FAILED);
  for (const AddressMap::Way way : {AddressMap::Way::query, AddressMap::Way::text}) {
    AddressMap map(getpid(), way);
    BOOST_REQUIRE((covers(map, reinterpret_cast<std::uintptr_t>(place), kPage, true) == Answer::yes));
    BOOST_REQUIRE(map.shared_file().has_value());
    BOOST_TEST(!map.shared_file()->is_segment());
  }
  munmap(place, kPage);
}

BOOST_AUTO_TEST_CASE(both_ways_say_the_same) {
  ManyMappings pages(40);
  pages.protect(20, PROT_NONE);
  pages.unmap(30);
  for (const auto way : {AddressMap::Way::query, AddressMap::Way::text}) {
    AddressMap map(getpid(), way);
    BOOST_REQUIRE(map.is_open());
    const auto covers = [&](std::uint64_t address, std::uint64_t length, bool writable) {
      const Answer answer = test::covers(map, address, length, writable);
      BOOST_CHECK(answer != Answer::unknown);
      return answer == Answer::yes;
    };
    for (int again = 0; again < 2; ++again) {
      BOOST_TEST(covers(pages.page(0), kPage, true));
      BOOST_TEST(covers(pages.page(0) + 100, 1, true));
      BOOST_TEST(!covers(pages.page(0), kPage + 1, true));
      BOOST_TEST(covers(pages.page(0), 20 * kPage, false));
      BOOST_TEST(!covers(pages.page(0), 20 * kPage + 1, false));
      BOOST_TEST(!covers(pages.page(20), 1, false));
      BOOST_TEST(covers(pages.page(21), 9 * kPage, false));
      BOOST_TEST(!covers(pages.page(21), 10 * kPage, false));
      BOOST_TEST(!covers(pages.page(30), kPage, false));
      BOOST_TEST(covers(pages.page(31), 1, false));
      BOOST_TEST(!covers(pages.page(31), 1, true));
      BOOST_TEST(!covers(8, 1, false));
    }
  }
}

// However many mappings the program has beside it: the control thread does this.
BOOST_AUTO_TEST_CASE(a_region_costs_the_mappings_that_it_lies_in) {
  const ManyMappings many(20'000);
  if (!has_queries(many)) {
    BOOST_TEST_MESSAGE("not tested: the kernel is older than Linux 6.11");
    return;
  }
  AddressMap map(getpid());
  BOOST_CHECK(covers(map, many.page(10'000), 3 * kPage, false) == Answer::yes);
  BOOST_TEST(map.mappings_told() == 3u);
}

// Between two portions the control thread has time for others.
BOOST_AUTO_TEST_CASE(many_mappings_are_looked_at_in_portions) {
  constexpr std::size_t kMany = 20'000;
  const ManyMappings many(kMany);
  for (const auto way : {AddressMap::Way::query, AddressMap::Way::text}) {
    AddressMap map(getpid(), way);
    std::size_t portions = 0;
    for (auto answer = Answer::not_yet; answer == Answer::not_yet; ++portions) {
      const std::uint64_t before = map.mappings_told();
      answer = map.covers(many.page(0), kMany * kPage, false);
      BOOST_TEST(map.mappings_told() - before <= AddressMap::kMappingsPerPortion);
      BOOST_TEST((answer == Answer::yes || answer == Answer::not_yet));
    }
    BOOST_TEST(portions >= kMany / AddressMap::kMappingsPerPortion);
  }
}

// The name is longer than what is read at once, and its rest looks like a line of its own.
BOOST_AUTO_TEST_CASE(the_name_of_a_file_is_no_mapping) {
  const TemporaryDirectory directory;
  std::filesystem::path deep = directory.path();
  while (deep.string().size() < 600) deep /= std::string(100, 'd');
  std::filesystem::create_directories(deep);
  for (std::size_t padding = 0; padding < 120; ++padding) {
    const auto file = deep / (std::string(padding, 'x') + "10000-fffffffff000 rwxp 00000000 00:00 0");
    const memory::Descriptor opened(open(file.c_str(), O_RDWR | O_CREAT, 0600));
    BOOST_REQUIRE(ftruncate(opened.get(), kPage) == 0);
    void* const place = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, opened.get(), 0);
    AddressMap map(getpid(), AddressMap::Way::text);
    BOOST_CHECK(covers(map, 0x10000, kPage, true) == Answer::no);
    munmap(place, kPage);
    unlink(file.c_str());
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_is_not_there_has_no_map) { BOOST_TEST(!AddressMap(-1).is_open()); }

// A file of this process's, unlinked, with one page.
memory::Descriptor file_in(const char* directory) {
  std::string name = std::string(directory) + "/urnic-address-map-XXXXXX";
  memory::Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  BOOST_REQUIRE(file);
  unlink(name.c_str());
  BOOST_REQUIRE(ftruncate(file.get(), kPage) == 0);
  return file;
}

// One page of `file`, or of no file (-1).
struct OnePage {
  OnePage(int file, int flags)
      : start(static_cast<std::byte*>(mmap(nullptr, kPage, PROT_READ | PROT_WRITE, flags, file, 0))) {
    BOOST_REQUIRE(start != MAP_FAILED);
  }
  ~OnePage() { munmap(start, kPage); }
  OnePage(const OnePage&) = delete;
  OnePage& operator=(const OnePage&) = delete;

  bool may_wait(AddressMap::Way way) const {
    AddressMap map(getpid(), way);
    BOOST_TEST((covers(map, reinterpret_cast<std::uintptr_t>(start), kPage, true) == Answer::yes));
    return map.may_wait();
  }

  std::byte* start;
};

// Only what is in memory anyway is reached by the engine itself.
BOOST_AUTO_TEST_CASE(pages_of_files_may_take_their_time) {
  const memory::Descriptor in_memory(memfd_create("address-map", MFD_CLOEXEC));
  BOOST_REQUIRE(ftruncate(in_memory.get(), kPage) == 0);
  const memory::Descriptor shared_memory = file_in("/dev/shm");
  const memory::Descriptor on_disk(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const OnePage anonymous(-1, MAP_PRIVATE | MAP_ANONYMOUS);
  const OnePage anonymous_shared(-1, MAP_SHARED | MAP_ANONYMOUS);
  const OnePage memfd(in_memory.get(), MAP_SHARED);
  const OnePage posix(shared_memory.get(), MAP_SHARED);
  const OnePage unread(on_disk.get(), MAP_PRIVATE);
  const OnePage written(on_disk.get(), MAP_PRIVATE);
  written.start[0] = std::byte{1};
  for (const AddressMap::Way way : {AddressMap::Way::query, AddressMap::Way::text}) {
    for (const OnePage* page : {&anonymous, &anonymous_shared, &memfd, &posix, &written})
      BOOST_TEST(!page->may_wait(way));
    BOOST_TEST(unread.may_wait(way));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
