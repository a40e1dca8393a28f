// What each state of a queue pair lets in and sends, flush, drain, reset.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/unit/queue_pair/side.hpp"
#include "wire/aeth.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace states {

constexpr wire::Qpn kQpn{0x11};
constexpr std::uint32_t kPsn = 500;

struct StateBench : Side {
  StateBench() : Side(kQpn) {}

  static QpParameters parameters() {
    QpParameters made;
    made.access = {true, true, true};
    made.path_mtu = 256;
    made.destination = wire::Qpn{0x22};
    made.receive_psn = wire::Psn(kPsn);
    made.send_psn = wire::Psn(kPsn);
    made.max_destination_reads = 4;
    made.max_reads = 4;
    made.timeout = 10;
    made.retry_count = 3;
    made.rnr_retry = 7;
    return made;
  }

  void to(QpState state, bool notify = false) { qp.modify(state, parameters(), Time{}, notify); }

  // By way of all states before it.
  void bring(QpState state) {
    to(QpState::init);
    if (state == QpState::init) return;
    if (state == QpState::error) return to(state);
    to(QpState::rtr);
    if (state == QpState::rtr) return;
    to(QpState::rts);
    if (state != QpState::rts) to(state);
  }

  bool takes_requests(std::uint32_t offset = 0) {
    host.sent.clear();
    Packet packet = write_request(Operation::write_only, kPsn + offset, kBase, kKey, 4, pattern(4));
    packet.headers.bth.ack_request = true;
    ask(packet);
    return !host.sent.empty();
  }

  std::vector<std::pair<std::uint32_t, WorkStatus>> completed(bool receive) const {
    std::vector<std::pair<std::uint32_t, WorkStatus>> found;
    for (const Completion& one : host.completions) {
      if (one.receive == receive) found.emplace_back(one.wqe_index, one.status);
    }
    return found;
  }
};

using Completed = std::vector<std::pair<std::uint32_t, WorkStatus>>;
constexpr auto kFlushed = WorkStatus::flushed;

}  // namespace states

BOOST_FIXTURE_TEST_SUITE(states, StateBench)

BOOST_AUTO_TEST_CASE(requests_are_taken_in_rtr_rts_and_sqd_only) {
  for (const QpState state : {QpState::rtr, QpState::rts, QpState::sqd}) {
    StateBench bench;
    bench.bring(state);
    BOOST_CHECK(bench.takes_requests());
  }
  BOOST_CHECK(!StateBench().takes_requests());
  for (const QpState state : {QpState::init, QpState::error}) {
    StateBench bench;
    bench.bring(state);
    BOOST_CHECK(!bench.takes_requests());
    BOOST_CHECK(bench.host.completions.empty());
    BOOST_CHECK(bench.host.writes.empty());
  }
}

BOOST_AUTO_TEST_CASE(requests_are_sent_in_rts_only) {
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts, QpState::sqd}) {
    StateBench bench;
    bench.bring(state);
    bench.post_send(WorkOpcode::rdma_write);
    bench.qp.doorbell();
    bench.run();
    BOOST_CHECK_EQUAL(bench.host.sent.size(), state == QpState::rts ? 1u : 0u);
  }
}

BOOST_AUTO_TEST_CASE(responses_are_taken_in_rts_and_sqd_only) {
  for (const QpState state : {QpState::rts, QpState::sqd}) {
    StateBench bench;
    bench.bring(QpState::rts);
    bench.post_send(WorkOpcode::rdma_write);
    bench.qp.doorbell();
    bench.run();
    if (state != QpState::rts) bench.to(state);
    bench.ask(ack(kPsn));
    BOOST_CHECK((bench.completed(false) == Completed{{0, WorkStatus::success}}));
  }
  bring(QpState::rtr);
  ask(ack(kPsn));
  BOOST_CHECK(host.completions.empty());
  BOOST_CHECK(host.events.empty());
}

