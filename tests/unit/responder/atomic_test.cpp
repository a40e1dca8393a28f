#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(atomic_requests, ResponderBench)

BOOST_AUTO_TEST_CASE(fetch_add_answers_with_what_was_there) {
  memory.set_word(kBase + 8, 40);
  ask(add(0, 2, kBase + 8));
  BOOST_CHECK_EQUAL(memory.word(kBase + 8), 42u);
  const SentPacket response = take();
  BOOST_CHECK(operation_of(response) == Operation::atomic_acknowledge);
  BOOST_CHECK(response.headers.bth.psn == psn(0));
  BOOST_CHECK(response.headers.bth.destination == kPeer);
  BOOST_CHECK_EQUAL(response.headers.atomic_original, 40u);
  BOOST_CHECK(response.headers.aeth.msn == wire::Msn{1});
  BOOST_CHECK_EQUAL(counters.received_atomic_requests, 1u);
}

BOOST_AUTO_TEST_CASE(compare_swap_swaps_only_what_compares_equal) {
  memory.set_word(kBase, 5);
  ask(compare_swap_request(psn(0).value(), kBase, kKey, 6, 100));
  BOOST_CHECK_EQUAL(memory.word(kBase), 5u);
  BOOST_CHECK_EQUAL(take().headers.atomic_original, 5u);
  ask(compare_swap_request(psn(1).value(), kBase, kKey, 5, 100));
  BOOST_CHECK_EQUAL(memory.word(kBase), 100u);
  BOOST_CHECK_EQUAL(take().headers.atomic_original, 5u);
}

BOOST_AUTO_TEST_CASE(a_misaligned_target_is_an_invalid_request) {
  for (std::uint64_t offset = 1; offset < 8; ++offset) {
    ResponderBench bench;
    bench.ask(add(0, 1, kBase + offset));
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_access_error);
  }
}

BOOST_AUTO_TEST_CASE(what_the_key_does_not_allow_is_a_remote_access_error) {
  const Packet faults[] = {add(0, 1, kBase, 0xDEAD), add(0, 1, kBase, kReadOnlyKey),
                           add(0, 1, kBase, kForeignKey), add(0, 1, kBase + kMemorySize)};
  for (const Packet& fault : faults) {
    ResponderBench bench;
    bench.ask(fault);
    BOOST_CHECK(is_nak(bench.take(), psn(0), NakCode::remote_access_error));
    BOOST_CHECK(bench.shared.failed);
  }
}

BOOST_AUTO_TEST_CASE(executed_in_order_answered_behind_earlier_reads) {
  memory.set_word(kBase, 1);
  give(read(0, 2 * kMtu, kBase + 0x1000));
  give(add(2, 10));
  give(write_only(3, 8, kBase));  // comes behind the atomic in memory, before its answer on the wire
  give(add(4, 1));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 4u);
  BOOST_CHECK(operation_of(take()) == Operation::read_response_first);
  BOOST_CHECK(operation_of(take()) == Operation::read_response_last);
  const SentPacket first = take();
  BOOST_CHECK(first.headers.bth.psn == psn(2));
  BOOST_CHECK_EQUAL(first.headers.atomic_original, 1u);
  const SentPacket second = take();
  BOOST_CHECK(second.headers.bth.psn == psn(4));
  std::uint64_t written = 0;
  std::memcpy(&written, pattern(8).data(), 8);
  BOOST_CHECK_EQUAL(second.headers.atomic_original, written);
  BOOST_CHECK_EQUAL(memory.word(kBase), written + 1);
}

BOOST_AUTO_TEST_CASE(memory_that_is_gone_is_an_operational_error) {
  memory.unmap(kBase, 8);
  ask(add(0, 1));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_operational_error));
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(atomic_write_requests, ResponderBench)

namespace {

Packet atomic_write(std::uint32_t offset, std::uint8_t seed, std::uint64_t address = kBase,
                    std::uint32_t key = kKey) {
  return write(Operation::atomic_write, offset, pattern(8, seed), 8, address, key);
}

}  // namespace

// IBTA A19: the response is that of a READ without data, and says that the bytes are there.
BOOST_AUTO_TEST_CASE(answered_by_an_empty_read_response) {
  ask(atomic_write(0, 3, kBase + 16));
  BOOST_CHECK(memory.bytes(kBase + 16, 8) == pattern(8, 3));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  const SentPacket response = take();
  BOOST_CHECK(operation_of(response) == Operation::read_response_only);
  BOOST_CHECK(response.headers.bth.psn == psn(0));
  BOOST_CHECK(response.headers.aeth.msn == wire::Msn{1});
  BOOST_CHECK(response.payload.empty());
  BOOST_REQUIRE_EQUAL(host.writes.size(), 1u);
  BOOST_CHECK(host.writes[0].message_end);  // which the host writes as one word
}

BOOST_AUTO_TEST_CASE(a_duplicate_is_answered_and_not_written_again) {
  ask(atomic_write(0, 3));
  ask(add(1, 1));
  const std::uint64_t after = memory.word(kBase);
  take();
  take();
  ask(atomic_write(0, 3));
  BOOST_CHECK_EQUAL(memory.word(kBase), after);
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  const SentPacket response = take();
  BOOST_CHECK(operation_of(response) == Operation::read_response_only);
  BOOST_CHECK(response.headers.bth.psn == psn(0));
  // Under its PSN nothing can be read.
  ask(read(0, 8));
  BOOST_CHECK(sent().empty());
}

BOOST_AUTO_TEST_CASE(only_eight_aligned_bytes_that_remote_writes_may_reach) {
  struct Fault {
    Packet packet;
    NakCode nak;
  };
  const Fault faults[] = {
      {atomic_write(0, 1, kBase + 4), NakCode::invalid_request},
      {write(Operation::atomic_write, 0, pattern(8), 16), NakCode::invalid_request},
      {write(Operation::atomic_write, 0, pattern(4), 8), NakCode::invalid_request},
      {write(Operation::atomic_write, 0, pattern(12), 12), NakCode::invalid_request},
      {atomic_write(0, 1, kBase, 0xDEAD), NakCode::remote_access_error},
      {atomic_write(0, 1, kBase, kReadOnlyKey), NakCode::remote_access_error},
      {atomic_write(0, 1, kBase + kMemorySize), NakCode::remote_access_error},
  };
  for (const Fault& fault : faults) {
    ResponderBench bench;
    bench.ask(fault.packet);
    BOOST_CHECK(is_nak(bench.take(), psn(0), fault.nak));
    BOOST_CHECK(bench.host.writes.empty());
  }
}

BOOST_AUTO_TEST_CASE(it_takes_a_responder_resource_and_the_right_to_write) {
  ResponderBench none;
  none.shared.parameters.max_destination_reads = 0;
  none.responder.parameters_changed();
  none.ask(atomic_write(0, 1));
  BOOST_CHECK(is_nak(none.take(), psn(0), NakCode::invalid_request));
  shared.parameters.access.remote_write = false;
  ask(atomic_write(0, 1));
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::invalid_request));
}

BOOST_AUTO_TEST_SUITE_END()
