#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(write_requests, ResponderBench)

BOOST_AUTO_TEST_CASE(an_only_packet_is_written_and_acknowledged_without_a_completion) {
  ask(write_only(0, 100, kBase + 7));
  BOOST_CHECK(memory.bytes(kBase + 7, 100) == pattern(100));
  BOOST_CHECK(is_ack(take(), psn(0)));
  BOOST_CHECK(host.completions.empty());
  BOOST_CHECK_EQUAL(counters.received_write_requests, 1u);
}

BOOST_AUTO_TEST_CASE(packets_of_a_message_go_one_behind_the_other) {
  const auto message = pattern(2 * kMtu + 9);
  const std::uint32_t total = 2 * kMtu + 9;
  ask(write(Operation::write_first, 0, {message.begin(), message.begin() + kMtu}, total, kBase + 3));
  ask(write(Operation::write_middle, 1, {message.begin() + kMtu, message.begin() + 2 * kMtu}));
  ask(write(Operation::write_last, 2, {message.begin() + 2 * kMtu, message.end()}));
  BOOST_CHECK(memory.bytes(kBase + 3, total) == message);
  BOOST_REQUIRE_EQUAL(host.writes.size(), 3u);
  BOOST_CHECK(!host.writes[0].message_end);
  BOOST_CHECK(!host.writes[1].message_end);
  BOOST_CHECK(host.writes[2].message_end);
}

BOOST_AUTO_TEST_CASE(without_data_no_key_is_needed) {
  ask(write_only(0, 0, 0, 0xDEAD));
  BOOST_CHECK(is_ack(take(), psn(0)));
  BOOST_CHECK(host.writes.empty());
}

BOOST_AUTO_TEST_CASE(immediate_takes_a_receive_at_the_last_packet_only) {
  post();
  ask(write(Operation::write_first, 0, pattern(kMtu), kMtu + 1));
  BOOST_CHECK_EQUAL(receives.taken(), 0u);
  Packet last = write(Operation::write_last_immediate, 1, pattern(1));
  last.headers.immediate = {{9, 8, 7, 6}};
  last.headers.bth.solicited = true;
  ask(last);
  BOOST_CHECK_EQUAL(receives.retired(), 1u);
  const Completion done = completion();
  BOOST_CHECK(done.status == WorkStatus::success);
  BOOST_CHECK(done.opcode == CompletionOpcode::receive_rdma_with_immediate);
  BOOST_CHECK_EQUAL(done.byte_length, kMtu + 1);
  BOOST_CHECK(done.with_immediate);
  BOOST_CHECK((done.immediate == wire::Immediate{{9, 8, 7, 6}}));
  BOOST_CHECK(done.solicited);
  BOOST_CHECK(done.source == kPeer);
}

BOOST_AUTO_TEST_CASE(immediate_leaves_the_receives_buffer_alone) {
  post();
  memory.fill_pattern(kBuffer, 64, 1);
  ask(write(Operation::write_only_immediate, 0, pattern(32), 32));
  BOOST_CHECK(memory.bytes(kBuffer, 64) == pattern(64, 1));
}

BOOST_AUTO_TEST_CASE(immediate_without_a_receive_writes_nothing_and_is_not_ready) {
  ask(write(Operation::write_only_immediate, 0, pattern(32), 32));
  BOOST_CHECK(host.writes.empty());
  BOOST_CHECK(is_rnr_nak(take(), psn(0)));
  post();
  ask(write(Operation::write_only_immediate, 0, pattern(32), 32));
  BOOST_CHECK(is_ack(take(), psn(0)));
  BOOST_CHECK(memory.bytes(kBase, 32) == pattern(32));
}

BOOST_AUTO_TEST_CASE(a_last_packet_that_was_not_ready_may_come_again) {
  ask(write(Operation::write_first, 0, pattern(kMtu), kMtu + 4));
  ask(write(Operation::write_last_immediate, 1, pattern(4)));
  BOOST_CHECK(is_rnr_nak(take(), psn(1)));
  post();
  ask(write(Operation::write_last_immediate, 1, pattern(4)));
  BOOST_CHECK(is_ack(take(), psn(1)));
  BOOST_CHECK_EQUAL(completion().byte_length, kMtu + 4);
}

BOOST_AUTO_TEST_CASE(a_receive_that_makes_no_sense_is_an_operation_error_also_for_immediate) {
  receives.post({}, true);
  ask(write(Operation::write_only_immediate, 0, pattern(4), 4));
  BOOST_CHECK(completion().status == WorkStatus::local_qp_operation_error);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_operational_error));
  BOOST_CHECK(host.writes.empty());
}

