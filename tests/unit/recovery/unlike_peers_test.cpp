// Ends with different recoveries: everything arrives, and selective acknowledges are sent only where both
// ends are for them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/laboratory.hpp"
#include "tests/unit/recovery/names.hpp"
#include "wire/opcode.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace {

// Counts selective acknowledges, and looks that nothing else differs from the specification's packets.
class SelectiveAckCount final : public Observer {
 public:
  void sent(std::size_t, const wire::TransportHeaders& headers, std::uint32_t, Nanoseconds) override {
    if (headers.bth.opcode == wire::kSelectiveAcknowledge) ++selective_acks;
    if (headers.bth.reserved7 != 0) ++reserved_bits;
  }

  std::uint64_t selective_acks = 0;
  std::uint64_t reserved_bits = 0;
};

// Both ends with what they are for, over a link that loses; what was seen on it.
SelectiveAckCount run(RecoveryMode requester, RecoveryMode responder, WorkOpcode operation) {
  LinkSettings link;
  link.impairments.loss = 0.01;
  LaboratorySettings settings = symmetric(requester, link);
  settings.recovery[1].mode = responder;
  Laboratory laboratory(settings);
  SelectiveAckCount count;
  laboratory.observe(&count);
  laboratory.post(0, operation, 1u << 16, 50);
  BOOST_CHECK(laboratory.run_until_complete(50, std::chrono::seconds(10)));
  BOOST_CHECK_EQUAL(laboratory.completed(0), 50u);
  BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? 50u : 0u);
  BOOST_CHECK_EQUAL(laboratory.counters(0).bad_responses, 0u);
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unlike_peers)

BOOST_AUTO_TEST_CASE(whatever_the_two_ends_are_everything_arrives) {
  for (const RecoveryMode requester : kModes) {
    for (const RecoveryMode responder : kModes) {
      for (const WorkOpcode operation : kOperations) {
        BOOST_TEST_CONTEXT(name(requester)
                           << " asks, " << name(responder) << " answers, " << name(operation)) {
          const SelectiveAckCount count = run(requester, responder, operation);
          // A READ's responses are missed by the requester itself; its requests hardly ever are.
          const bool agreed = reads_selective_acks(requester) && keeps_out_of_order(responder);
          if (!agreed) BOOST_CHECK_EQUAL(count.selective_acks, 0u);
          if (agreed && operation != WorkOpcode::rdma_read) BOOST_CHECK_GT(count.selective_acks, 0u);
          BOOST_CHECK_EQUAL(count.reserved_bits, 0u);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
