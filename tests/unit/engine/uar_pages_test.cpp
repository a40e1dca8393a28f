// UAR pages: a store into a register makes the engine look, also while it sleeps.
#include "device_model/engine/doorbells/uar_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "device_model/engine/doorbells/doorbell_turns.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {
namespace {

constexpr std::uint32_t kPages = 2;
constexpr std::size_t kBytes = kPages * UarPages::kPageBytes;

// A mapping of the pages; the device's and the program's are two.
class Mapped {
 public:
  explicit Mapped(int file)
      : at_(static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))) {
    BOOST_REQUIRE(at_ != MAP_FAILED);
  }
  ~Mapped() { munmap(at_, kBytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::byte* data() const { return at_; }

 private:
  std::byte* at_;
};

memory::Descriptor make_file() {
  memory::Descriptor file(memfd_create("uar", MFD_CLOEXEC));
  BOOST_REQUIRE(ftruncate(file.get(), kBytes) == 0);
  return file;
}

memory::Descriptor open_userfaultfd() {
  memory::Descriptor faults(
      static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (!faults) return faults;
  uffdio_api api{};
  api.api = UFFD_API;
  if (ioctl(faults.get(), UFFDIO_API, &api) != 0) return {};
  return faults;
}

boost::test_tools::assertion_result may_watch(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result allowed(static_cast<bool>(open_userfaultfd()));
  allowed.message() << "userfaultfd(2) is refused here: a program's stores cannot wake the engine";
  return allowed;
}

// Two connected QPs of one program each; the first posts without the bitmap, as on the mlx5 face.
struct Uars {
  explicit Uars(std::uint32_t queue_pairs = 1) {
    for (std::uint32_t i = 0; i < queue_pairs; ++i) {
      senders.push_back(std::make_unique<TestQp>(fabric.program0, i, QpLayout{}));
      receivers.push_back(std::make_unique<TestQp>(fabric.program1, i, QpLayout{}));
      Fabric::connect(*senders[i], *receivers[i]);
    }
    fabric.engine.execute([this] {
      fabric.engine.add_uar_pages(pages);
      for (std::uint32_t page = 0; page < kPages; ++page) pages.hold(page, program);
    });
  }
  ~Uars() {
    fabric.engine.execute([this] { fabric.engine.remove_uar_pages(pages); });
  }

  void watch() { watch(programs, program); }
  void watch(const Mapped& mapped, PageHolder holder) {
    for (std::uint32_t page = 0; page < kPages; ++page) {
      memory::Descriptor faults = open_userfaultfd();
      const auto at = reinterpret_cast<std::uintptr_t>(mapped.data() + page * UarPages::kPageBytes);
      uffdio_register range{};
      range.range = {.start = at, .len = UarPages::kPageBytes};
      range.mode = UFFDIO_REGISTER_MODE_MISSING;
      BOOST_REQUIRE(ioctl(faults.get(), UFFDIO_REGISTER, &range) == 0);
      fabric.engine.execute([&] { fabric.engine.watch_uar_page(pages, page, holder, faults, at); });
    }
  }

  // Posts a WRITE of `value` to the beginning of the other program's memory, without a doorbell.
  void post(std::uint32_t sender, std::uint64_t value) {
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.flags |= abi::send_inline;
    head.inline_length = sizeof value;
    head.remote_address = fabric.program1.address(sender * sizeof value);
    head.rkey = fabric.program1.key.value;
    TestQp& qp = *senders[sender];
    qp.write_send(head, std::as_bytes(std::span(&value, 1)));
    qp.indices.send_producer.store(qp.send_producer, std::memory_order_release);
  }
  void store(UarRegister in, std::uint64_t word, bool second_half = false) {
    store(programs, in, word, second_half);
  }
  static void store(const Mapped& mapped, UarRegister in, std::uint64_t word, bool second_half = false) {
    std::byte* const at = mapped.data() + in.value / UarPages::kRegistersPerPage * UarPages::kPageBytes +
                          UarPages::kFirstRegister +
                          in.value % UarPages::kRegistersPerPage * UarPages::kRegisterBytes +
                          (second_half ? UarPages::kRegisterBytes / 2 : 0);
    reinterpret_cast<std::atomic<std::uint64_t>*>(at)->store(word, std::memory_order_release);
  }
  void request(std::uint32_t page) {
    std::byte* const at = programs.data() + page * UarPages::kPageBytes + UarPages::kArmRegister;
    reinterpret_cast<std::atomic<std::uint64_t>*>(at)->store(1);
  }
  std::uint64_t arrived(std::uint32_t receiver) const {
    std::uint64_t value = 0;
    std::memcpy(&value, fabric.program1.bytes.data() + receiver * sizeof value, sizeof value);
    return value;
  }
  void attach(UarRegister on, std::uint32_t sender) {
    fabric.engine.execute([&] { pages.attach(on, senders[sender]->device_end()); });
  }
  void detach(UarRegister on, std::uint32_t sender) {
    fabric.engine.execute([&] { pages.detach(on, senders[sender]->device_end()); });
  }

  const PageHolder program{this};
  Fabric fabric;
  memory::Descriptor file = make_file();
  Mapped devices{file.get()};
  Mapped programs{file.get()};
  UarPages pages{devices.data(), kPages, file.get(), fabric.engine.data_path()};
  std::vector<std::unique_ptr<TestQp>> senders;
  std::vector<std::unique_ptr<TestQp>> receivers;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(uar_pages)

BOOST_AUTO_TEST_CASE(each_half_of_each_register_makes_the_engine_look) {
  Uars uars;
  std::uint64_t value = 0;
  for (std::uint32_t index = 0; index < uars.pages.registers(); ++index) {
    const UarRegister on{index};
    uars.attach(on, 0);
    for (const bool second_half : {false, true}) {
      uars.post(0, ++value);
      BOOST_TEST(!uars.pages.rung());
      BOOST_TEST(!uars.pages.look(100));  // nothing was stored: nobody looks
      uars.store(on, 0x1234, second_half);
      BOOST_TEST(uars.pages.rung());
      BOOST_TEST(uars.pages.look(100));
      BOOST_TEST(!uars.pages.rung());
      uars.fabric.run();
      BOOST_TEST(uars.arrived(0) == value);
      BOOST_TEST(uars.senders[0]->send_cq.poll().has_value());
    }
    uars.detach(on, 0);
  }
}

// After a reset of the QP its first WQE looks as before.
BOOST_AUTO_TEST_CASE(the_same_word_rings_again) {
  Uars uars;
  uars.attach({0}, 0);
  for (std::uint64_t value = 1; value < 4; ++value) {
    uars.post(0, value);
    uars.store({0}, 0x77);
    BOOST_TEST(uars.pages.look(100));
    uars.fabric.run();
    BOOST_TEST(uars.arrived(0) == value);
  }
  uars.detach({0}, 0);
}

BOOST_AUTO_TEST_CASE(a_store_that_hides_another_loses_nothing) {
  constexpr std::uint32_t kSenders = 5;
  Uars uars(kSenders);
  for (std::uint32_t i = 0; i < kSenders; ++i) uars.attach({1}, i);
  for (std::uint32_t i = 0; i < kSenders; ++i) {
    uars.post(i, 100 + i);
    uars.store({1}, i + 1);
  }
  while (uars.pages.look(100)) uars.fabric.run();
  for (std::uint32_t i = 0; i < kSenders; ++i) BOOST_TEST(uars.arrived(i) == 100 + i);
  for (std::uint32_t i = 0; i < kSenders; ++i) uars.detach({1}, i);
}

BOOST_AUTO_TEST_CASE(a_look_ends_and_the_next_goes_on) {
  constexpr std::uint32_t kSenders = 8;
  Uars uars(kSenders);
  for (std::uint32_t i = 0; i < kSenders; ++i) uars.attach({0}, i);
  for (std::uint32_t i = 0; i < kSenders; ++i) uars.post(i, 1 + i);
  uars.store({0}, 1);
  for (std::uint32_t looked = 3; looked <= kSenders + 1; looked += 3) {
    BOOST_TEST(uars.pages.look(3));
    uars.fabric.run();
    std::uint32_t arrived = 0;
    for (std::uint32_t i = 0; i < kSenders; ++i) arrived += uars.arrived(i) != 0 ? 1 : 0;
    BOOST_TEST(arrived == std::min(looked, kSenders));
  }
  BOOST_TEST(!uars.pages.look(3));
  for (std::uint32_t i = 0; i < kSenders; ++i) uars.detach({0}, i);
}

BOOST_AUTO_TEST_CASE(queue_pairs_spread_over_the_registers) {
  Uars uars(5);
  std::vector<std::uint32_t> used(uars.pages.registers());
  for (std::uint32_t i = 0; i < 5; ++i) {
    const UarRegister on = uars.pages.least_used(kPages);
    ++used[on.value];
    uars.attach(on, i);
  }
  BOOST_TEST(used == (std::vector<std::uint32_t>{1, 1, 1, 1, 1, 0, 0, 0}), boost::test_tools::per_element());
  for (std::uint32_t i = 0; i < 5; ++i) uars.detach({i}, i);
}

// An engine that takes the pages away at each chance. A store that is lost hangs the test.
BOOST_AUTO_TEST_CASE(no_store_is_lost_while_the_engine_falls_asleep,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  uars.attach({2}, 0);
  uars.watch();
  uars.fabric.engine.start();
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    for (std::uint64_t pause = 0; pause < i * 7 % 150; ++pause) sched_yield();
    uars.post(0, i);
    uars.store({2}, i, i % 2 == 0);
    std::optional<Polled> entry;
    while (!(entry = uars.senders[0]->send_cq.poll())) sched_yield();
    BOOST_REQUIRE(entry->status == 0);
    BOOST_REQUIRE(uars.arrived(0) == i);
  }
  uars.fabric.engine.stop();
  uars.detach({2}, 0);
}

BOOST_AUTO_TEST_CASE(an_idle_engine_that_is_watched_sleeps, *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  uars.attach({0}, 0);
  uars.watch();
  uars.fabric.engine.start();
  usleep(20'000);
  const auto before = uars.fabric.engine.heartbeat();
  usleep(200'000);
  BOOST_TEST(uars.fabric.engine.heartbeat() == before);
  uars.post(0, 9);
  uars.store({0}, 1);
  while (!uars.senders[0]->send_cq.poll()) sched_yield();
  uars.fabric.engine.stop();
  uars.detach({0}, 0);
}

// A program and a child of fork that goes on with the context, each with a mapping of its own.
BOOST_AUTO_TEST_CASE(stores_of_all_who_have_the_page_wake_the_engine,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  const Mapped childs(uars.file.get());
  const PageHolder child{&childs};
  uars.attach({0}, 0);
  uars.watch();
  uars.fabric.engine.execute([&] {
    for (std::uint32_t page = 0; page < kPages; ++page) uars.pages.hold(page, child);
  });
  uars.watch(childs, child);
  uars.fabric.engine.start();
  std::uint64_t value = 0;
  for (int i = 0; i < 10; ++i) {
    for (const Mapped* const by : std::initializer_list<const Mapped*>{&childs, &uars.programs}) {
      usleep(2'000);
      const auto before = uars.fabric.engine.heartbeat();
      usleep(2'000);
      if (uars.fabric.engine.heartbeat() != before) continue;  // it does not sleep yet
      uars.post(0, ++value);
      Uars::store(*by, {0}, value);
      while (!uars.senders[0]->send_cq.poll()) sched_yield();
      BOOST_TEST(uars.arrived(0) == value);
    }
  }
  BOOST_TEST(value != 0u);
  uars.fabric.engine.stop();
  uars.detach({0}, 0);
}

// Its store would put an empty page in the place of one that is away.
BOOST_AUTO_TEST_CASE(a_page_stays_while_somebody_has_it_without_a_watch,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  const PageHolder child{&uars.file};
  uars.attach({0}, 0);
  uars.watch();
  DataPath& path = uars.fabric.engine.data_path();
  const auto falls_asleep = [&] {
    uars.pages.awake(path.now());
    uars.pages.going_to_sleep(path.now());
    return !uars.pages.look_again().has_value();
  };
  BOOST_TEST(falls_asleep());
  uars.pages.hold(0, child);  // and the page is back
  BOOST_TEST(!falls_asleep());
  BOOST_TEST(!uars.pages.wakes());
  BOOST_TEST(uars.pages.release(child).empty());
  BOOST_TEST(falls_asleep());
  BOOST_TEST(uars.pages.wakes());
  uars.detach({0}, 0);
}

BOOST_AUTO_TEST_CASE(an_engine_that_nothing_wakes_looks_now_and_then) {
  Uars uars;
  uars.attach({0}, 0);
  uars.fabric.engine.start();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    usleep(5000);
    uars.post(0, i);
    uars.store({0}, i);
    while (!uars.senders[0]->send_cq.poll()) sched_yield();
  }
  uars.fabric.engine.stop();
  uars.detach({0}, 0);
}

// The page is away, and the engine has not slept: it has work of other contexts.
BOOST_AUTO_TEST_CASE(an_engine_that_is_awake_gives_back_a_page_for_which_a_store_waits,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  uars.attach({0}, 0);
  uars.watch();
  DoorbellTurns turns;
  turns.add(uars.pages);
  DataPath& path = uars.fabric.engine.data_path();
  uars.pages.going_to_sleep(path.now());
  turns.look();  // at the records, once more
  uars.post(0, 5);
  std::atomic<bool> stored = false;
  std::thread program([&] {
    uars.store({0}, 1);
    stored = true;
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while ((!stored || uars.arrived(0) != 5) && std::chrono::steady_clock::now() < deadline) {
    path.set_now(path.now() + transport::Nanoseconds(50'000));
    turns.look();
    path.round();
  }
  BOOST_TEST(uars.arrived(0) == 5);
  BOOST_TEST(stored);
  uars.pages.awake(path.now());  // the thread must end, whatever was found
  program.join();
  uars.detach({0}, 0);
}

// The program keeps its own descriptors: each watch that has ended must leave nothing with the engine, which
// could not be told of the same file again.
BOOST_AUTO_TEST_CASE(userfaultfds_are_handed_back_and_can_be_watched_again,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  memory::Descriptor programs = open_userfaultfd();
  const auto watch = [&] {
    memory::Descriptor faults(fcntl(programs.get(), F_DUPFD_CLOEXEC, 0));
    const int number = faults.get();
    uars.fabric.engine.execute(
        [&] { uars.fabric.engine.watch_uar_page(uars.pages, 0, uars.program, faults, 4096); });
    return std::pair(number, std::move(faults));
  };
  const auto [first, none] = watch();
  BOOST_TEST(!none);
  const auto [second, replaced] = watch();
  BOOST_TEST(replaced.get() == first);
  std::vector<memory::Descriptor> ended;
  uars.fabric.engine.execute([&] { ended = uars.fabric.engine.remove_uar_pages(uars.pages); });
  BOOST_REQUIRE(ended.size() == 1u);
  BOOST_TEST(ended[0].get() == second);
  ended.clear();
  uars.fabric.engine.execute([&] { uars.fabric.engine.add_uar_pages(uars.pages); });
  BOOST_TEST(watch().first == second);  // the same number of the same file
}

// Entries of a program that asks for an event after the CQE for which it waits was written.
class AskedLate final : public WrittenCompletions {
 public:
  bool write(const transport::Completion&, std::uint32_t) override { return true; }
  bool write_tagged(const transport::Completion&, std::uint32_t, std::uint8_t, const abi::TagInfo&) override {
    return true;
  }
  abi::ArmKind armed() override {
    seen.push_back(request);
    return behind ? abi::ArmKind::next : abi::ArmKind::none;
  }
  void fired() override { behind = false; }
  bool is_behind() override { return behind; }
  void requests_may_hide(bool may) override { may_hide = may; }
  bool wants_each_request() const override { return wants_each; }
  bool has_room_for_data() const override { return false; }
  CompletionIndices indices() const override { return {}; }
  void begin_move(void*, std::uint32_t) override {}
  Moved move(std::uint32_t) override { return Moved::all; }

  bool behind = false;
  bool wants_each = false;
  bool may_hide = false;
  std::atomic<int> request = 0;
  std::vector<int> seen;  // requests that the engine has read
};

// A program makes two requests, one behind the other, while the engine attends to its page; `then` runs once
// both stores are over.
template <class Then>
void store_two(Uars& uars, AskedLate& entries, int first, Then then) {
  DataPath& path = uars.fabric.engine.data_path();
  std::atomic<bool> stored = false;
  std::thread program([&] {
    for (const int request : {first, first + 1}) {
      entries.request = request;
      uars.request(0);
    }
    stored = true;
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!stored && std::chrono::steady_clock::now() < deadline) {
    path.set_now(path.now() + transport::Nanoseconds(50'000));
    uars.pages.attend();
  }
  BOOST_TEST(stored);
  then();
  uars.pages.awake(path.now());  // the thread must end, whatever was found
  program.join();
}

BOOST_AUTO_TEST_CASE(a_late_request_raises_its_event) {
  Uars uars;
  const auto entries = std::make_shared<AskedLate>();
  CompletionQueue queue({.entries = entries,
                         .user_handle = 77,
                         .channel = &uars.fabric.program0.channel.device_end(),
                         .async_events = nullptr});
  for (const std::uint32_t page : {0u, 1u}) {
    uars.pages.attach(queue, page);
    uars.pages.look(100);
    entries->behind = true;
    uars.request(1 - page);
    uars.pages.look(100);
    BOOST_TEST(!uars.fabric.program0.channel.read().has_value());
    uars.request(page);
    uars.pages.look(100);
    BOOST_TEST(uars.fabric.program0.channel.read().has_value());
    BOOST_TEST(!entries->behind);
    uars.pages.detach(queue);
  }
}

// The second request takes the place of the first one in the CQ's record.
BOOST_AUTO_TEST_CASE(a_request_is_seen_before_its_store_goes_on, *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  const auto entries = std::make_shared<AskedLate>();
  CompletionQueue queue({.entries = entries, .channel = &uars.fabric.program0.channel.device_end()});
  uars.pages.attach(queue, 0);
  uars.watch();
  DataPath& path = uars.fabric.engine.data_path();
  uars.pages.going_to_sleep(path.now());
  uars.pages.look(100);
  store_two(uars, *entries, 1, [&] {
    BOOST_TEST(entries->seen == (std::vector{0, 1}), boost::test_tools::per_element());
  });
  uars.pages.detach(queue);
}

// Of an engine that is awake. A CQ's first requests are seen, and those after an event if the CQ wants that.
BOOST_AUTO_TEST_CASE(no_request_hides_another_while_the_engine_is_awake,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  const auto entries = std::make_shared<AskedLate>();
  CompletionQueue queue({.entries = entries, .channel = &uars.fabric.program0.channel.device_end()});
  DoorbellTurns turns;
  turns.add(uars.pages);
  uars.watch();
  uars.pages.attach(queue, 0);
  // Two requests, one behind the other. Returns those that the engine saw.
  const auto ask_twice = [&](int first) {
    entries->seen.clear();
    entries->request = 0;
    turns.look();
    store_two(uars, *entries, first, [] {});
    return std::count(entries->seen.begin(), entries->seen.end(), first) != 0;
  };
  const auto raise = [&] {
    entries->behind = true;
    uars.request(0);
    turns.look();
    BOOST_TEST(uars.fabric.program0.channel.read().has_value());
  };
  BOOST_TEST(ask_twice(1));
  BOOST_TEST(entries->may_hide);
  raise();
  BOOST_TEST(entries->may_hide);
  BOOST_TEST(!ask_twice(3));
  entries->wants_each = true;
  raise();
  BOOST_TEST(!entries->may_hide);
  BOOST_TEST(ask_twice(5));
  uars.pages.detach(queue);
}

// The engine has gone to sleep without it.
BOOST_AUTO_TEST_CASE(a_queue_pair_that_comes_to_a_sleeping_engine_wakes_it,
                     *boost::unit_test::precondition(may_watch)) {
  Uars uars(2);
  uars.attach({0}, 0);
  uars.watch();
  uars.fabric.engine.start();
  usleep(20'000);
  uars.attach({4}, 1);  // on the other page
  usleep(20'000);
  uars.post(1, 7);
  uars.store({4}, 1);
  while (!uars.senders[1]->send_cq.poll()) sched_yield();
  BOOST_TEST(uars.arrived(1) == 7u);
  uars.fabric.engine.stop();
  uars.detach({0}, 0);
  uars.detach({4}, 1);
}

// No register tells of a receive.
BOOST_AUTO_TEST_CASE(a_receive_posted_late_is_flushed, *boost::unit_test::precondition(may_watch)) {
  Uars uars;
  uars.attach({0}, 0);
  uars.watch();
  uars.fabric.engine.start();
  TestQp& qp = *uars.senders[0];
  uars.fabric.engine.execute(
      [&] { qp.device_end().modify(transport::QpState::error, qp.device_end().parameters(), std::nullopt); });
  usleep(20'000);
  const abi::ScatterGather into[] = {uars.fabric.program0.sge(0, 64)};
  qp.write_receive(into);
  qp.indices.receive_producer.store(qp.receive_producer, std::memory_order_release);
  std::optional<Polled> entry;
  while (!(entry = qp.receive_cq.poll())) sched_yield();
  BOOST_TEST(entry->status == 5);  // IBV_WC_WR_FLUSH_ERR
  uars.fabric.engine.stop();
  uars.detach({0}, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
