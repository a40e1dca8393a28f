// The clock that programs of the mlx5 face read in their memory: it goes on, also while the engine sleeps.
#include "device_model/engine/doorbells/clock_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "device_model/engine/loop/clock_now.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {
namespace {

constexpr std::size_t kClockBytes = ClockPages::kPages * ClockPages::kPageBytes;

std::byte* map_clock(int file) {
  void* const at = mmap(nullptr, kClockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  BOOST_REQUIRE(at != MAP_FAILED);
  return static_cast<std::byte*>(at);
}

memory::Descriptor make_clock_file() {
  memory::Descriptor file(memfd_create("clock", MFD_CLOEXEC));
  BOOST_REQUIRE(ftruncate(file.get(), kClockBytes) == 0);
  return file;
}

memory::Descriptor open_faults() {
  memory::Descriptor faults(
      static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  uffdio_api api{};
  api.api = UFFD_API;
  if (!faults || ioctl(faults.get(), UFFDIO_API, &api) != 0) return {};
  return faults;
}

boost::test_tools::assertion_result may_watch_pages(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result allowed(static_cast<bool>(open_faults()));
  allowed.message() << "userfaultfd(2) is refused here: a program's reads cannot wake the engine";
  return allowed;
}

std::uint64_t nanoseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// A context's clock, with the engine of a fabric.
struct Clocked {
  Clocked() {
    fabric.engine.execute([this] { fabric.engine.add_clock(clock); });
  }
  ~Clocked() {
    fabric.engine.stop();
    fabric.engine.execute([this] { fabric.engine.remove_clock(clock); });
    munmap(devices, kClockBytes);
    munmap(programs, kClockBytes);
  }
  void start() {
    fabric.engine.execute([this] { clock.hold(program); });
  }
  void watch(std::byte* mapping) {
    memory::Descriptor faults = open_faults();
    const auto at = reinterpret_cast<std::uintptr_t>(mapping);
    uffdio_register range{};
    range.range = {.start = at, .len = ClockPages::kPageBytes};
    range.mode = UFFDIO_REGISTER_MODE_MISSING;
    BOOST_REQUIRE(ioctl(faults.get(), UFFDIO_REGISTER, &range) == 0);
    fabric.engine.execute([&] { fabric.engine.watch_clock(clock, program, faults, at); });
  }
  // As libmlx5 reads it (mlx5_read_clock).
  std::uint64_t read() const {
    const auto* const words = reinterpret_cast<const std::atomic<std::uint32_t>*>(programs);
    while (true) {
      const std::uint32_t high = __builtin_bswap32(words[0].load());
      const std::uint32_t low = __builtin_bswap32(words[1].load());
      if (__builtin_bswap32(words[0].load()) == high) return std::uint64_t{high} << 32 | low;
    }
  }
  const abi::mlx5::ClockInfo& info() const {
    return *reinterpret_cast<const abi::mlx5::ClockInfo*>(programs + ClockPages::kPageBytes);
  }
  std::uint64_t wall_time_of(std::uint64_t ticks) const {
    return info().nanoseconds.load() + (ticks - info().at.load()) * info().multiplier;
  }

  const PageHolder program{this};
  Fabric fabric;
  memory::Descriptor file = make_clock_file();
  std::byte* const devices = map_clock(file.get());
  std::byte* const programs = map_clock(file.get());
  ClockPages clock{devices, file.get(), fabric.engine.data_path(), &clock_now};
};

// Whether the clock on the page follows the time, which each read shows. While the engine gets no processor
// it stands.
bool follows_time(const std::byte* page) {
  constexpr std::uint64_t kTolerance = 1'000'000;
  usleep(5'000);
  const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
  std::uint64_t time = 0;
  std::memcpy(&time, page, sizeof time);
  return __builtin_bswap64(time) + kTolerance > before;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(clock_pages)

BOOST_AUTO_TEST_CASE(nobody_who_has_not_mapped_it_has_a_clock) {
  Clocked clocked;
  BOOST_TEST(!clocked.clock.show());
  BOOST_TEST(clocked.read() == 0u);
  clocked.clock.going_to_sleep(clock_now());
  BOOST_TEST(!clocked.clock.look_again().has_value());
}

BOOST_AUTO_TEST_CASE(each_round_shows_its_time) {
  Clocked clocked;
  clocked.start();
  DataPath& path = clocked.fabric.engine.data_path();
  for (const std::int64_t time : {0x1'0000'0000, 0x7FFF'FFFF'FFFF}) {
    path.set_now(transport::Time(transport::Nanoseconds(time)));
    BOOST_TEST(!clocked.clock.show());
    BOOST_TEST(clocked.read() == static_cast<std::uint64_t>(time));
    BOOST_TEST(clocked.clock.of_round() == static_cast<std::uint64_t>(time));
  }
}

// A program that has a CQE's time reads no earlier one.
BOOST_AUTO_TEST_CASE(the_time_of_a_cqe_is_shown_at_once) {
  Clocked clocked;
  clocked.start();
  const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
  const std::uint64_t time = clocked.clock.now();
  BOOST_TEST(time >= before);
  BOOST_TEST(clocked.read() == time);
  clocked.fabric.engine.data_path().set_now(clock_now());
  const std::uint64_t of_round = clocked.clock.of_round();
  BOOST_TEST(of_round > time);
  BOOST_TEST(clocked.read() == of_round);
}

BOOST_AUTO_TEST_CASE(wall_time_follows_from_ticks) {
  Clocked clocked;
  clocked.start();
  const std::uint64_t at_first = clocked.info().at.load();
  clocked.fabric.engine.data_path().set_now(clock_now() + transport::Nanoseconds(2'000'000));
  clocked.clock.show();
  BOOST_TEST(clocked.info().at.load() > at_first);
  BOOST_TEST(clocked.info().sequence.load() % 2 == 0u);
  const std::uint64_t before = nanoseconds_of(CLOCK_REALTIME);
  const std::uint64_t wall = clocked.wall_time_of(nanoseconds_of(CLOCK_MONOTONIC));
  const std::uint64_t after = nanoseconds_of(CLOCK_REALTIME);
  constexpr std::uint64_t kReading = 1'000'000'000;  // the device reads two clocks, one after the other
  BOOST_TEST(wall + kReading > before);
  BOOST_TEST(wall < after + kReading);
}

// A read that is lost hangs the test.
BOOST_AUTO_TEST_CASE(a_read_wakes_an_engine_that_sleeps, *boost::unit_test::precondition(may_watch_pages)) {
  Clocked clocked;
  clocked.start();
  clocked.watch(clocked.programs);
  clocked.fabric.engine.start();
  std::uint64_t last = 0;
  int fresh = 0;
  for (int i = 0; i < 300; ++i) {
    usleep(i % 7 * 100);
    const std::uint64_t before = nanoseconds_of(CLOCK_MONOTONIC);
    const std::uint64_t time = clocked.read();
    BOOST_REQUIRE(time >= last);
    BOOST_REQUIRE(time <= nanoseconds_of(CLOCK_MONOTONIC));
    // After a pause the engine has slept, so the page was away, unless others took the processor.
    if (i % 7 == 6 && time >= before) ++fresh;
    last = time;
  }
  BOOST_TEST(fresh > 0);
  usleep(20'000);
  const auto beats = clocked.fabric.engine.heartbeat();
  usleep(100'000);
  BOOST_TEST(clocked.fabric.engine.heartbeat() == beats);  // nobody reads
  BOOST_TEST(clocked.read() > beats);
}

BOOST_AUTO_TEST_CASE(a_clock_that_nobody_watches_goes_now_and_then) {
  Clocked clocked;
  clocked.start();
  clocked.fabric.engine.start();
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t time = clocked.read();
    while (clocked.read() == time) usleep(100);
    BOOST_REQUIRE(clocked.read() > time);
  }
}

// A context and one that imports it, in one process.
BOOST_AUTO_TEST_CASE(each_who_has_mapped_it_reads_it, *boost::unit_test::precondition(may_watch_pages)) {
  Clocked clocked;
  std::byte* const again = map_clock(clocked.file.get());
  clocked.start();
  clocked.watch(clocked.programs);
  clocked.start();
  clocked.clock.going_to_sleep(clock_now());
  BOOST_TEST(clocked.read() != 0u);  // the second has no watch yet, so the page stays
  BOOST_TEST(clocked.clock.look_again().has_value());
  clocked.watch(again);
  clocked.fabric.engine.start();
  for (const std::byte* const page : {again, clocked.programs}) {
    int right = 0;
    for (int i = 0; i < 20; ++i) right += follows_time(page);
    BOOST_TEST(right >= 15);
  }
  clocked.fabric.engine.stop();
  munmap(again, kClockBytes);
}

// Then the first is not taken away any more, too.
BOOST_AUTO_TEST_CASE(a_clock_that_comes_to_a_page_that_is_away_gives_it_back,
                     *boost::unit_test::precondition(may_watch_pages)) {
  Clocked clocked;
  clocked.start();
  clocked.watch(clocked.programs);
  clocked.clock.going_to_sleep(clock_now());
  clocked.start();
  BOOST_TEST(clocked.read() != 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
