#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(read_requests, ResponderBench)

BOOST_AUTO_TEST_CASE(a_short_read_is_answered_by_one_packet) {
  memory.fill_pattern(kBase + 5, 100);
  ask(read(0, 100, kBase + 5));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  const SentPacket response = take();
  BOOST_CHECK(operation_of(response) == Operation::read_response_only);
  BOOST_CHECK(response.headers.bth.psn == psn(0));
  BOOST_CHECK(response.headers.bth.destination == kPeer);
  BOOST_CHECK(response.payload == pattern(100));
  BOOST_CHECK(wire::kind(response.headers.aeth.syndrome) == wire::AethKind::ack);
  BOOST_CHECK(response.headers.aeth.msn == wire::Msn{1});
  BOOST_CHECK_EQUAL(counters.received_read_requests, 1u);
}

BOOST_AUTO_TEST_CASE(a_long_read_takes_a_psn_for_each_packet) {
  memory.fill_pattern(kBase, 3 * kMtu + 1);
  ask(read(0, 3 * kMtu + 1));
  const Operation operations[] = {Operation::read_response_first, Operation::read_response_middle,
                                  Operation::read_response_middle, Operation::read_response_last};
  BOOST_REQUIRE_EQUAL(sent().size(), 4u);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const SentPacket response = take();
    BOOST_CHECK(operation_of(response) == operations[i]);
    BOOST_CHECK(response.headers.bth.psn == psn(i));
    BOOST_CHECK(response.payload == pattern(i < 3 ? kMtu : 1, 0, i * kMtu));
    BOOST_CHECK(wire::kind(response.headers.aeth.syndrome) == wire::AethKind::ack);
  }
  ask(write_only(4));
  BOOST_CHECK(is_ack(take(), psn(4)));
}

BOOST_AUTO_TEST_CASE(a_read_of_whole_packets_has_no_empty_last_one) {
  ask(read(0, 2 * kMtu));
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK_EQUAL(sent()[1].payload.size(), kMtu);
}

BOOST_AUTO_TEST_CASE(a_read_of_nothing_needs_no_key) {
  ask(read(0, 0, 0, 0xDEAD));
  const SentPacket response = take();
  BOOST_CHECK(operation_of(response) == Operation::read_response_only);
  BOOST_CHECK(response.payload.empty());
  ask(write_only(1));
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(responses_are_sent_within_the_budget) {
  give(read(0, 10 * kMtu));
  for (int i = 0; i < 3; ++i) BOOST_CHECK_EQUAL(responder.pump(3), 3u);
  flush();
  BOOST_CHECK_EQUAL(sent().size(), 9u);
  BOOST_CHECK(responder.wants_pump());
  BOOST_CHECK_EQUAL(responder.pump(3), 1u);
  BOOST_CHECK(!responder.wants_pump());
}

BOOST_AUTO_TEST_CASE(an_acknowledge_waits_for_the_responses_before_it) {
  give(read(0, 2 * kMtu));
  give(write_only(2));
  give(read(3, kMtu));
  give(write_only(4));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 4u);
  BOOST_CHECK(sent()[0].headers.bth.psn == psn(0));
  BOOST_CHECK(sent()[1].headers.bth.psn == psn(1));
  BOOST_CHECK(sent()[2].headers.bth.psn == psn(3));  // acknowledges the write at 2
  BOOST_CHECK(is_ack(sent()[3], psn(4)));
}

BOOST_AUTO_TEST_CASE(what_the_key_does_not_allow_is_a_remote_access_error_before_any_response) {
  const std::uint64_t end = kBase + kMemorySize;
  const Packet faults[] = {read(0, 16, kBase, 0xDEAD), read(0, 16, kBase, kForeignKey),
                           read(0, 3 * kMtu, end - 3 * kMtu + 1), read(0, 16, kBase - 1)};
  for (const Packet& fault : faults) {
    ResponderBench bench;
    bench.ask(fault);
    BOOST_REQUIRE_EQUAL(bench.sent().size(), 1u);
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::remote_access_error));
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_access_error);
  }
}

BOOST_AUTO_TEST_CASE(a_key_that_goes_away_stops_the_response_with_a_nak_at_its_packet) {
  give(read(0, 3 * kMtu));
  responder.pump(1);
  keys.remove(kKey);
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(operation_of(take()) == Operation::read_response_first);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_access_error));
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_CASE(more_than_two_gigabytes_is_an_invalid_request) {
  ask(read(0, (1u << 31) + 1));
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::invalid_request));
}

BOOST_AUTO_TEST_CASE(more_reads_than_resources_is_an_invalid_request) {
  for (std::uint32_t i = 0; i < kDepth; ++i) give(read(i, 1));
  give(read(kDepth, 1));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), kDepth + 1u);
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    BOOST_CHECK(operation_of(take()) == Operation::read_response_only);
  }
  BOOST_CHECK(is_nak(take(), psn(kDepth), NakCode::invalid_request));
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::qp_access_error);
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_CASE(resources_are_free_again_once_the_response_is_sent) {
  for (std::uint32_t i = 0; i < 10 * kDepth; ++i) ask(read(i, 1));
  BOOST_CHECK_EQUAL(sent().size(), 10u * kDepth);
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(without_resources_reads_and_atomics_are_invalid_requests) {
  for (const Packet& packet : {read(0, 1), add(0, 1)}) {
    ResponderBench bench;
    bench.shared.parameters.max_destination_reads = 0;
    bench.responder.start();
    bench.ask(packet);
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::invalid_request));
  }
}

BOOST_AUTO_TEST_CASE(memory_that_is_gone_is_an_operational_error_at_the_packet_that_misses_it) {
  memory.unmap(kBase + kMtu, 1);
  ask(read(0, 3 * kMtu));
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(operation_of(take()) == Operation::read_response_first);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_operational_error));
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_SUITE_END()