BOOST_AUTO_TEST_CASE(packets_of_another_service_or_partition_are_dropped) {
  bring(QpState::rts);
  Packet packet = write_request(Operation::write_only, kPsn, kBase, kKey, 4, pattern(4));
  packet.headers.bth.ack_request = true;
  const Packet good = packet;

  packet.headers.bth.opcode = wire::Opcode(wire::Service::uc, Operation::write_only);
  ask(packet);
  packet.headers.bth.opcode = wire::kCongestionNotification;
  ask(packet);
  for (const int reserved : {0x15, 0x1F}) {
    for (const int service : {0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0}) {
      packet.headers.bth.opcode = wire::Opcode(static_cast<std::uint8_t>(service | reserved));
      ask(packet);
    }
  }
  packet = good;
  packet.headers.bth.pkey = wire::Pkey{0xFFFE};
  ask(packet);
  packet.headers.bth.pkey = wire::Pkey{0x8000};
  ask(packet);
  BOOST_CHECK(host.sent.empty());
  BOOST_CHECK(host.writes.empty());
  ask(good);
  BOOST_CHECK_EQUAL(host.sent.size(), 1u);
}

// IBTA 9.7.4.1.4: with the upper three bits of this QP's service, it is for its responder.
BOOST_AUTO_TEST_CASE(a_reserved_opcode_of_the_service_is_refused_and_the_state_is_error) {
  bring(QpState::rts);
  Packet packet = rc_packet(Operation::send_only, kPsn, pattern(4));
  packet.headers.bth.opcode = wire::Opcode(0x1F);
  ask(packet);
  BOOST_REQUIRE_EQUAL(host.sent.size(), 1u);
  BOOST_CHECK(host.sent[0].headers.aeth.syndrome == wire::nak_syndrome(wire::NakCode::invalid_request));
  BOOST_CHECK(qp.state() == QpState::error);
}

BOOST_AUTO_TEST_CASE(a_reserved_opcode_is_dropped_where_no_requests_are_taken) {
  for (const QpState state : {QpState::reset, QpState::init, QpState::error}) {
    StateBench bench;
    bench.bring(state);
    Packet packet = rc_packet(Operation::send_only, kPsn, pattern(4));
    packet.headers.bth.opcode = wire::Opcode(0x15);
    bench.ask(packet);
    BOOST_CHECK(bench.host.sent.empty());
    BOOST_CHECK(bench.host.events.empty());
  }
}

BOOST_AUTO_TEST_CASE(two_limited_members_of_a_partition_do_not_talk) {
  struct {
    std::uint16_t mine;
    std::uint16_t theirs;
    bool match;
  } const rows[] = {{0x8001, 0x8001, true},  {0x8001, 0x0001, true},  {0x0001, 0x8001, true},
                    {0x0001, 0x0001, false}, {0x8001, 0x8002, false}, {0x8000, 0x8000, false}};
  for (const auto& row : rows) {
    StateBench bench;
    QpParameters parameters = StateBench::parameters();
    parameters.pkey = wire::Pkey{row.mine};
    for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
      bench.qp.modify(state, parameters, Time{});
    }
    Packet packet = write_request(Operation::write_only, kPsn, kBase, kKey, 4, pattern(4));
    packet.headers.bth.pkey = wire::Pkey{row.theirs};
    packet.headers.bth.ack_request = true;
    bench.ask(packet);
    BOOST_CHECK_EQUAL(!bench.host.sent.empty(), row.match);
  }
}

BOOST_AUTO_TEST_CASE(communication_established_is_raised_once_and_in_rtr_only) {
  bring(QpState::rtr);
  BOOST_CHECK(host.events.empty());
  BOOST_CHECK(takes_requests(0));
  BOOST_CHECK(takes_requests(1));
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::communication_established);
  StateBench in_rts;
  in_rts.bring(QpState::rts);
  BOOST_CHECK(in_rts.takes_requests());
  BOOST_CHECK(in_rts.host.events.empty());
}

BOOST_AUTO_TEST_CASE(communication_established_is_raised_again_after_reset) {
  bring(QpState::rtr);
  takes_requests();
  to(QpState::reset);
  bring(QpState::rtr);
  takes_requests();
  BOOST_CHECK_EQUAL(host.events.size(), 2u);
}

