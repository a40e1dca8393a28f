// Errors that end a connection: the NAK, the completion or event, and what happens to the rest.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(refusals, ResponderBench)

BOOST_AUTO_TEST_CASE(an_opcode_out_of_sequence_is_an_invalid_request_and_a_request_error_event) {
  const Packet faults[] = {
      send(Operation::send_middle, 0, pattern(kMtu)), send(Operation::send_last, 0, pattern(1)),
      write(Operation::write_middle, 0, pattern(kMtu)), write(Operation::write_last, 0, pattern(1))};
  for (const Packet& fault : faults) {
    ResponderBench bench;
    bench.post();
    bench.ask(fault);
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_request_error);
    BOOST_CHECK_EQUAL(bench.receives.taken(), 0u);
    BOOST_CHECK_EQUAL(bench.counters.responder_invalid_requests, 1u);
    BOOST_CHECK(bench.shared.failed);
  }
}

// IBTA 9.7.4.1.4, 9.9.3 (class C): reserved opcodes, and FLUSH, which is not offered.
constexpr std::uint8_t kUnsupported[] = {0x15, 0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x1E, 0x1F};

Packet unsupported(std::uint8_t opcode, std::uint32_t offset) {
  return send(static_cast<Operation>(opcode), offset, pattern(16));
}

BOOST_AUTO_TEST_CASE(a_reserved_opcode_is_an_invalid_request_and_a_request_error_event) {
  for (const std::uint8_t opcode : kUnsupported) {
    ResponderBench bench;
    bench.post();
    bench.ask(write_only(0));
    bench.sent().clear();
    bench.ask(unsupported(opcode, 1));
    BOOST_CHECK(is_nak(bench.take(), psn(1), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_request_error);
    BOOST_CHECK_EQUAL(bench.receives.taken(), 0u);
    BOOST_CHECK_EQUAL(bench.counters.responder_invalid_requests, 1u);
    BOOST_CHECK(bench.shared.failed);
  }
}

BOOST_AUTO_TEST_CASE(a_reserved_opcode_within_a_message_completes_its_receive_in_error) {
  for (const std::uint8_t opcode : kUnsupported) {
    ResponderBench bench;
    bench.post();
    bench.ask(send(Operation::send_first, 0, pattern(kMtu)));
    bench.ask(unsupported(opcode, 1));
    BOOST_CHECK(is_nak(bench.take(), psn(1), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.completions.size(), 1u);
    BOOST_CHECK(bench.completion().status == WorkStatus::remote_invalid_request_error);
    BOOST_CHECK(bench.host.events.empty());
  }
}

// The PSN is looked at before the opcode (IBTA 9.7.4.1.2).
BOOST_AUTO_TEST_CASE(a_reserved_opcode_is_refused_when_its_turn_comes) {
  for (const RecoveryMode mode : {RecoveryMode::gbn, RecoveryMode::selective}) {
    for (const std::uint8_t opcode : kUnsupported) {
      ResponderBench bench(mode);
      bench.ask(write_only(0));
      bench.sent().clear();
      bench.ask(unsupported(opcode, 0));  // an old PSN: no such request was executed
      BOOST_CHECK(bench.sent().empty());
      bench.ask(unsupported(opcode, 2));
      BOOST_CHECK(is_nak(bench.take(), psn(1), NakCode::psn_sequence_error));
      BOOST_CHECK(!bench.shared.failed);
      bench.ask(write_only(1));
      if (mode == RecoveryMode::gbn) bench.ask(unsupported(opcode, 2));
      BOOST_CHECK(is_nak(bench.sent().back(), psn(2), NakCode::invalid_request));
      BOOST_CHECK(bench.shared.failed);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_message_cut_short_by_another_completes_its_receive_in_error) {
  const Packet next[] = {send_only(1),
                         write_only(1),
                         read(1, 1),
                         add(1, 1),
                         send(Operation::send_first, 1, pattern(kMtu)),
                         write(Operation::write_last, 1, pattern(1))};
  for (const Packet& packet : next) {
    ResponderBench bench;
    bench.post();
    bench.post();
    bench.ask(send(Operation::send_first, 0, pattern(kMtu)));
    bench.ask(packet);
    BOOST_CHECK(is_nak(bench.take(), psn(1), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.completions.size(), 1u);
    BOOST_CHECK(bench.completion().status == WorkStatus::remote_invalid_request_error);
    BOOST_CHECK_EQUAL(bench.receives.taken(), 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_message_of_another_kind_may_begin_when_one_has_ended) {
  post();
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(send(Operation::send_last, 1, pattern(1)));
  ask(write(Operation::write_first, 2, pattern(kMtu), kMtu + 1));
  ask(write(Operation::write_last, 3, pattern(1)));
  ask(read(4, 1));
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(operations_that_the_queue_pair_does_not_allow_are_invalid_requests) {
  const struct {
    Packet packet;
    bool QpAccess::*right;
  } operations[] = {{write_only(0), &QpAccess::remote_write},
                    {write_only(0, 0), &QpAccess::remote_write},
                    {read(0, 16), &QpAccess::remote_read},
                    {add(0, 1), &QpAccess::remote_atomic}};
  for (const auto& [packet, right] : operations) {
    ResponderBench bench;
    bench.shared.parameters.access.*right = false;
    bench.ask(packet);
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::invalid_request));
    BOOST_CHECK(bench.shared.failed);
    BOOST_CHECK(bench.host.writes.empty());
    BOOST_CHECK_EQUAL(bench.memory.word(kBase), 0u);

    ResponderBench only_this;
    only_this.shared.parameters.access = {};
    only_this.shared.parameters.access.*right = true;
    only_this.ask(packet);
    BOOST_CHECK(!only_this.shared.failed);
  }
}

BOOST_AUTO_TEST_CASE(payloads_of_the_wrong_length_are_invalid_requests) {
  const Packet faults[] = {send(Operation::send_first, 0, pattern(kMtu - 1)),
                           send(Operation::send_only, 0, pattern(kMtu + 1)),
                           write(Operation::write_first, 0, pattern(kMtu - 1), 2 * kMtu)};
  for (const Packet& fault : faults) {
    ResponderBench bench;
    bench.post();
    bench.ask(fault);
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_access_error);
    BOOST_CHECK(bench.host.writes.empty());
  }
}

BOOST_AUTO_TEST_CASE(an_empty_last_packet_is_an_invalid_request) {
  post();
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(send(Operation::send_last, 1));
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::invalid_request));
  BOOST_CHECK(completion().status == WorkStatus::remote_invalid_request_error);
}

BOOST_AUTO_TEST_CASE(a_message_longer_than_the_receive_is_a_local_length_error) {
  post(kMtu + 10);
  post();
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(send(Operation::send_last, 1, pattern(11)));
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::invalid_request));
  const Completion done = completion();
  BOOST_CHECK(done.status == WorkStatus::local_length_error);
  BOOST_CHECK_EQUAL(done.wqe_index, 0u);
  BOOST_CHECK(done.solicited);
  BOOST_CHECK(host.events.empty());
  BOOST_CHECK_EQUAL(host.writes.size(), 1u);
  BOOST_CHECK_EQUAL(counters.responder_local_length_errors, 1u);
  BOOST_CHECK_EQUAL(counters.responder_cqe_errors, 1u);
}

BOOST_AUTO_TEST_CASE(a_receive_whose_memory_is_not_allowed_is_a_local_protection_error) {
  for (const std::uint32_t key : {0xDEADu, kForeignKey, kReadOnlyKey}) {
    ResponderBench bench;
    bench.post(64, 0, key);
    bench.ask(send_only(0));
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::remote_operational_error));
    BOOST_CHECK(bench.completion().status == WorkStatus::local_protection_error);
    BOOST_CHECK(bench.host.events.empty());
    BOOST_CHECK_EQUAL(bench.counters.responder_operation_errors, 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_receive_that_makes_no_sense_is_a_local_operation_error) {
  receives.post({}, true);
  ask(send_only(0, 0));
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_operational_error));
  BOOST_CHECK(completion().status == WorkStatus::local_qp_operation_error);
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_CASE(earlier_reads_are_answered_before_the_nak_and_nothing_is_executed_any_more) {
  give(read(0, 3 * kMtu));
  give(write_only(3, 16, kBase, 0xDEAD));
  BOOST_CHECK(!shared.failed);  // not before the NAK has left
  give(write_only(4));
  give(write_only(3));
  give(write_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 4u);
  for (std::uint32_t i = 0; i < 3; ++i) BOOST_CHECK(sent()[i].headers.bth.psn == psn(i));
  BOOST_CHECK(is_nak(sent()[3], psn(3), NakCode::remote_access_error));
  BOOST_CHECK(host.writes.empty());
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_CASE(a_nak_that_ends_the_connection_replaces_what_was_owed) {
  give(write_only(0));
  give(write_only(1, 16, kBase, 0xDEAD));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_access_error));
}

