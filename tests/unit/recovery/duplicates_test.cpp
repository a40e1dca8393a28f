// Every packet arrives twice, in both directions: nothing is executed twice, and nothing is sent again for
// it.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/laboratory.hpp"
#include "tests/unit/recovery/names.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;

BOOST_AUTO_TEST_SUITE(duplicates)

BOOST_AUTO_TEST_CASE(twice_everything_is_once) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        LinkSettings link;
        link.impairments.duplicate = 1;
        Laboratory laboratory(symmetric(mode, link));
        laboratory.post(0, operation, 20'000, 50);
        BOOST_CHECK(laboratory.run_until_quiet(std::chrono::seconds(1)));
        BOOST_CHECK_EQUAL(laboratory.completed(0), 50u);
        BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? 50u : 0u);
        BOOST_CHECK_EQUAL(laboratory.counters(0).retransmitted_packets, 0u);
        BOOST_CHECK_GT(laboratory.counters(1).duplicate_request, 0u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(twice_everything_and_some_of_it_lost) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        LinkSettings link;
        link.impairments.duplicate = 1;
        link.impairments.loss = 0.04;  // of both copies
        Laboratory laboratory(symmetric(mode, link));
        laboratory.post(0, operation, 20'000, 200);
        BOOST_CHECK(laboratory.run_until_quiet(std::chrono::seconds(10)));
        BOOST_CHECK_EQUAL(laboratory.completed(0), 200u);
        BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? 200u : 0u);
        BOOST_CHECK_EQUAL(laboratory.counters(0).bad_responses, 0u);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
