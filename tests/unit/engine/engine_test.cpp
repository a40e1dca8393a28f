// The engine with its thread: tasks, sleep and wake-up, doorbells from other threads.
#include "device_model/engine/engine.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace {

// The provider's view of the status page.
class StatusPage {
 public:
  explicit StatusPage(const Engine& engine)
      : page_(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, engine.status_descriptor(), 0)) {
    BOOST_REQUIRE(page_ != MAP_FAILED);
  }
  ~StatusPage() { munmap(page_, 4096); }
  const abi::EngineStatus& status() const { return *static_cast<const abi::EngineStatus*>(page_); }
  void wait_until_asleep() const {
    while (status().sleeping.load() == 0) sched_yield();
  }

 private:
  void* page_;
};

void ring(TestQp& qp, Program& program, const StatusPage& page) {
  qp.ring();
  if (!abi::must_wake(page.status())) return;
  const std::uint64_t one = 1;
  BOOST_REQUIRE(write(program.wake.get(), &one, sizeof one) == sizeof one);
}

// An uplink to which frames come from outside of the process; here they are only counted.
class Outside final : public link::Uplink {
 public:
  void bring_frame() {
    waiting_.store(1);
    const std::uint64_t one = 1;
    BOOST_REQUIRE(write(wake_.get(), &one, sizeof one) == sizeof one);
  }
  int delivered() const { return delivered_.load(); }

  link::Port& attach(const wire::MacAddress&, link::FrameReceiver&, std::string_view) override {
    throw std::logic_error("no device is attached");
  }
  link::Load deliver_due(transport::Time, const link::Load&) override {
    const auto frames = static_cast<std::uint32_t>(waiting_.exchange(0));
    delivered_.fetch_add(static_cast<int>(frames));
    return {frames, 0};
  }
  void release() override {}
  bool owes_release() const override { return false; }
  std::optional<transport::Time> next_due() const override { return {}; }
  bool overdue(transport::Time) const override { return false; }
  std::uint32_t count() const override { return 0; }
  bool takes_time() const override { return false; }
  int wake_descriptor() const { return wake_.get(); }

