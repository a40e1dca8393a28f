// Acknowledgements and NAKs that are lost while every request arrives, or the other way round.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/laboratory.hpp"
#include "tests/unit/recovery/names.hpp"
#include "wire/aeth.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace lost_answers {

constexpr Nanoseconds kEnough = std::chrono::seconds(10);
constexpr std::array kAcknowledged{WorkOpcode::rdma_write, WorkOpcode::send};

}  // namespace lost_answers

BOOST_AUTO_TEST_SUITE(lost_answers)

// A later acknowledgement tells what the lost ones would have told.
BOOST_AUTO_TEST_CASE(no_packet_is_sent_again_for_an_ack_that_is_followed_by_another) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kAcknowledged) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        LaboratorySettings settings = symmetric(mode, {});
        constexpr std::uint32_t kMessages = 40;  // that `selective` waits for, less than two round trips
        constexpr std::uint32_t kPackets = 4 * kMessages;
        settings.recovery[0].irn_window = kPackets + 1;  // its cap is not what this is about
        settings.links[1].drop = [](const wire::TransportHeaders& headers, std::uint64_t order, Nanoseconds) {
          // The first brings the credits that sends need.
          return order > 0 && headers.bth.psn != wire::Psn(kPackets - 1);
        };
        Laboratory laboratory(settings);
        laboratory.post(0, operation, 4096, kMessages);
        BOOST_CHECK(laboratory.run_until_quiet(kEnough));
        BOOST_CHECK_EQUAL(laboratory.completed(0), kMessages);
        BOOST_CHECK_GT(laboratory.link(1).lost(), 0u);
        BOOST_CHECK_EQUAL(laboratory.counters(0).retransmitted_packets, 0u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(half_of_the_acks_lost) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kAcknowledged) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        LinkSettings link;
        link.acknowledge_loss = 0.5;
        Laboratory laboratory(symmetric(mode, link));
        for (std::uint32_t i = 1; i <= 100; ++i) {
          laboratory.post(0, operation, 10'000);
          BOOST_REQUIRE(laboratory.run_until_complete(i, kEnough));
        }
        BOOST_CHECK_EQUAL(laboratory.completed(0), 100u);
        BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? 100u : 0u);
        BOOST_CHECK_GT(laboratory.counters(1).duplicate_request, 0u);
      }
    }
  }
}

// With hardly a NAK timers do most of the work.
BOOST_AUTO_TEST_CASE(nine_naks_of_ten_lost) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        LinkSettings link;
        link.nak_loss = 0.9;
        link.impairments.loss = 0.02;
        Laboratory laboratory(symmetric(mode, link));
        laboratory.post(0, operation, 20'000, 100);
        BOOST_CHECK(laboratory.run_until_quiet(kEnough));
        BOOST_CHECK_EQUAL(laboratory.completed(0), 100u);
      }
    }
  }
}

// Without a single NAK only ACKs tell what has arrived, and the timers fill one hole after another. As long
// as that makes progress no retry is used up.
BOOST_AUTO_TEST_CASE(all_naks_lost) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      for (const std::uint64_t seed : {1u, 2u, 3u}) {
        BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation) << ", seed " << seed) {
          LinkSettings link;
          link.nak_loss = 1;
          link.impairments.loss = 0.02;
          LaboratorySettings settings = symmetric(mode, link);
          settings.seed = seed;
          Laboratory laboratory(settings);
          laboratory.post(0, operation, 20'000, 100);
          BOOST_CHECK(laboratory.run_until_quiet(kEnough));
          BOOST_CHECK_EQUAL(laboratory.completed(0), 100u);
          BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? 100u : 0u);
        }
      }
    }
  }
}

// Each arrival behind a hole is reported, and a report tells of 64 earlier ones: half of them will do.
BOOST_AUTO_TEST_CASE(sack_does_not_need_every_report) {
  for (const WorkOpcode operation : kAcknowledged) {
    LinkSettings link;
    link.nak_loss = 0.5;
    link.impairments.loss = 0.02;
    Laboratory laboratory(symmetric(RecoveryMode::sack, link));
    laboratory.post(0, operation, 1u << 20, 40);
    BOOST_CHECK(laboratory.run_until_quiet(kEnough));
    BOOST_CHECK_EQUAL(laboratory.completed(0), 40u);
    BOOST_CHECK_EQUAL(laboratory.counters(0).local_ack_timeout, 0u);
    // What is lost must be sent again; a tenth more would be needless.
    BOOST_CHECK_LT(laboratory.counters(0).retransmitted_packets,
                   1.1 * static_cast<double>(laboratory.link(0).lost()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
