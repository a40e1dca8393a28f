// UAR pages: a store into a register makes the engine look, also while it sleeps.
#include <optional>
#include <thread>

#include "tests/unit/engine/uars.hpp"

namespace urnic::engine::test {

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
    const UarRegister on = uars.pages.least_used(kUarPages);
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
    for (std::uint32_t page = 0; page < kUarPages; ++page) uars.pages.hold(page, child);
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