BOOST_AUTO_TEST_CASE(what_the_key_does_not_allow_is_a_remote_access_error) {
  const std::uint64_t end = kBase + kMemorySize;
  const Packet faults[] = {
      write_only(0, 16, kBase, 0xDEAD),
      write_only(0, 16, kBase, kForeignKey),
      write_only(0, 16, kBase, kReadOnlyKey),
      write_only(0, 16, end - 15),
      write_only(0, 16, kBase - 1),
      write_only(0, 16, ~std::uint64_t{0} - 3),
      // Only the second packet would leave the region: nothing of the message is written.
      write(Operation::write_first, 0, pattern(kMtu), 2 * kMtu, end - 2 * kMtu + 1),
  };
  for (const Packet& fault : faults) {
    ResponderBench bench;
    bench.ask(fault);
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::remote_access_error));
    BOOST_CHECK(bench.host.writes.empty());
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_access_error);
    BOOST_CHECK(bench.shared.failed);
    BOOST_CHECK_EQUAL(bench.counters.responder_access_errors, 1u);
  }
}

BOOST_AUTO_TEST_CASE(the_key_is_checked_at_every_packet) {
  ask(write(Operation::write_first, 0, pattern(kMtu), 2 * kMtu));
  keys.remove(kKey);
  ask(write(Operation::write_last, 1, pattern(kMtu)));
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_access_error));
  BOOST_CHECK_EQUAL(host.writes.size(), 1u);
}

BOOST_AUTO_TEST_CASE(lengths_that_contradict_the_reth_are_invalid_requests) {
  const std::vector<std::vector<Packet>> messages = {
      {write(Operation::write_only, 0, pattern(16), 17)},
      {write(Operation::write_only, 0, pattern(16), 15)},
      {write(Operation::write_only, 0, pattern(16), 0)},
      {write(Operation::write_only, 0, pattern(kMtu), kMtu + 1)},
      {write(Operation::write_first, 0, pattern(kMtu), kMtu)},
      {write(Operation::write_first, 0, pattern(kMtu), 2 * kMtu),
       write(Operation::write_middle, 1, pattern(kMtu))},
      {write(Operation::write_first, 0, pattern(kMtu), kMtu + 9),
       write(Operation::write_last, 1, pattern(8))},
      {write(Operation::write_first, 0, pattern(kMtu), kMtu + 9),
       write(Operation::write_last, 1, pattern(10))},
      {write(Operation::write_only, 0, pattern(16), (1u << 31) + 1)},
  };
  for (const std::vector<Packet>& message : messages) {
    ResponderBench bench;
    for (const Packet& packet : message) bench.ask(packet);
    const auto last = static_cast<std::uint32_t>(message.size() - 1);
    BOOST_CHECK(is_nak(bench.take(), psn(last), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_access_error);
    BOOST_CHECK(bench.shared.failed);
    BOOST_CHECK_EQUAL(bench.counters.responder_invalid_requests, 1u);
  }
}

BOOST_AUTO_TEST_CASE(a_message_above_two_gigabytes_is_refused_although_the_key_would_do) {
  class AllowAll final : public MemoryKeys {
   public:
    KeyCheck check_local(Lkey, PdId, std::uint64_t, std::uint32_t, AccessRight, MemoryRange&) const override {
      return KeyCheck::ok;
    }
    KeyCheck check_remote(wire::Rkey, PdId, wire::Qpn, std::uint64_t, std::uint32_t, AccessRight,
                          MemoryRange&) const override {
      return KeyCheck::ok;
    }
    KeyCheck bind(const WindowBinding&, PdId, wire::Qpn) override { return KeyCheck::ok; }
    KeyCheck invalidate(wire::Rkey, PdId, wire::Qpn) override { return KeyCheck::ok; }
  } allow_all;
  QpConfig config = make_config(RecoveryMode::gbn);
  config.keys = &allow_all;
  SharedState other{.config = config, .state = QpState::rtr, .parameters = make_parameters()};
  Responder under_test(other);
  under_test.start();
  const Packet packet = write(Operation::write_first, 0, pattern(kMtu), (1u << 31) + 1);
  under_test.receive(packet.inbound());
  under_test.pump(10);
  host.flush();
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::invalid_request));
}

BOOST_AUTO_TEST_CASE(errors_of_a_write_with_immediate_complete_its_receive) {
  post();
  ask(write(Operation::write_only_immediate, 0, pattern(16), 16, kBase, kReadOnlyKey));
  BOOST_CHECK(completion().status == WorkStatus::local_access_error);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_access_error));
  BOOST_CHECK(host.events.empty());
}

BOOST_AUTO_TEST_SUITE_END()
