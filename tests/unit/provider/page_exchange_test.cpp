// Private memory for shared memory and back, under the program's hands.
#define BOOST_TEST_DYN_LINK
#include "provider/shared_pages/page_exchange.hpp"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "provider/freestanding/descriptor.hpp"
#include "provider/shared_pages/shared_ranges.hpp"
#include "tests/unit/provider/may_freeze.hpp"
#include "tests/unit/sanitized.hpp"

using urnic::abi::PageRange;
using urnic::provider::Descriptor;
using urnic::test::may_freeze;

namespace {

using Outcome = urnic::abi::Sharing;

const auto kPage = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
constexpr std::size_t kPages = 64;

// Private pages, between two that nobody may touch: the kernel joins them to no other mapping.
struct Memory {
  char* const around = static_cast<char*>(
      mmap(nullptr, (kPages + 2) * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* const bytes = around + kPage;
  const std::size_t length = kPages * kPage;
  const Descriptor file{memfd_create("urnic-memory", MFD_CLOEXEC)};
  char* devices = nullptr;  // the device's mapping

  Memory() {
    mprotect(around, kPage, PROT_NONE);
    mprotect(bytes + length, kPage, PROT_NONE);
    BOOST_REQUIRE(ftruncate(file.get(), static_cast<off_t>(length)) == 0);
    devices = static_cast<char*>(mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0));
    BOOST_REQUIRE(devices != MAP_FAILED);
  }
  ~Memory() {
    munmap(devices, length);
    munmap(around, length + 2 * kPage);
  }
  PageRange range() const { return {reinterpret_cast<std::uintptr_t>(bytes), length}; }
  Outcome share() const { return urnic::provider::share_pages(range(), file.get()); }
  void make_private() const { urnic::provider::make_pages_private(range(), file.get()); }
  std::size_t files_bytes() const {
    struct stat status {};
    fstat(file.get(), &status);
    return static_cast<std::size_t>(status.st_blocks) * 512;
  }
  bool is_shared() const {
    const std::size_t place = kPage + kPage / 2;  // no thread counts here
    bytes[place] = static_cast<char>(bytes[place] + 1);
    return devices[place] == bytes[place];
  }
};

// Its allocator ends the process where there is no memory.
boost::test_tools::assertion_result without_sanitizer(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!urnic::kSanitized);
  result.message() << "AddressSanitizer cannot do without memory";
  return result;
}

struct Threads {
  std::atomic<bool> stop{false};
  std::vector<std::thread> running;
  void start(std::function<void()> once) {
    running.emplace_back([this, once = std::move(once)] {
      while (!stop) once();
    });
  }
  ~Threads() {
    stop = true;
    for (std::thread& each : running) each.join();
  }
};

// Each thread counts in words of its own, and must find what it has written.
struct Counting {
  // Until `threads` are gone.
  void start(Memory& of, Threads& threads, int number) {
    for (int i = 0; i < number; ++i) {
      auto seen = std::make_shared<std::vector<std::uint64_t>>(kPages);
      auto random = std::make_shared<std::uint64_t>(88172645463325252u + static_cast<unsigned>(i));
      threads.start([&of, i, seen, random, this] {
        for (int n = 0; n < 100; ++n) {
          *random ^= *random << 13;
          *random ^= *random >> 7;
          *random ^= *random << 17;
          const std::size_t page = *random % kPages;
          auto* const word = reinterpret_cast<std::uint64_t*>(of.bytes + page * kPage) + 8 * i;
          if (std::atomic_ref(*word).load() != (*seen)[page]) ++lost;
          std::atomic_ref(*word).store(++(*seen)[page]);
        }
        ++turns;
      });
    }
  }
  void wait_for(int more) const {
    const int until = turns + more;
    while (turns < until) std::this_thread::yield();
  }
  std::atomic<int> lost{0};
  std::atomic<int> turns{0};
};

int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

BOOST_FIXTURE_TEST_SUITE(page_exchange, Memory)

BOOST_AUTO_TEST_CASE(contents_stay_and_both_see_what_is_written) {
  for (std::size_t page = 0; page < kPages; page += 3)
    std::memset(bytes + page * kPage, static_cast<int>(page + 1), kPage);
  BOOST_REQUIRE((share() == Outcome::shared));
  for (std::size_t page = 0; page < kPages; ++page) {
    const char expected = page % 3 == 0 ? static_cast<char>(page + 1) : '\0';
    BOOST_REQUIRE(bytes[page * kPage] == expected);
    BOOST_REQUIRE(devices[page * kPage + kPage - 1] == expected);
  }
  bytes[5 * kPage] = 77;
  BOOST_TEST(devices[5 * kPage] == 77);
  devices[6 * kPage] = 78;
  BOOST_TEST(bytes[6 * kPage] == 78);
}

BOOST_AUTO_TEST_CASE(pages_that_were_never_touched_take_no_memory) {
  bytes[7 * kPage] = 1;
  BOOST_REQUIRE((share() == Outcome::shared));
  BOOST_TEST(files_bytes() == kPage);
}

BOOST_AUTO_TEST_CASE(private_again_nothing_is_lost_and_nothing_shared) {
  std::memset(bytes, 3, length);
  BOOST_REQUIRE((share() == Outcome::shared));
  std::memset(devices + kPage, 4, kPage);
  mprotect(bytes + 2 * kPage, kPage, PROT_READ);
  make_private();
  BOOST_TEST(bytes[0] == 3);
  BOOST_TEST(bytes[kPage] == 4);
  BOOST_TEST(bytes[2 * kPage] == 3);
  BOOST_TEST(files_bytes() == 0u);
  devices[kPage] = 9;
  BOOST_TEST(bytes[kPage] == 4);
  bytes[3 * kPage] = 8;
  BOOST_TEST(devices[3 * kPage] == 0);
  // As an allocator relies on (madvise(2)): it means zeros, in private memory.
  BOOST_REQUIRE(madvise(bytes, length, MADV_DONTNEED) == 0);
  devices[0] = 0;
  BOOST_TEST(bytes[4 * kPage] == 0);
  BOOST_TEST(mprotect(bytes + 2 * kPage, kPage, PROT_READ) == 0);
}

BOOST_AUTO_TEST_CASE(what_the_program_has_put_there_itself_is_left_alone) {
  std::memset(bytes, 3, length);
  BOOST_REQUIRE((share() == Outcome::shared));
  munmap(bytes, 2 * kPage);
  char* const own = bytes + 4 * kPage;
  BOOST_REQUIRE(mmap(own, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                own);
  own[0] = 42;
  make_private();
  BOOST_TEST(own[0] == 42);
  unsigned char resident = 0;
  BOOST_TEST(mincore(bytes, 2 * kPage, &resident) == -1);  // not mapped
  BOOST_TEST(bytes[3 * kPage] == 3);
  BOOST_TEST(bytes[kPages * kPage - 1] == 3);
}

BOOST_AUTO_TEST_CASE(memory_that_shared_memory_cannot_stand_for_stays) {
  const auto refused = [&] { return share() == Outcome::refused_for_memory; };
  std::memset(bytes, 1, length);
  if (syscall(SYS_mlock, bytes, kPage) == 0) {  // AddressSanitizer's own mlock does nothing
    BOOST_TEST(refused());
    syscall(SYS_munlock, bytes, kPage);
  }
  BOOST_REQUIRE(madvise(bytes, length, MADV_WIPEONFORK) == 0);
  BOOST_TEST(refused());
  BOOST_REQUIRE(madvise(bytes, length, MADV_KEEPONFORK) == 0);
  mprotect(bytes, kPage, PROT_READ);
  BOOST_TEST(refused());
  mprotect(bytes, kPage, PROT_READ | PROT_WRITE);
  aio_context_t context = 0;
  if (syscall(SYS_io_setup, 1, &context) == 0) {
    BOOST_TEST(refused());
    syscall(SYS_io_destroy, context);
  }
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit low{length - 1, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &low);
  BOOST_TEST((share() == Outcome::refused_by_kernel));
  setrlimit(RLIMIT_FSIZE, &before);
  BOOST_TEST(bytes[length - 1] == 1);
  BOOST_TEST((share() == Outcome::shared));
}

// It runs on a stack that would be exchanged.
BOOST_AUTO_TEST_CASE(a_threads_own_stack_stays) {
  Outcome outcome = Outcome::shared;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, bytes, length);
  struct Work {
    Memory& memory;
    Outcome& outcome;
  } work{*this, outcome};
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    auto& given = *static_cast<Work*>(argument);
    given.outcome = given.memory.share();
    return nullptr;
  };
  BOOST_REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  BOOST_TEST((outcome == Outcome::refused_for_memory));
}

