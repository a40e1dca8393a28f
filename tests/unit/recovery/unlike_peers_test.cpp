// Ends with different recoveries: everything arrives, and the wire is the specification's as soon as one of
// them has shown that it is not for more.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/laboratory.hpp"
#include "tests/unit/recovery/names.hpp"
#include "wire/opcode.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace {

class SelectiveAckBits final : public Observer {
 public:
  void sent(std::size_t from, const wire::TransportHeaders& headers, std::uint32_t, Link::Fate,
            Picoseconds) override {
    if (!headers.bth.selective_ack) return;
    if (from == 1) ++in_responses;
    if (from == 0) ++(answered ? in_requests_after_an_answer : in_requests_before);
  }
  void arrived(std::size_t at, const Flight&, Picoseconds) override { answered = answered || at == 0; }

  std::uint64_t in_requests_before = 0;
  std::uint64_t in_requests_after_an_answer = 0;
  std::uint64_t in_responses = 0;
  bool answered = false;
};

// Both ends with what they are for, over a link that loses; the bits that were seen.
SelectiveAckBits run(RecoveryMode requester, RecoveryMode responder, WorkOpcode operation) {
  LinkSettings link;
  link.loss.loss = 0.01;
  LaboratorySettings settings = symmetric(requester, link);
  settings.recovery[1].mode = responder;
  Laboratory laboratory(settings);
  SelectiveAckBits bits;
  laboratory.observe(&bits);
  laboratory.post(0, operation, 1u << 16, 50);
  BOOST_CHECK(laboratory.run_until_complete(50, std::chrono::seconds(10)));
  BOOST_CHECK_EQUAL(laboratory.completed(0), 50u);
  BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? 50u : 0u);
  BOOST_CHECK_EQUAL(laboratory.counters(0).bad_responses, 0u);
  return bits;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unlike_peers)

BOOST_AUTO_TEST_CASE(whatever_the_two_ends_are_everything_arrives) {
  for (const RecoveryMode requester : kModes) {
    for (const RecoveryMode responder : kModes) {
      for (const WorkOpcode operation : kOperations) {
        BOOST_TEST_CONTEXT(name(requester)
                           << " asks, " << name(responder) << " answers, " << name(operation)) {
          const SelectiveAckBits bits = run(requester, responder, operation);
          const bool offers = offers_selective_ack(requester);
          const bool gives = keeps_out_of_order(responder);
          BOOST_CHECK_EQUAL(bits.in_requests_before > 0, offers);
          BOOST_CHECK_EQUAL(bits.in_responses > 0, offers && gives);
          if (!gives) BOOST_CHECK_EQUAL(bits.in_requests_after_an_answer, 0u);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
