// Checks that need no state: PSN regions, opcode sequence, lengths.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "device_model/transport/request_check.hpp"
#include "device_model/transport/responder/psn_check.hpp"

using namespace urnic;
using namespace urnic::transport;
using wire::Operation;
using wire::Psn;

BOOST_AUTO_TEST_SUITE(checks)

BOOST_AUTO_TEST_CASE(psn_regions_divide_the_number_space_in_halves) {
  for (const std::uint32_t expected : {0u, 1u, 0x7FFFFFu, 0x800000u, 0xFFFFFFu}) {
    BOOST_CHECK(psn_region(Psn(expected), Psn(expected)) == PsnRegion::expected);
    BOOST_CHECK(psn_region(Psn(expected - 1), Psn(expected)) == PsnRegion::duplicate);
    BOOST_CHECK(psn_region(Psn(expected - 0x7FFFFF), Psn(expected)) == PsnRegion::duplicate);
    BOOST_CHECK(psn_region(Psn(expected + 1), Psn(expected)) == PsnRegion::out_of_sequence);
    BOOST_CHECK(psn_region(Psn(expected + 0x7FFFFF), Psn(expected)) == PsnRegion::out_of_sequence);
  }
}

BOOST_AUTO_TEST_CASE(opcode_sequence_is_table_39) {
  const Operation starts[] = {Operation::send_first,           Operation::send_only,
                              Operation::send_only_immediate,  Operation::send_only_invalidate,
                              Operation::write_first,          Operation::write_only,
                              Operation::write_only_immediate, Operation::read_request,
                              Operation::compare_swap,         Operation::fetch_add};
  const Operation in_send[] = {Operation::send_middle, Operation::send_last, Operation::send_last_immediate,
                               Operation::send_last_invalidate};
  const Operation in_write[] = {Operation::write_middle, Operation::write_last,
                                Operation::write_last_immediate};
  const auto check = [](MessageUnderWay message, const auto& operations, bool allowed) {
    for (const Operation operation : operations) {
      BOOST_TEST_CONTEXT(wire::name(wire::Opcode(wire::Service::rc, operation)))
      BOOST_CHECK_EQUAL(follows(message, operation), allowed);
    }
  };
  check(MessageUnderWay::none, starts, true);
  check(MessageUnderWay::none, in_send, false);
  check(MessageUnderWay::none, in_write, false);
  check(MessageUnderWay::send, starts, false);
  check(MessageUnderWay::send, in_send, true);
  check(MessageUnderWay::send, in_write, false);
  check(MessageUnderWay::write, starts, false);
  check(MessageUnderWay::write, in_send, false);
  check(MessageUnderWay::write, in_write, true);
}

BOOST_AUTO_TEST_CASE(payload_lengths_by_place_in_the_message) {
  constexpr std::uint32_t mtu = 1024;
  for (const Operation operation :
       {Operation::send_first, Operation::send_middle, Operation::write_first, Operation::write_middle}) {
    BOOST_CHECK(!payload_fits(operation, 0, mtu));
    BOOST_CHECK(!payload_fits(operation, mtu - 1, mtu));
    BOOST_CHECK(payload_fits(operation, mtu, mtu));
    BOOST_CHECK(!payload_fits(operation, mtu + 1, mtu));
  }
  for (const Operation operation :
       {Operation::send_last, Operation::send_last_immediate, Operation::send_last_invalidate,
        Operation::write_last, Operation::write_last_immediate}) {
    BOOST_CHECK(!payload_fits(operation, 0, mtu));
    BOOST_CHECK(payload_fits(operation, 1, mtu));
    BOOST_CHECK(payload_fits(operation, mtu, mtu));
    BOOST_CHECK(!payload_fits(operation, mtu + 1, mtu));
  }
  for (const Operation operation :
       {Operation::send_only, Operation::send_only_immediate, Operation::send_only_invalidate,
        Operation::write_only, Operation::write_only_immediate}) {
    BOOST_CHECK(payload_fits(operation, 0, mtu));
    BOOST_CHECK(payload_fits(operation, mtu, mtu));
    BOOST_CHECK(!payload_fits(operation, mtu + 1, mtu));
  }
  for (const Operation operation : {Operation::read_request, Operation::fetch_add, Operation::compare_swap}) {
    BOOST_CHECK(payload_fits(operation, 0, mtu));
    BOOST_CHECK(!payload_fits(operation, 1, mtu));
  }
}

BOOST_AUTO_TEST_CASE(a_read_has_one_response_packet_at_least) {
  BOOST_CHECK_EQUAL(response_packets(0, 1024), 1u);
  BOOST_CHECK_EQUAL(response_packets(1, 1024), 1u);
  BOOST_CHECK_EQUAL(response_packets(1024, 1024), 1u);
  BOOST_CHECK_EQUAL(response_packets(1025, 1024), 2u);
  BOOST_CHECK_EQUAL(response_packets(kMaxRdmaLength, 256), 1u << 23);
}

BOOST_AUTO_TEST_SUITE_END()
