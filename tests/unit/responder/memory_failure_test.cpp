// Memory accesses that the host cannot carry out: it has discarded everything behind them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

namespace {

struct Expected {
  std::uint32_t index;
  WorkStatus status;
};

void check_completions(const RecordingHost& host, const std::vector<Expected>& expected) {
  BOOST_REQUIRE_EQUAL(host.completions.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    BOOST_CHECK_EQUAL(host.completions[i].wqe_index, expected[i].index);
    BOOST_CHECK_EQUAL(static_cast<int>(host.completions[i].status), static_cast<int>(expected[i].status));
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(memory_failures, ResponderBench)

BOOST_AUTO_TEST_CASE(a_sends_receive_completes_in_error_and_those_behind_it_are_flushed) {
  for (std::uint32_t i = 0; i < 4; ++i) post(64, 64 * i);
  memory.unmap(kBuffer + 64, 64);
  for (std::uint32_t i = 0; i < 3; ++i) give(send_only(i, 32));
  settle();
  check_completions(
      host, {{0, WorkStatus::success}, {1, WorkStatus::local_protection_error}, {2, WorkStatus::flushed}});
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_operational_error));
  BOOST_CHECK(shared.failed);
  BOOST_CHECK(host.events.empty());
  BOOST_CHECK_EQUAL(counters.responder_operation_errors, 1u);
}

BOOST_AUTO_TEST_CASE(a_message_under_way_is_completed_too) {
  post(0x1000, 0);
  memory.unmap(kBuffer + kMtu, 1);
  give(send(Operation::send_first, 0, pattern(kMtu)));
  give(send(Operation::send_middle, 1, pattern(kMtu)));
  give(send(Operation::send_middle, 2, pattern(kMtu)));
  settle();
  check_completions(host, {{0, WorkStatus::local_protection_error}});
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_operational_error));
  BOOST_CHECK_EQUAL(receives.retired(), 1u);
}

BOOST_AUTO_TEST_CASE(completions_behind_a_failed_write_are_made_again_as_flushed) {
  for (std::uint32_t i = 0; i < 3; ++i) post(64, 64 * i);
  memory.unmap(kBase, 16);
  give(send_only(0, 8));
  give(write_only(1, 16));
  give(send_only(2, 8));
  give(send_only(3, 8));
  settle();
  check_completions(host, {{0, WorkStatus::success}, {1, WorkStatus::flushed}, {2, WorkStatus::flushed}});
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_operational_error));
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::qp_access_error);
}

BOOST_AUTO_TEST_CASE(a_flush_that_was_discarded_is_made_again) {
  for (std::uint32_t i = 0; i < 3; ++i) post(64, 64 * i);
  memory.unmap(kBuffer, 64);
  give(send_only(0, 8));
  shared.state = QpState::error;
  responder.flush();
  flush();
  flush();
  check_completions(
      host, {{0, WorkStatus::local_protection_error}, {1, WorkStatus::flushed}, {2, WorkStatus::flushed}});
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_operational_error));
}

BOOST_AUTO_TEST_CASE(reads_before_the_failure_are_still_answered) {
  post();
  memory.unmap(kBuffer, 64);
  give(read(0, 3 * kMtu));
  give(send_only(3, 8));
  flush();  // the failure is known before any response is sent
  BOOST_CHECK(!shared.failed);
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 4u);
  BOOST_CHECK(operation_of(sent()[2]) == Operation::read_response_last);
  BOOST_CHECK(is_nak(sent()[3], psn(3), NakCode::remote_operational_error));
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_CASE(reads_behind_the_failure_are_not_answered) {
  memory.unmap(kBase, 16);
  give(write_only(0));
  give(read(1, kMtu, kBase + 0x1000));
  flush();
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_operational_error));
}

BOOST_AUTO_TEST_CASE(nothing_is_executed_after_a_failure) {
  memory.unmap(kBase, 16);
  ask(write_only(0));
  sent().clear();
  memory.map_everything();
  ask(write_only(0));
  ask(write_only(1));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK(host.writes.empty());
}

BOOST_AUTO_TEST_CASE(a_failure_from_before_a_reset_is_nobodys) {
  post();
  give(send_only(0));
  shared.state = QpState::reset;
  responder.reset();
  receives.clear();
  memory.unmap(kBuffer, 64);
  flush();
  flush();
  BOOST_CHECK(host.completions.empty());
  BOOST_CHECK(sent().empty());
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(a_failure_that_names_a_receive_never_taken_completes_none) {
  responder.memory_failed({.stream = Stream::responder, .psn = psn(0), .wqe_index = 5});
  flush();
  BOOST_CHECK(host.completions.empty());
}

BOOST_AUTO_TEST_CASE(reset_forgets_the_receive_under_way) {
  post();
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  responder.reset();
  receives.clear();
  responder.start();
  responder.flush();
  flush();
  BOOST_CHECK(host.completions.empty());
}

BOOST_AUTO_TEST_SUITE_END()