BOOST_AUTO_TEST_CASE(error_flushes_both_queues_once_and_in_order) {
  bring(QpState::rts);
  for (int i = 0; i < 3; ++i) {
    post_receive();
    post_send(WorkOpcode::rdma_write);
  }
  qp.doorbell();
  run();
  to(QpState::error);
  to(QpState::error);
  qp.doorbell();
  run();
  const Completed all{{0, kFlushed}, {1, kFlushed}, {2, kFlushed}};
  BOOST_CHECK(completed(false) == all);
  BOOST_CHECK(completed(true) == all);
  BOOST_CHECK(qp.state() == QpState::error);
  BOOST_CHECK(host.events.empty());
}

BOOST_AUTO_TEST_CASE(what_is_posted_in_the_error_state_is_flushed_by_the_doorbell) {
  bring(QpState::rts);
  to(QpState::error);
  post_send(WorkOpcode::send);
  post_receive();
  qp.doorbell();
  run();
  qp.doorbell();
  run();
  BOOST_CHECK((completed(false) == Completed{{0, kFlushed}}));
  BOOST_CHECK((completed(true) == Completed{{0, kFlushed}}));
}

BOOST_AUTO_TEST_CASE(receives_posted_in_init_are_flushed_too) {
  bring(QpState::init);
  post_receive();
  to(QpState::error);
  run();
  BOOST_CHECK((completed(true) == Completed{{0, kFlushed}}));
}

BOOST_AUTO_TEST_CASE(an_error_of_the_responder_flushes_the_requester_and_back) {
  bring(QpState::rts);
  post_send(WorkOpcode::rdma_write);
  post_receive(4);
  post_receive(4);
  qp.doorbell();
  run();
  ask(rc_packet(Operation::send_only, kPsn, pattern(16)));
  BOOST_CHECK(qp.state() == QpState::error);
  BOOST_CHECK((completed(false) == Completed{{0, kFlushed}}));
  BOOST_CHECK((completed(true) == Completed{{0, WorkStatus::local_length_error}, {1, kFlushed}}));

  StateBench other;
  other.bring(QpState::rts);
  other.post_receive();
  other.post_send(WorkOpcode::rdma_write);
  other.post_send(WorkOpcode::rdma_write);
  other.qp.doorbell();
  other.run();
  other.ask(nak(kPsn, wire::NakCode::remote_access_error));
  BOOST_CHECK(other.qp.state() == QpState::error);
  BOOST_CHECK((other.completed(false) == Completed{{0, WorkStatus::remote_access_error}, {1, kFlushed}}));
  BOOST_CHECK((other.completed(true) == Completed{{0, kFlushed}}));
  BOOST_CHECK(other.host.events.empty());
}

BOOST_AUTO_TEST_CASE(the_error_state_neither_sends_nor_waits) {
  bring(QpState::rts);
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  BOOST_CHECK(qp.deadline().has_value());
  give(read_request(kPsn, kBase, kKey, 1024));
  BOOST_CHECK(qp.wants_pump());
  to(QpState::error);
  BOOST_CHECK(!qp.wants_pump());
  BOOST_CHECK(!qp.deadline().has_value());
  BOOST_CHECK_EQUAL(qp.pump(Time{}, 10), 0u);
}

BOOST_AUTO_TEST_CASE(reset_forgets_without_completions_and_everything_starts_anew) {
  bring(QpState::rts);
  post_receive();
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  ask(write_request(Operation::write_first, kPsn, kBase, kKey, 512, pattern(256)));
  to(QpState::reset);
  sends.clear();
  receives.clear();
  run();
  BOOST_CHECK(host.completions.empty());
  BOOST_CHECK(!qp.deadline().has_value());
  bring(QpState::rts);
  BOOST_CHECK(takes_requests());
  host.sent.clear();
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  BOOST_REQUIRE_EQUAL(host.sent.size(), 1u);
  BOOST_CHECK(host.sent[0].headers.bth.psn == wire::Psn(kPsn));
  ask(ack(kPsn));
  BOOST_CHECK((completed(false) == Completed{{0, WorkStatus::success}}));
}

