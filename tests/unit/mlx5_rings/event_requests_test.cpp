// Requests for events, as libmlx5 writes them into the doorbell record.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/mlx5_rings/completion_ends.hpp"

namespace urnic::engine::mlx5::test {

using abi::ArmKind;

BOOST_AUTO_TEST_SUITE(requests_for_events)

BOOST_AUTO_TEST_CASE(there_is_none_before_the_program_makes_one) {
  CompletionEnds ends;
  BOOST_TEST((ends.device.armed() == ArmKind::none));
  ends.write(0, true);
  BOOST_TEST(!ends.device.is_behind());
  ends.program.arm(true);
  BOOST_TEST((ends.device.armed() == ArmKind::solicited));
  ends.program.arm();
  BOOST_TEST((ends.device.armed() == ArmKind::next));
}

// IBTA 11.4.2.2. The device has read the first request before the program makes the second.
BOOST_AUTO_TEST_CASE(a_request_for_any_completion_is_not_weakened) {
  for (const bool by_look : {false, true}) {
    CompletionEnds ends;
    ends.program.arm();
    if (by_look) {
      BOOST_TEST(!ends.device.is_behind());
    } else {
      ends.device.armed();
    }
    ends.program.arm(true);
    BOOST_TEST((ends.device.armed() == ArmKind::next));
    ends.write(0);
    BOOST_TEST(ends.device.is_behind());
    ends.device.fired();
    BOOST_TEST((ends.device.armed() == ArmKind::none));
  }
}

// Also when the numbers begin again.
BOOST_AUTO_TEST_CASE(an_answered_request_strengthens_no_later_one) {
  CompletionEnds ends;
  ends.program.arm();
  ends.device.armed();
  ends.device.fired();
  for (int i = 0; i < 9; ++i) {
    ends.program.got_event();
    ends.program.arm(true);
    BOOST_TEST((ends.device.armed() == ArmKind::solicited));
    ends.device.fired();
  }
}

// IBTA 11.4.2.2. The record has the second request alone.
BOOST_AUTO_TEST_CASE(a_request_that_may_be_hidden_counts_as_made) {
  CompletionEnds ends;
  ends.device.requests_may_hide(true);
  ends.program.arm();
  ends.program.arm(true);
  ends.write(0);
  BOOST_TEST(ends.device.is_behind());
  BOOST_TEST((ends.device.armed() == ArmKind::next));
  BOOST_TEST(ends.device.wants_each_request());
}

BOOST_AUTO_TEST_CASE(a_request_that_was_seen_in_time_hides_none_later) {
  CompletionEnds ends;
  ends.program.arm(true);
  BOOST_TEST((ends.device.armed() == ArmKind::solicited));
  ends.device.requests_may_hide(true);
  BOOST_TEST((ends.device.armed() == ArmKind::solicited));
  ends.device.fired();
  ends.program.got_event();
  ends.program.arm(true);
  BOOST_TEST((ends.device.armed() == ArmKind::next));
}

BOOST_AUTO_TEST_CASE(a_program_that_wants_any_completion_is_not_kept_waiting) {
  CompletionEnds ends;
  BOOST_TEST(!ends.device.wants_each_request());
  ends.program.arm();
  ends.device.armed();
  BOOST_TEST(!ends.device.wants_each_request());
  ends.device.fired();
  ends.program.got_event();
  ends.program.arm(true);
  ends.device.armed();
  BOOST_TEST(ends.device.wants_each_request());
}

// libmlx5 numbers its requests by the events that it has read, modulo 4.
BOOST_AUTO_TEST_CASE(each_event_answers_one_request) {
  CompletionEnds ends;
  for (int i = 0; i < 10; ++i) {
    ends.program.arm();
    BOOST_TEST((ends.device.armed() == ArmKind::next));
    ends.device.fired();
    BOOST_TEST((ends.device.armed() == ArmKind::none));
    // Before the program reads the event, it asks once more: the event is on its way.
    ends.write(0);
    ends.poll();
    ends.program.arm();
    BOOST_TEST((ends.device.armed() == ArmKind::none));
    BOOST_TEST(!ends.device.is_behind());
    ends.program.got_event();
  }
}

BOOST_AUTO_TEST_CASE(a_request_at_the_moment_of_the_event_stays) {
  CompletionEnds ends;
  ends.program.arm();
  BOOST_TEST((ends.device.armed() == ArmKind::next));
  ends.program.got_event();
  ends.program.arm();
  ends.device.fired();
  BOOST_TEST((ends.device.armed() == ArmKind::next));
}

BOOST_AUTO_TEST_CASE(an_event_without_a_request_answers_none_of_any_number) {
  CompletionEnds ends;
  for (int i = 0; i < 4; ++i) {
    ends.device.armed();
    ends.device.fired();
    ends.program.arm();
    BOOST_TEST((ends.device.armed() == ArmKind::next));
    ends.device.fired();
    ends.program.got_event();
  }
}

BOOST_AUTO_TEST_CASE(a_program_is_behind_if_it_asks_late) {
  CompletionEnds ends;
  ends.write(0);
  ends.program.arm();
  BOOST_TEST(ends.device.is_behind());
  ends.poll();
  ends.program.arm();
  BOOST_TEST(!ends.device.is_behind());
  ends.write(1);
  BOOST_TEST(ends.device.is_behind());
}

// As perftest does: it asks for the next event before it reads what the last one was for.
BOOST_AUTO_TEST_CASE(what_had_an_event_makes_none_again) {
  CompletionEnds ends;
  for (std::uint32_t i = 0; i < 20; ++i) {
    ends.program.arm();
    ends.write(2 * i);
    ends.device.armed();
    ends.device.fired();
    ends.program.got_event();
    ends.program.arm();
    BOOST_TEST(!ends.device.is_behind());
    ends.write(2 * i + 1);
    BOOST_TEST(ends.device.is_behind());
    ends.poll();
    ends.poll();
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_wants_solicited_ones_is_behind_those_alone) {
  CompletionEnds ends(4);
  for (std::uint32_t i = 0; i < 20; ++i) {
    ends.write(2 * i);
    ends.program.arm(true);
    BOOST_TEST(!ends.device.is_behind());
    ends.write(2 * i + 1, true);
    BOOST_TEST(ends.device.is_behind());
    ends.poll();
    ends.program.arm(true);
    BOOST_TEST(ends.device.is_behind());
    ends.poll();
    ends.program.arm(true);
    BOOST_TEST(!ends.device.is_behind());
  }
}

BOOST_AUTO_TEST_CASE(a_request_from_nowhere_is_not_behind) {
  CompletionEnds ends;
  ends.write(0);
  ends.program.doorbells.request.store(0x00FFFF00, std::memory_order_relaxed);
  BOOST_TEST(!ends.device.is_behind());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::mlx5::test