BOOST_AUTO_TEST_CASE(properties_that_it_can_have_stay) {
  BOOST_REQUIRE(madvise(bytes, length, MADV_DONTFORK) == 0);
  BOOST_REQUIRE(madvise(bytes, length, MADV_DONTDUMP) == 0);
  BOOST_REQUIRE((share() == Outcome::shared));
  std::ifstream maps("/proc/self/smaps");
  std::string line, flags;
  char address[32];
  std::snprintf(address, sizeof address, "%lx-", static_cast<unsigned long>(range().address));
  while (std::getline(maps, line) && line.find(address) != 0) {
  }
  while (std::getline(maps, line) && flags.empty())
    if (line.find("VmFlags:") == 0) flags = line;
  BOOST_TEST(flags.find(" dc") != std::string::npos, flags);
  BOOST_TEST(flags.find(" dd") != std::string::npos, flags);
}

BOOST_AUTO_TEST_CASE(no_write_of_another_thread_is_lost, *boost::unit_test::precondition(may_freeze)) {
  for (int round = 0; round < 5; ++round) {
    char* const fresh = static_cast<char*>(
        mmap(bytes, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    BOOST_REQUIRE(fresh == bytes);
    Counting counting;
    Threads threads;
    counting.start(*this, threads, 2);
    counting.wait_for(100);
    BOOST_REQUIRE((share() == Outcome::shared));
    counting.wait_for(100);
    BOOST_TEST(is_shared());
    make_private();
    counting.wait_for(100);
    BOOST_TEST(counting.lost == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_system_call_of_another_thread_waits, *boost::unit_test::precondition(may_freeze)) {
  std::memset(bytes, 5, length);
  const Descriptor zeros(open("/dev/zero", O_RDONLY | O_CLOEXEC)),
      nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
  std::array<int, 2> pipe{};
  BOOST_REQUIRE(pipe2(pipe.data(), O_CLOEXEC) == 0);
  std::atomic<int> failed{0}, calls{0};
  {
    Threads threads;
    threads.start([&] {
      failed += read(zeros.get(), bytes + kPage, 8 * kPage) != static_cast<ssize_t>(8 * kPage);
      failed += write(pipe[1], bytes + 20 * kPage, 4 * kPage) != static_cast<ssize_t>(4 * kPage);
      char back[4 * 4096];
      for (ssize_t got = 0; got < static_cast<ssize_t>(sizeof back);)
        got += read(pipe[0], back + got, sizeof back - static_cast<std::size_t>(got));
      failed += back[0] != 5;
      ++calls;
    });
    for (int round = 0; round < 20; ++round) {
      while (calls < 3 * round) std::this_thread::yield();
      if (round == 3) BOOST_REQUIRE((share() == Outcome::shared));
      if (round == 10) make_private();
    }
  }
  BOOST_TEST(failed == 0);
  close(pipe[0]);
  close(pipe[1]);
}

BOOST_AUTO_TEST_CASE(without_the_right_to_make_threads_wait_nothing_is_exchanged) {
  std::memset(bytes, 6, length);
  const int status = in_child([&] {
    // Without the second call the process could not read what the kernel says of it (proc(5)).
    if (geteuid() == 0 && (setuid(54321) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)) return 9;
    Threads threads;
    threads.start([] { std::this_thread::yield(); });
    const Outcome outcome = share();
    threads.stop = true;
    if (outcome == Outcome::shared) return 0;  // the system allows it to all
    return outcome == Outcome::refused_for_threads && bytes[0] == 6 && !is_shared() ? 0 : 1;
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_SUITE_END()

struct Shared : Memory {
  Shared() {
    std::memset(bytes, 1, length);
    BOOST_REQUIRE((urnic::provider::share(range(), file) == Outcome::shared));
  }
  ~Shared() { urnic::provider::unshare(range(), file); }

  // Who waits for whom: `first` in the child, then `then` in the parent, then `last` in the child.
  int in_turns(const std::function<bool()>& first, const std::function<void()>& then,
               const std::function<bool()>& last) {
    std::array<int, 2> to_child{}, to_parent{};
    BOOST_REQUIRE(pipe2(to_child.data(), O_CLOEXEC) == 0);
    BOOST_REQUIRE(pipe2(to_parent.data(), O_CLOEXEC) == 0);
    char turn = 0;
    const pid_t child = fork();
    if (child == 0) {
      if (!first()) _exit(1);
      if (write(to_parent[1], &turn, 1) != 1 || read(to_child[0], &turn, 1) != 1) _exit(2);
      _exit(last() ? 0 : 3);
    }
    close(to_parent[1]);
    if (read(to_parent[0], &turn, 1) == 1) {
      then();
      BOOST_TEST(write(to_child[1], &turn, 1) == 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    for (const int number : {to_child[0], to_child[1], to_parent[0]}) close(number);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

BOOST_FIXTURE_TEST_SUITE(forked_child_of_shared_pages, Shared)

BOOST_AUTO_TEST_CASE(has_a_copy_of_its_own) {
  bytes[3 * kPage] = 33;
  mprotect(bytes + 5 * kPage, kPage, PROT_READ);
  const int status = in_turns(
      [&] {
        const bool same = bytes[0] == 1 && bytes[3 * kPage] == 33 && bytes[5 * kPage] == 1;
        bytes[kPage] = 55;
        return same;
      },
      [&] {
        BOOST_TEST(bytes[kPage] == 1);
        bytes[2 * kPage] = 66;
        devices[4 * kPage] = 67;  // received meanwhile
      },
      [&] { return bytes[kPage] == 55 && bytes[2 * kPage] == 1 && bytes[4 * kPage] == 1; });
  BOOST_TEST(status == 0);
  BOOST_TEST(is_shared());
}

BOOST_AUTO_TEST_CASE(has_its_own_childrens_copies_too) {
  const int status = in_child([&] {
    bytes[0] = 2;
    const int inner = in_child([&] {
      bytes[0] = 3;
      return bytes[1] == 1 ? 0 : 1;
    });
    return inner == 0 && bytes[0] == 2 ? 0 : 1;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(bytes[0] == 1);
}

BOOST_AUTO_TEST_CASE(does_not_get_what_the_program_has_unmapped) {
  munmap(bytes, 2 * kPage);
  char* const own = bytes + 2 * kPage;
  BOOST_REQUIRE(mmap(own, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
                own);
  const int status = in_child([&] {
    unsigned char resident = 0;
    own[0] = 77;
    return mincore(bytes, 2 * kPage, &resident) == -1 && bytes[4 * kPage] == 1 ? 0 : 1;
  });
  BOOST_TEST(status == 0);
  BOOST_TEST(own[0] == 77);  // the program's own shared memory stays shared
}

// Nothing is better than memory that both write.
BOOST_AUTO_TEST_CASE(has_none_where_there_is_no_memory_for_a_copy,
                     *boost::unit_test::precondition(without_sanitizer)) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit none{1, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  const pid_t child = fork();
  if (child == 0) {
    unsigned char resident = 0;
    _exit(mincore(bytes, kPage, &resident) == -1 ? 0 : 1);
  }
  setrlimit(RLIMIT_AS, &before);
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_TEST(WEXITSTATUS(status) == 0);
  BOOST_TEST(is_shared());
  BOOST_TEST(in_child([&] { return bytes[0] == 1 ? 0 : 1; }) == 0);  // the next one has it
}

// vfork(2) runs no handlers, and its child uses the parent's memory.
BOOST_AUTO_TEST_CASE(is_another_program_at_once_after_vfork_and_system) {
  BOOST_TEST(system("true") == 0);
  BOOST_TEST(is_shared());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(after_the_end_of_sharing_a_child_copies_nothing) {
  Memory memory;
  std::memset(memory.bytes, 1, memory.length);
  BOOST_REQUIRE((urnic::provider::share(memory.range(), memory.file) == Outcome::shared));
  urnic::provider::unshare(memory.range(), memory.file);
  BOOST_TEST(!memory.is_shared());
  const int status =
      in_child([&] { return memory.bytes[0] == 1 && memory.bytes[kPage + kPage / 2] == 2 ? 0 : 1; });
  BOOST_TEST(status == 0);
}

}  // namespace