BOOST_AUTO_TEST_CASE(reset_out_of_the_error_state_gives_a_queue_pair_that_works) {
  bring(QpState::rts);
  ask(rc_packet(Operation::send_middle, kPsn, pattern(256)));
  BOOST_CHECK(qp.state() == QpState::error);
  to(QpState::reset);
  bring(QpState::rts);
  BOOST_CHECK(takes_requests());
}

BOOST_AUTO_TEST_CASE(sqd_finishes_what_is_under_way_and_begins_nothing) {
  bring(QpState::rts);
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  to(QpState::sqd, true);
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  BOOST_CHECK_EQUAL(host.sent.size(), 1u);
  BOOST_CHECK(!qp.drained());
  BOOST_CHECK(host.events.empty());
  ask(ack(kPsn));
  BOOST_CHECK(qp.drained());
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::send_queue_drained);
  run();
  BOOST_CHECK_EQUAL(host.events.size(), 1u);
  BOOST_CHECK((completed(false) == Completed{{0, WorkStatus::success}}));

  to(QpState::rts);
  run();
  BOOST_REQUIRE_EQUAL(host.sent.size(), 2u);
  BOOST_CHECK(host.sent[1].headers.bth.psn == wire::Psn(kPsn + 1));
  BOOST_CHECK(!qp.drained());
}

BOOST_AUTO_TEST_CASE(an_idle_queue_is_drained_at_once) {
  bring(QpState::rts);
  to(QpState::sqd, true);
  run();
  BOOST_CHECK(qp.drained());
  BOOST_CHECK_EQUAL(host.events.size(), 1u);
  to(QpState::sqd);
  run();
  BOOST_CHECK_EQUAL(host.events.size(), 1u);
}

BOOST_AUTO_TEST_CASE(without_notification_draining_raises_no_event) {
  bring(QpState::rts);
  to(QpState::sqd, false);
  run();
  BOOST_CHECK(qp.drained());
  BOOST_CHECK(host.events.empty());
}

BOOST_AUTO_TEST_CASE(attributes_changed_in_sqd_before_it_has_drained_keep_the_notification) {
  bring(QpState::rts);
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  to(QpState::sqd, true);
  to(QpState::sqd);
  ask(ack(kPsn));
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::send_queue_drained);
}

BOOST_AUTO_TEST_CASE(attributes_changed_in_sqd_reach_the_responder) {
  bring(QpState::rts);
  to(QpState::sqd);
  QpParameters changed = parameters();
  changed.max_destination_reads = 0;
  qp.modify(QpState::sqd, changed, Time{});
  ask(read_request(kPsn, kBase, kKey, 16));
  BOOST_REQUIRE_EQUAL(host.sent.size(), 1u);
  BOOST_CHECK_EQUAL(host.sent[0].headers.aeth.syndrome, wire::nak_syndrome(wire::NakCode::invalid_request));
}

BOOST_AUTO_TEST_CASE(responses_go_before_requests) {
  bring(QpState::rts);
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  give(read_request(kPsn, kBase, kKey, 256));
  BOOST_CHECK_EQUAL(qp.pump(Time{}, 4), 2u);
  host.flush();
  BOOST_REQUIRE_EQUAL(host.sent.size(), 2u);
  BOOST_CHECK(host.sent[0].headers.bth.opcode.operation() == Operation::read_response_only);
  BOOST_CHECK(host.sent[1].headers.bth.opcode.operation() == Operation::write_only);
}

BOOST_AUTO_TEST_CASE(a_peer_that_reads_without_pause_does_not_silence_the_requester) {
  for (const std::uint32_t room : {1u, 2u, 3u, 8u}) {
    StateBench bench;
    bench.bring(QpState::rts);
    for (int i = 0; i < 8; ++i) bench.post_send(WorkOpcode::rdma_write);
    bench.qp.doorbell();
    bench.give(read_request(kPsn, kBase, kKey, 100 * 256));
    for (std::uint32_t sent = 0; sent < 16; sent += bench.qp.pump(Time{}, room)) {
    }
    bench.host.flush();
    const auto requests =
        std::count_if(bench.host.sent.begin(), bench.host.sent.end(),
                      [](const auto& packet) { return wire::traits(packet.headers.bth.opcode).request; });
    BOOST_CHECK_GE(requests, 7);
    BOOST_CHECK_GE(static_cast<std::ptrdiff_t>(bench.host.sent.size()) - requests, 7);
  }
}

