// Copies that a copier makes from and to the memory of a third process.
#include "device_model/memory/copier.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "device_model/memory/copier_memory.hpp"
#include "tests/unit/memory/child_process.hpp"

namespace urnic::memory::test {

namespace {

// A program with two pages, its memory, and a copier for it.
class Copied {
 public:
  explicit Copied(Way way)
      : direct_(reach(child, way)), memory_(share(make_copier_descriptors()), *direct_) {}
  ~Copied() {
    kill(copier_, SIGKILL);
    waitpid(copier_, nullptr, 0);
  }
  Copied(const Copied&) = delete;
  Copied& operator=(const Copied&) = delete;

  void signal(int number) const { kill(copier_, number); }
  CopierMemory& memory() { return memory_; }

  // False if the job does not end in time.
  bool ends(std::span<Transfer> batch) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < end) {
      if (memory_.end(batch)) return true;
      pollfd entry{memory_.answer_descriptor(), POLLIN, 0};
      poll(&entry, 1, 1);
    }
    return false;
  }
  std::vector<std::byte> read(std::uint64_t address, std::size_t length) {
    std::vector<std::byte> bytes(length);
    Transfer batch[] = {{address, bytes, false}};
    memory_.begin_read(batch);
    BOOST_REQUIRE(ends(batch));
    BOOST_TEST(!batch[0].failed);
    return bytes;
  }

  Pages pages{2};
  ChildProcess child{[this] { std::memset(pages.page(0), 'O', 2 * Pages::kBytes); }};

 private:
  CopierDescriptors share(CopierDescriptors descriptors) {
    copier_ = fork();
    if (copier_ == 0) {
      run_copier(descriptors, *direct_);
      _exit(1);
    }
    return descriptors;
  }

  std::unique_ptr<ApplicationMemory> direct_;
  pid_t copier_ = -1;
  CopierMemory memory_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(copier)

BOOST_AUTO_TEST_CASE(pieces_are_copied_in_both_directions) {
  for (const Way way : kWays) {
    Copied copied(way);
    std::array<std::byte, 100> written;
    for (std::size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(i);
    const std::span<std::byte> all(written);
    Transfer writes[] = {{copied.pages.address(0, 3), all.first(13), false},
                         {copied.pages.address(1, 4000), all.last(50), false}};
    BOOST_TEST(copied.memory().idle());
    copied.memory().begin_write(writes);
    BOOST_REQUIRE(copied.ends(writes));
    BOOST_TEST(!writes[0].failed);
    BOOST_TEST(!writes[1].failed);
    std::array<std::byte, 15> first;
    std::array<std::byte, 50> second;
    Transfer reads[] = {{copied.pages.address(0, 2), first, false},
                        {copied.pages.address(1, 4000), second, false}};
    copied.memory().begin_read(reads);
    BOOST_REQUIRE(copied.ends(reads));
    BOOST_TEST((first[0] == std::byte{'O'} && first[14] == std::byte{'O'}));
    BOOST_TEST(std::memcmp(first.data() + 1, written.data(), 13) == 0);
    BOOST_TEST(std::memcmp(second.data(), written.data() + 50, 50) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_job_may_be_as_large_as_is_said) {
  Copied copied(Way::process_vm);
  std::vector<std::byte> bytes(WaitingMemory::kMaxBytes, std::byte{7});
  std::vector<Transfer> batch;
  const std::size_t piece = WaitingMemory::kMaxBytes / WaitingMemory::kMaxPieces;
  for (std::size_t i = 0; i < WaitingMemory::kMaxPieces; ++i) {
    batch.push_back({copied.pages.address(0, i), std::span(bytes).subspan(i * piece, piece), false});
  }
  copied.memory().begin_write(batch);
  BOOST_REQUIRE(copied.ends(batch));
  for (const Transfer& transfer : batch) BOOST_TEST(!transfer.failed);
}

BOOST_AUTO_TEST_CASE(pieces_that_cannot_be_copied_are_told) {
  for (const Way way : kWays) {
    Copied copied(way);
    std::array<std::byte, 8> bytes{};
    Transfer batch[] = {{copied.pages.address(0), bytes, false}, {64, bytes, false}};
    copied.memory().begin_read(batch);
    BOOST_REQUIRE(copied.ends(batch));
    BOOST_TEST(!batch[0].failed);
    BOOST_TEST(batch[1].failed);
  }
}

BOOST_AUTO_TEST_CASE(operations_on_a_word) {
  Copied copied(Way::process_vm);
  const std::uint64_t address = copied.pages.address(1, 8);
  std::uint64_t original = 0;
  const auto operate = [&](const WordOperation& operation) {
    Transfer batch[] = {{address, std::as_writable_bytes(std::span{&original, 1}), false}};
    copied.memory().begin_operation(operation);
    BOOST_REQUIRE(copied.ends(batch));
    BOOST_TEST(!batch[0].failed);
    std::uint64_t now = 0;
    std::memcpy(&now, copied.read(address, sizeof now).data(), sizeof now);
    return now;
  };
  constexpr std::uint64_t kBefore = 0x4F4F4F4F4F4F4F4F;
  BOOST_TEST(operate({.address = address, .swap_or_add = 3}) == kBefore + 3);
  BOOST_TEST(original == kBefore);
  BOOST_TEST(operate({.address = address, .compares = true, .compare = 1, .swap_or_add = 5}) == kBefore + 3);
  BOOST_TEST(original == kBefore + 3);
  BOOST_TEST(operate({.address = address, .compares = true, .compare = kBefore + 3, .swap_or_add = 5}) == 5u);
}

// The stopped copier plays one that waits for memory.
BOOST_AUTO_TEST_CASE(a_job_that_does_not_end_is_waited_for_by_nobody) {
  Copied copied(Way::process_vm);
  copied.signal(SIGSTOP);
  std::array<std::byte, 8> bytes{};
  Transfer batch[] = {{copied.pages.address(0), bytes, false}};
  BOOST_TEST(!copied.memory().takes_already());
  copied.memory().begin_read(batch);
  BOOST_TEST(!copied.memory().end(batch));
  BOOST_TEST(!copied.memory().idle());
  BOOST_TEST(copied.memory().takes_already().has_value());
  copied.memory().give_up();
  BOOST_TEST(copied.memory().end(batch));
  BOOST_TEST(batch[0].failed);
  BOOST_TEST(copied.memory().idle());
  copied.memory().begin_read(batch);
  BOOST_TEST(copied.memory().end(batch));
  BOOST_TEST(batch[0].failed);
}

BOOST_AUTO_TEST_CASE(nobody_waits_by_mistake) {
  Copied copied(Way::process_vm);
  std::array<std::byte, 8> bytes{};
  Transfer batch[] = {{copied.pages.address(0), bytes, false}};
  copied.memory().read(batch);
  BOOST_TEST(batch[0].failed);
  batch[0].failed = false;
  copied.memory().write(batch);
  BOOST_TEST(batch[0].failed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::memory::test
