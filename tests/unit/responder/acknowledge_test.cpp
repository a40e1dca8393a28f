// ACKs: when, for which PSN, with which MSN and credits.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace {

Packet quiet(Packet packet) {
  packet.headers.bth.ack_request = false;
  return packet;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(acknowledges, ResponderBench)

BOOST_AUTO_TEST_CASE(a_request_is_acknowledged_when_the_requester_asks) {
  ask(quiet(write_only(0)));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK(!responder.wants_pump());
  ask(write_only(1));
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(ack_request_counts_on_any_packet_of_a_message) {
  ask(ack_requested(write(Operation::write_first, 0, pattern(kMtu), 3 * kMtu)));
  BOOST_CHECK(is_ack(take(), psn(0)));
  ask(ack_requested(write(Operation::write_middle, 1, pattern(kMtu))));
  BOOST_CHECK(is_ack(take(), psn(1)));
}

BOOST_AUTO_TEST_CASE(acknowledges_are_coalesced_until_the_pump) {
  for (std::uint32_t i = 0; i < 10; ++i) give(write_only(i));
  give(quiet(write_only(10)));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  const SentPacket packet = take();
  BOOST_CHECK(is_ack(packet, psn(10)));
  BOOST_CHECK(packet.headers.aeth.msn == wire::Msn{11});
  BOOST_CHECK(packet.headers.bth.destination == kPeer);
  BOOST_CHECK(packet.payload.empty());
}

BOOST_AUTO_TEST_CASE(an_acknowledge_counts_in_the_pumps_budget) {
  give(write_only(0));
  BOOST_CHECK_EQUAL(responder.pump(0), 0u);
  BOOST_CHECK(responder.wants_pump());
  BOOST_CHECK_EQUAL(responder.pump(1), 1u);
  BOOST_CHECK(!responder.wants_pump());
}

BOOST_AUTO_TEST_CASE(the_msn_counts_complete_messages) {
  post();
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  ask(ack_requested(send(Operation::send_middle, 1, pattern(kMtu))));
  BOOST_CHECK(take().headers.aeth.msn == wire::Msn{0});
  ask(send(Operation::send_last, 2, pattern(1)));
  BOOST_CHECK(take().headers.aeth.msn == wire::Msn{1});
  ask(write_only(3));
  BOOST_CHECK(take().headers.aeth.msn == wire::Msn{2});
  ask(read(4, 3 * kMtu));
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  BOOST_CHECK(sent()[0].headers.aeth.msn == wire::Msn{3});
  BOOST_CHECK(sent()[2].headers.aeth.msn == wire::Msn{3});
  sent().clear();
  ask(add(7, 1));
  BOOST_CHECK(take().headers.aeth.msn == wire::Msn{4});
  ask(write_only(3));  // a duplicate is not counted again
  BOOST_CHECK(take().headers.aeth.msn == wire::Msn{4});
}

BOOST_AUTO_TEST_CASE(the_msn_starts_again_after_reset) {
  ask(write_only(0));
  BOOST_CHECK(take().headers.aeth.msn == wire::Msn{1});
  responder.reset();
  responder.start();
  ask(write_only(0));
  BOOST_CHECK(take().headers.aeth.msn == wire::Msn{1});
}

BOOST_AUTO_TEST_CASE(credits_tell_how_many_receives_are_posted) {
  const std::uint32_t counts[] = {0, 1, 2, 3, 5, 20};
  for (const std::uint32_t count : counts) {
    ResponderBench bench;
    for (std::uint32_t i = 0; i < count; ++i) bench.post();
    bench.ask(write_only(0));
    const SentPacket packet = bench.take();
    BOOST_CHECK_EQUAL(wire::code(packet.headers.aeth.syndrome), wire::credit_code_for(count));
  }
}

BOOST_AUTO_TEST_CASE(credits_are_those_at_the_time_of_sending) {
  post();
  post();
  give(send_only(0));
  post();
  post();
  settle();
  BOOST_CHECK_EQUAL(wire::code(take().headers.aeth.syndrome), wire::credit_code_for(3));
}

BOOST_AUTO_TEST_CASE(read_and_atomic_responses_carry_credits) {
  post();
  ask(read(0, 1));
  BOOST_CHECK_EQUAL(wire::code(take().headers.aeth.syndrome), wire::credit_code_for(1));
  ask(add(1, 1));
  BOOST_CHECK_EQUAL(wire::code(take().headers.aeth.syndrome), wire::credit_code_for(1));
}

BOOST_AUTO_TEST_CASE(responses_carry_the_partition_of_the_queue_pair) {
  shared.parameters.pkey = wire::Pkey{0x8123};
  ask(read(0, 1));
  ask(write_only(1));
  ask(add(2, 1));
  BOOST_REQUIRE_EQUAL(sent().size(), 3u);
  for (const SentPacket& packet : sent()) {
    BOOST_CHECK(packet.headers.bth.pkey == wire::Pkey{0x8123});
    BOOST_CHECK(packet.headers.bth.opcode.service() == wire::Service::rc);
    BOOST_CHECK(!packet.headers.bth.ack_request);
    BOOST_CHECK(!packet.headers.bth.solicited);
  }
}

BOOST_AUTO_TEST_SUITE_END()
