// When an engine with sockets sleeps instead of yielding, and when it avoids a processor.
#define BOOST_TEST_DYN_LINK
#include "device_model/engine/loop/crowding.hpp"

#include <sched.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "device_model/engine/loop/processor_choice.hpp"

namespace urnic::test {
namespace {

using Advice = engine::Crowding::Advice;
using engine::Crowding;
using transport::Nanoseconds;
using transport::Time;

struct Windows {
  Crowding crowding;
  Time now{Nanoseconds{1'000'000'000}};
  engine::ProcessorShare share;

  Windows() { window(0, 0); }

  // A window in which the thread ran and waited for so many percent of the time.
  Advice window(int ran, int waited, bool chance = true, Nanoseconds length = Crowding::kWindow) {
    now += length;
    BOOST_REQUIRE(crowding.is_due(now));
    share.ran += length * ran / 100;
    share.waited += length * waited / 100;
    return crowding.judge(now, share, chance);
  }
  void yield(Nanoseconds length) {
    now += length;
    crowding.yielded(now - length, now);
  }
  // Windows as crowded as two engines on one processor see them, until the engine moves. Returns the time.
  Nanoseconds until_move() {
    const Time begin = now;
    while (window(50, 50) != Advice::avoid_this_processor)
      BOOST_REQUIRE(now - begin < Crowding::kLongestStay * 2);
    return now - begin;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(crowding, Windows)

BOOST_AUTO_TEST_CASE(among_pollers_one_long_yield_is_enough) {
  const auto yield_to_poller = [this](Nanoseconds length) {
    now += length;
    crowding.yielded_to_pollers(now - length, now);
  };
  yield_to_poller(Crowding::kYieldToPoller);
  BOOST_TEST(!crowding.sleeps(now));
  yield_to_poller(Crowding::kYieldToPoller + Nanoseconds{1});
  BOOST_TEST(crowding.sleeps(now + Crowding::kSleepPeriod - Nanoseconds{1}));
  BOOST_TEST(!crowding.sleeps(now + Crowding::kSleepPeriod));
}

BOOST_AUTO_TEST_CASE(where_long_yields_take_half_of_the_time_it_sleeps_for_a_while) {
  const Nanoseconds slice = Crowding::kWindow / 5;
  for (int i = 0; i < 2; ++i) {
    yield(slice);
    BOOST_TEST(!crowding.sleeps(now));
  }
  yield(slice);
  BOOST_TEST(crowding.sleeps(now + Crowding::kSleepPeriod - Nanoseconds{1}));
  BOOST_TEST(!crowding.sleeps(now + Crowding::kSleepPeriod));
}

// A thread that gives the processor back at once takes nothing that sleeping would give.
BOOST_AUTO_TEST_CASE(yields_as_long_as_another_engine_s_round_tell_nothing) {
  for (int i = 0; i < 1000; ++i) {
    yield(Crowding::kLongYield);
    BOOST_REQUIRE(!crowding.sleeps(now));
  }
}

BOOST_AUTO_TEST_CASE(long_yields_now_and_then_tell_nothing) {
  for (int i = 0; i < 100; ++i) {
    yield(Crowding::kWindow / 3);
    now += Crowding::kWindow * 2 / 3;
    yield(Nanoseconds{1'000});
    BOOST_REQUIRE(!crowding.sleeps(now));
  }
}

BOOST_AUTO_TEST_CASE(taking_turns_with_another_thread_it_avoids_the_processor_and_yields_again) {
  BOOST_TEST((window(50, 50) == Advice::nothing));
  yield(Crowding::kWindow);
  BOOST_TEST(crowding.sleeps(now));
  BOOST_TEST((window(50, 50) == Advice::avoid_this_processor));
  BOOST_TEST(!crowding.sleeps(now));
}

BOOST_AUTO_TEST_CASE(chance_keeps_two_engines_from_moving_together) {
  window(50, 50);
  BOOST_TEST((window(50, 50, false) == Advice::nothing));
  BOOST_TEST((window(50, 50, true) == Advice::avoid_this_processor));
}

BOOST_AUTO_TEST_CASE(a_processor_of_its_own_is_not_crowded) {
  for (int i = 0; i < 100; ++i) BOOST_TEST((window(100, 0) == Advice::nothing));
  for (int i = 0; i < 100; ++i) BOOST_TEST((window(85, 15) == Advice::nothing));
}

BOOST_AUTO_TEST_CASE(a_thread_that_mostly_sleeps_is_not_crowded) {
  for (int i = 0; i < 100; ++i) BOOST_TEST((window(10, 10) == Advice::nothing));
}

BOOST_AUTO_TEST_CASE(one_crowded_window_is_not_enough) {
  for (int i = 0; i < 100; ++i) {
    BOOST_TEST((window(50, 50) == Advice::nothing));
    BOOST_TEST((window(90, 10) == Advice::nothing));
  }
}

BOOST_AUTO_TEST_CASE(time_before_a_long_sleep_tells_nothing) {
  window(50, 50);
  BOOST_TEST((window(50, 50, true, 3 * Crowding::kWindow) == Advice::nothing));
  BOOST_TEST((window(50, 50) == Advice::nothing));
}

BOOST_AUTO_TEST_CASE(where_moves_do_not_help_they_become_rare) {
  until_move();
  Nanoseconds before = until_move();
  for (int i = 0; i < 8; ++i) {
    const Nanoseconds next = until_move();
    BOOST_TEST(next.count() >= before.count());
    before = next;
  }
  BOOST_TEST(before.count() >= Crowding::kLongestStay.count());
  window(100, 0);
  now += Crowding::kLongestStay;
  window(100, 0);
  BOOST_TEST(until_move().count() == 2 * Crowding::kWindow.count());
}

BOOST_AUTO_TEST_CASE(the_avoided_processor_is_allowed_again) {
  until_move();
  const Time moved = now;
  Advice advice = Advice::nothing;
  while (advice == Advice::nothing && now - moved < 2 * Crowding::kAvoided) advice = window(100, 0);
  BOOST_TEST((advice == Advice::avoid_none));
  BOOST_TEST((now - moved).count() == Crowding::kAvoided.count());
  BOOST_TEST((window(100, 0) == Advice::nothing));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(processor_share)

BOOST_AUTO_TEST_CASE(the_kernel_tells_how_long_the_thread_ran) {
  const engine::ProcessorShareReader reader;
  const auto before = reader.read();
  if (!before) {
    BOOST_TEST_MESSAGE("this kernel does not tell (CONFIG_SCHED_INFO)");
    return;
  }
  auto after = before;
  for (int i = 0; i < 10'000'000 && after->ran == before->ran; ++i) after = reader.read();
  BOOST_TEST(after->ran.count() > before->ran.count());
  BOOST_TEST(after->waited.count() >= before->waited.count());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(processor_choice)

BOOST_AUTO_TEST_CASE(a_thread_leaves_its_processor_and_may_come_back) {
  std::thread([] {
    cpu_set_t before;
    BOOST_REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    engine::ProcessorChoice choice;
    const int here = sched_getcpu();
    choice.avoid_this();
    cpu_set_t now;
    sched_getaffinity(0, sizeof now, &now);
    BOOST_TEST(CPU_COUNT(&now) == std::max(1, CPU_COUNT(&before) - 1));
    if (CPU_COUNT(&before) > 1) BOOST_TEST((sched_getcpu() != here || !CPU_ISSET(here, &now)));
    choice.avoid_none();
    sched_getaffinity(0, sizeof now, &now);
    BOOST_TEST(CPU_EQUAL(&now, &before));
  }).join();
}

// With two processors, those that are left look like those that somebody else has chosen.
BOOST_AUTO_TEST_CASE(what_somebody_else_has_chosen_meanwhile_stays) {
  std::thread([] {
    cpu_set_t before;
    BOOST_REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    if (CPU_COUNT(&before) < 3) {
      BOOST_TEST_MESSAGE("there are no three processors");
      return;
    }
    engine::ProcessorChoice choice;
    choice.avoid_this();
    cpu_set_t theirs;
    CPU_ZERO(&theirs);
    CPU_SET(sched_getcpu(), &theirs);
    BOOST_REQUIRE(sched_setaffinity(0, sizeof theirs, &theirs) == 0);
    choice.avoid_none();
    cpu_set_t now;
    BOOST_REQUIRE(sched_getaffinity(0, sizeof now, &now) == 0);
    BOOST_TEST(CPU_EQUAL(&now, &theirs));
  }).join();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