 private:
  memory::Descriptor wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<int> waiting_{0};
  std::atomic<int> delivered_{0};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(engine_thread)

BOOST_AUTO_TEST_CASE(tasks_run_in_order_and_beside_an_engine_that_rests) {
  Engine engine({});
  const StatusPage page(engine);
  std::thread::id ran_on;
  engine.execute([&] { ran_on = std::this_thread::get_id(); });
  BOOST_TEST((ran_on == std::this_thread::get_id()));  // not started
  engine.start();
  page.wait_until_asleep();
  // It says that it sleeps shortly before it does.
  for (int i = 0; i < 10'000 && ran_on != std::this_thread::get_id(); ++i)
    engine.execute([&] { ran_on = std::this_thread::get_id(); });
  BOOST_TEST((ran_on == std::this_thread::get_id()));
  int order = 0;
  for (int i = 0; i < 100; ++i) engine.execute([&, i] { order = order == i ? i + 1 : -1; });
  BOOST_TEST(order == 100);
  engine.stop();
  engine.execute([&] { ran_on = std::this_thread::get_id(); });
  BOOST_TEST((ran_on == std::this_thread::get_id()));
}

BOOST_AUTO_TEST_CASE(an_exception_comes_back_to_who_asked) {
  Engine engine({});
  engine.start();
  BOOST_CHECK_THROW(engine.execute([] { throw std::runtime_error("no"); }), std::runtime_error);
  bool ran = false;
  engine.execute([&] { ran = true; });
  BOOST_TEST(ran);
}

BOOST_AUTO_TEST_CASE(an_engine_at_work_is_waited_for) {
  Engine engine({.idle_spin = transport::Nanoseconds(0)});
  engine.start();
  std::atomic<bool> holds{false};
  std::atomic<bool> go_on{false};
  std::thread holder([&] {
    engine.execute([&] {
      holds = true;
      while (!go_on) sched_yield();
    });
  });
  while (!holds) sched_yield();
  BOOST_TEST(engine.has_to_move());
  std::atomic<bool> ran{false};
  std::thread other([&] { engine.execute([&] { ran = true; }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  BOOST_TEST(!ran);
  go_on = true;
  holder.join();
  other.join();
  BOOST_TEST(ran);
}

// A program rings, sends a request to the control thread, and wakes the engine only now.
BOOST_AUTO_TEST_CASE(doorbells_that_rang_are_looked_at_between_two_tasks) {
  Fabric fabric;
  TestQp qp0(fabric.program0, 0, {});
  TestQp qp1(fabric.program1, 1, {});
  Fabric::connect(qp0, qp1);
  const StatusPage page(fabric.engine);
  fabric.engine.start();
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = fabric.program1.address(0);
  head.rkey = fabric.program1.key.value;
  for (int i = 0; i < 200; ++i) {
    page.wait_until_asleep();
    const std::uint64_t before = fabric.device0.port_counters().transmitted_packets;
    qp0.post_inline(head, std::as_bytes(std::span(&i, 1)));
    fabric.engine.execute([] {});
    std::uint64_t after = before;
    fabric.engine.execute([&] { after = fabric.device0.port_counters().transmitted_packets; });
    BOOST_REQUIRE(after > before);
    while (!qp0.send_cq.poll()) sched_yield();
  }
  fabric.engine.stop();
}

// A queue pair in error flushes what is posted: completions, but no access to the program's memory.
BOOST_AUTO_TEST_CASE(a_task_beside_an_engine_that_rests_is_carried_out_to_its_end) {
  Fabric fabric;
  TestQp qp0(fabric.program0, 0, {});
  TestQp qp1(fabric.program1, 1, {});
  Fabric::connect(qp0, qp1);
  const StatusPage page(fabric.engine);
  fabric.engine.start();
  page.wait_until_asleep();
  const abi::ScatterGather to[] = {fabric.program0.sge(0, 64)};
  qp0.post_receive(to);
  fabric.engine.execute([&] { qp0.device_end().modify(transport::QpState::error, {}, std::nullopt); });
  BOOST_TEST(qp0.receive_cq.poll().has_value());
  fabric.engine.stop();
}

// Nobody rings for it.
BOOST_AUTO_TEST_CASE(what_a_task_gives_a_queue_pair_to_do_wakes_the_engine) {
  Fabric fabric;
  TestQp qp0(fabric.program0, 0, {});
  TestQp qp1(fabric.program1, 1, {});
  Fabric::connect(qp0, qp1);
  const StatusPage page(fabric.engine);
  fabric.engine.start();
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = fabric.program1.address(0);
  head.rkey = fabric.program1.key.value;
  head.sge_count = 1;
  const abi::ScatterGather from[] = {fabric.program0.sge(0, 64)};
  for (int i = 0; i < 100; ++i) {
    page.wait_until_asleep();
    qp0.write_send(head, std::as_bytes(std::span(from)));
    qp0.indices.send_producer.store(qp0.send_producer, std::memory_order_release);
    fabric.engine.execute([&] { qp0.device_end().doorbell(); });
    while (!qp0.send_cq.poll()) sched_yield();
  }
  fabric.engine.stop();
}

// The engine sleeps without an end before.
BOOST_AUTO_TEST_CASE(a_timer_that_a_task_sets_wakes_the_engine) {
  Fabric fabric;
  TestQp qp(fabric.program0, 0, {});
  const StatusPage page(fabric.engine);
  fabric.engine.start();
  page.wait_until_asleep();
  Timers& timers = fabric.engine.data_path().timers();
  TimerId timer{};
  fabric.engine.execute([&] {
    timer = timers.add(qp.device_end());
    timers.set(timer, fabric.engine.now() + transport::Nanoseconds(1'000'000));
  });
  for (std::uint32_t armed = 1; armed != 0;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fabric.engine.execute([&] { armed = timers.armed(); });
  }
  fabric.engine.execute([&] { timers.remove(timer); });
  fabric.engine.stop();
}

BOOST_AUTO_TEST_CASE(tasks_of_many_threads_wake_a_sleeping_engine) {
  Engine engine({.idle_spin = transport::Nanoseconds(0)});
  engine.start();
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) engine.execute([&] { ++count; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(count == 8000);
}

BOOST_AUTO_TEST_CASE(a_frame_from_outside_wakes_a_sleeping_engine) {
  Outside outside;
  Engine engine({.idle_spin = transport::Nanoseconds(0)});
  engine.add_uplink(outside);
  engine.wake_on(outside.wake_descriptor());
  const StatusPage page(engine);
  engine.start();
  for (int i = 1; i <= 100; ++i) {
    page.wait_until_asleep();
    outside.bring_frame();
    while (outside.delivered() < i) sched_yield();
  }
  engine.stop();
  BOOST_TEST(outside.delivered() == 100);
}

BOOST_AUTO_TEST_CASE(status_page_can_only_be_read) {
  Engine engine({});
  const int fd = engine.status_descriptor();
  BOOST_TEST(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  const memory::Descriptor again(open(self.c_str(), O_RDWR));
  if (again) {
    BOOST_TEST(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again.get(), 0) == MAP_FAILED);
    BOOST_TEST(write(again.get(), "x", 1) == -1);
    BOOST_TEST(ftruncate(again.get(), 0) == -1);
  }
  BOOST_TEST(mprotect(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0), 4096, PROT_READ | PROT_WRITE) == -1);
}

BOOST_AUTO_TEST_CASE(sleeps_and_uses_no_processor_time_when_nothing_happens) {
  Engine engine({});
  engine.start();
  const StatusPage page(engine);
  page.wait_until_asleep();
  const auto before = engine.processor_time();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto used = engine.processor_time() - before;
  BOOST_TEST(used.count() < 1'000'000);  // of 200 ms: one look before it slept at most
  BOOST_TEST(engine.processor_time().count() > 0);
}

// Every round catches the engine somewhere on its way to sleep. A wake-up that is lost hangs the test.
BOOST_AUTO_TEST_CASE(no_wake_up_is_lost) {
  Fabric fabric;
  TestQp qp0(fabric.program0, 0, {});
  TestQp qp1(fabric.program1, 1, {});
  Fabric::connect(qp0, qp1);
  const StatusPage page(fabric.engine);
  fabric.engine.start();
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.flags |= abi::send_inline;
  head.inline_length = 8;
  head.remote_address = fabric.program1.address(0);
  head.rkey = fabric.program1.key.value;
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    if (i % 16 == 0) page.wait_until_asleep();
    for (std::uint64_t pause = 0; pause < i * 7 % 200; ++pause) sched_yield();
    qp0.write_send(head, std::as_bytes(std::span(&i, 1)));
    ring(qp0, fabric.program0, page);
    std::optional<Polled> entry;
    while (!(entry = qp0.send_cq.poll())) sched_yield();
    BOOST_REQUIRE(entry->status == 0);
    std::uint64_t seen = 0;
    std::memcpy(&seen, fabric.program1.bytes.data(), 8);
    BOOST_REQUIRE(seen == i);
  }
  fabric.engine.stop();
}

// An event asked for while completions come in: asleep on the channel until one is there.
BOOST_AUTO_TEST_CASE(no_event_is_lost) {
  Fabric fabric;
  TestQp qp0(fabric.program0, 0, {});
  TestQp qp1(fabric.program1, 1, {});
  Fabric::connect(qp0, qp1);
  const StatusPage page(fabric.engine);
  fabric.engine.start();
  const int flags = fcntl(fabric.program0.channel.read_descriptor(), F_GETFL);
  fcntl(fabric.program0.channel.read_descriptor(), F_SETFL, flags & ~O_NONBLOCK);
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = fabric.program1.address(0);
  head.rkey = fabric.program1.key.value;
  const abi::ScatterGather from[] = {fabric.program0.sge(0, 64)};
  std::uint32_t done = 0;
  std::uint32_t posted = 0;
  while (done < 5000) {
    while (posted - done < 1 + done % 4) {
      qp0.post_send(head, from);
      ring(qp0, fabric.program0, page);
      ++posted;
    }
    qp0.send_cq.arm(abi::ArmKind::next);
    std::uint32_t found = 0;
    while (qp0.send_cq.poll()) ++found;
    if (found == 0) BOOST_REQUIRE(fabric.program0.channel.read().has_value());
    done += found;
  }
  fabric.engine.stop();
}

struct RungTarget final : DoorbellTarget {
  void doorbell() override {}
};

// Posters on several threads against `collect` on this one: no bit is lost, none comes up twice.
BOOST_AUTO_TEST_CASE(doorbells_rung_by_many_threads) {
  abi::Doorbells doorbells{};
  DoorbellSet set(doorbells, -1);
  constexpr std::uint32_t kThreads = 3;
  constexpr std::uint32_t kRings = 20'000;
  const std::uint32_t numbers[kThreads] = {1, 63, 64 * 64 + 5};
  std::array<RungTarget, kThreads> targets;
  for (std::uint32_t t = 0; t < kThreads; ++t) set.attach(numbers[t], targets[t]);
  std::atomic<std::uint32_t> collected{0};
  std::atomic<std::uint32_t> finished{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < kRings; ++i) {
        const std::uint32_t before = collected.load();
        doorbells.ring(numbers[t]);
        // Each ring must be followed by a collected doorbell of its own or somebody else's.
        if (i % 8 == 0) {
          while (collected.load() == before) sched_yield();
        }
      }
      finished.fetch_add(1);
    });
  }
  while (finished.load() < kThreads) {
    const std::uint32_t rung = set.collect();
    collected.fetch_add(rung);
    if (rung == 0) sched_yield();
  }
  for (std::thread& thread : threads) thread.join();
  set.collect();
  for (const auto& word : doorbells.bits) BOOST_TEST(word.load() == 0u);
  for (const auto& word : doorbells.summary) BOOST_TEST(word.load() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