// A byte takes 1,000 ns at 8,000 kbit/s.
BOOST_AUTO_TEST_CASE(requests_keep_their_pace_and_responses_do_not_wait_for_it) {
  bring(QpState::rts);
  qp.pace().limit(8'000, 0);
  for (int i = 0; i < 2; ++i) post_send(WorkOpcode::rdma_write, 16);
  qp.doorbell();
  BOOST_CHECK_EQUAL(qp.pump(Time{}, 8), 1u);
  BOOST_CHECK(qp.wants_pump());
  BOOST_CHECK(!qp.owes_responses({}));
  give(read_request(kPsn, kBase, kKey, 2 * 256));
  BOOST_CHECK(qp.owes_responses({}));
  BOOST_CHECK_EQUAL(qp.pump(Time{}, 2), 2u);  // no room is kept for requests that may not leave
  const Time free_at = Time{} + Nanoseconds(16'000);
  BOOST_CHECK(qp.pace().free_at() == free_at);
  BOOST_CHECK_EQUAL(qp.pump(free_at - Nanoseconds(1), 8), 0u);
  BOOST_CHECK_EQUAL(qp.pump(free_at, 8), 1u);
}

BOOST_AUTO_TEST_CASE(requests_leave_together_up_to_a_burst) {
  bring(QpState::rts);
  qp.pace().limit(8'000, 100);
  for (int i = 0; i < 20; ++i) post_send(WorkOpcode::rdma_write, 20);
  qp.doorbell();
  BOOST_CHECK_EQUAL(qp.pump(Time{}, 3), 3u);
  BOOST_CHECK_EQUAL(qp.pump(Time{}, 8), 2u);
  BOOST_CHECK_EQUAL(qp.pump(Time{} + Nanoseconds(99'999), 8), 0u);
  BOOST_CHECK_EQUAL(qp.pump(Time{} + Nanoseconds(100'000), 8), 5u);
  qp.pace().limit(0, 0);
  BOOST_CHECK_EQUAL(qp.pump(Time{} + Nanoseconds(100'000), 8), 8u);
}

BOOST_AUTO_TEST_CASE(a_timer_fires_in_rts) {
  bring(QpState::rts);
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  BOOST_REQUIRE(qp.deadline().has_value());
  const Time due = *qp.deadline();
  BOOST_CHECK(due > Time{});
  qp.on_timer(due);
  run(due);
  BOOST_CHECK_EQUAL(host.sent.size(), 2u);
  BOOST_CHECK_EQUAL(counters.local_ack_timeout, 1u);
}

BOOST_AUTO_TEST_CASE(memory_that_fails_reaches_the_half_whose_it_is) {
  bring(QpState::rts);
  memory.unmap(kBase, 64);
  post_send(WorkOpcode::rdma_write);
  qp.doorbell();
  run();
  BOOST_CHECK((completed(false) == Completed{{0, WorkStatus::local_protection_error}}));
  BOOST_CHECK(qp.state() == QpState::error);

  StateBench other;
  other.bring(QpState::rts);
  other.memory.unmap(kBase, 64);
  other.takes_requests();
  BOOST_REQUIRE_EQUAL(other.host.sent.size(), 1u);
  BOOST_CHECK_EQUAL(other.host.sent[0].headers.aeth.syndrome,
                    wire::nak_syndrome(wire::NakCode::remote_operational_error));
  BOOST_CHECK(other.qp.state() == QpState::error);
}

BOOST_AUTO_TEST_CASE(an_event_reports_an_error_that_no_completion_does) {
  bring(QpState::rts);
  ask(rc_packet(Operation::send_middle, kPsn, pattern(256)));
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::qp_request_error);
}

BOOST_AUTO_TEST_SUITE_END()