BOOST_AUTO_TEST_CASE(flush_completes_every_receive_once_and_in_order) {
  for (std::uint32_t i = 0; i < 4; ++i) post();
  ask(send_only(0));
  ask(send(Operation::send_first, 1, pattern(kMtu)));
  host.completions.clear();
  shared.state = QpState::error;
  responder.flush();
  flush();
  BOOST_REQUIRE_EQUAL(host.completions.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_CHECK_EQUAL(host.completions[i].wqe_index, i + 1);
    BOOST_CHECK(host.completions[i].status == WorkStatus::flushed);
    BOOST_CHECK(host.completions[i].receive);
    BOOST_CHECK(host.completions[i].solicited);
  }
  post();
  responder.flush();
  flush();
  BOOST_REQUIRE_EQUAL(host.completions.size(), 4u);
  BOOST_CHECK_EQUAL(host.completions[3].wqe_index, 4u);
  BOOST_CHECK_EQUAL(counters.responder_flushed, 4u);
  BOOST_CHECK_EQUAL(receives.retired(), 5u);
}

BOOST_AUTO_TEST_CASE(flush_forgets_what_was_owed) {
  give(read(0, kMtu));
  give(write_only(1));
  shared.state = QpState::error;
  responder.flush();
  BOOST_CHECK(!responder.wants_pump());
}

BOOST_AUTO_TEST_SUITE_END()
