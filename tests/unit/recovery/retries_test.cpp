// When a queue pair gives up: retry_cnt + 1 times `timeout` after the last progress, to the nanosecond,
// whatever its recovery has tried in between.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/unit/recovery/experiment.hpp"
#include "tests/unit/recovery/names.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace retries {

constexpr Nanoseconds kEnough = std::chrono::seconds(10);

Nanoseconds patience(const LaboratorySettings& settings) {
  const Nanoseconds timeout(std::int64_t{4096} << settings.timeout);
  return timeout * (settings.retry_count + 1);
}

class LastAnswer final : public Observer {
 public:
  void arrived(std::size_t at, const Flight&, Nanoseconds now) override {
    if (at == 0) last = now;
  }
  Nanoseconds last{0};
};

void cut_at(LaboratorySettings& settings, Nanoseconds cut) {
  for (LinkSettings& link : settings.links) {
    link.drop = [cut](const wire::TransportHeaders&, std::uint64_t, Nanoseconds now) { return now >= cut; };
  }
}

}  // namespace retries

BOOST_AUTO_TEST_SUITE(retries)

BOOST_AUTO_TEST_CASE(a_peer_that_never_answers) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      for (const unsigned retry_count : {0u, 1u, 3u, 7u}) {
        LaboratorySettings settings = symmetric(mode, {});
        settings.timeout = 6;
        settings.retry_count = static_cast<std::uint8_t>(retry_count);
        cut_at(settings, Nanoseconds(0));
        Laboratory laboratory(settings);
        laboratory.post(0, operation, 1000);
        BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation) << ", retry_cnt " << retry_count) {
          BOOST_CHECK(laboratory.run_until_complete(1, kEnough));
          BOOST_CHECK(laboratory.first_failure(0) == WorkStatus::retry_exceeded);
          BOOST_CHECK_EQUAL(laboratory.last_completion(0).count(), patience(settings).count());
          BOOST_CHECK(laboratory.queue_pair(0).state() == QpState::error);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_peer_that_answers_no_more) {
  for (const RecoveryMode mode : kModes) {
    for (const WorkOpcode operation : kOperations) {
      LaboratorySettings settings = symmetric(mode, {});
      settings.retry_count = 2;
      cut_at(settings, std::chrono::microseconds(40));
      Laboratory laboratory(settings);
      LastAnswer answer;
      laboratory.observe(&answer);
      laboratory.post(0, operation, 8192, 100);
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        BOOST_CHECK(laboratory.run_until_complete(100, kEnough));
        BOOST_CHECK_GT(laboratory.completed(0), 0u);
        BOOST_CHECK(laboratory.first_failure(0) == WorkStatus::retry_exceeded);
        BOOST_CHECK_GT(answer.last.count(), 0);
        const Nanoseconds waited = laboratory.last_completion(0) - answer.last;
        BOOST_CHECK_GE(waited.count(), patience(settings).count());
        // Go-back-N's timer starts with the next packet that asks for an acknowledgement: the last of a
        // message, which is sent again within a microsecond.
        const bool exact = mode != RecoveryMode::gbn;
        const Nanoseconds late = exact ? Nanoseconds(0) : std::chrono::microseconds(1) * settings.retry_count;
        BOOST_CHECK_LE(waited.count(), (patience(settings) + late).count());
      }
    }
  }
}

// A fast retransmission is no retry: with none allowed, one loss after another is repaired.
BOOST_AUTO_TEST_CASE(fast_retransmissions_do_not_count) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::irn, RecoveryMode::sack}) {
    for (const WorkOpcode operation : kOperations) {
      LinkSettings link;
      link.impairments.loss = 0.05;
      LaboratorySettings settings = symmetric(mode, link);
      settings.retry_count = 0;
      settings.timeout = 12;  // 17 ms
      Laboratory laboratory(settings);
      laboratory.post(0, operation, 1u << 16, 100);
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        BOOST_CHECK(laboratory.run_until_complete(100, kEnough));
        BOOST_CHECK_EQUAL(laboratory.completed(0), 100u);
        BOOST_CHECK_GT(laboratory.counters(0).retransmitted_packets, 0u);
      }
    }
  }
}

// Losses that come in runs of packets, 8 in the mean: a sender that waits sends few packets, and would use up
// its retries within one run.
BOOST_AUTO_TEST_CASE(runs_of_losses_do_not_end_a_connection) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::irn, RecoveryMode::sack}) {
    for (const WorkOpcode operation : kOperations) {
      for (const int delay : {5, 50}) {
        for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
          Experiment experiment;
          experiment.mode = mode;
          experiment.operation = operation;
          experiment.delay = std::chrono::microseconds(delay);
          experiment.path_mtu = 1024;
          experiment.loss = {.loss = 0.1, .mean_burst = 8};
          experiment.seed = seed;
          Laboratory laboratory(laboratory_settings(experiment));
          laboratory.post(0, operation, 1u << 20, 10);
          BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation) << ", " << delay << " us, seed " << seed) {
            BOOST_CHECK(laboratory.run_until_complete(10, kEnough));
            BOOST_CHECK_EQUAL(laboratory.completed(0), 10u);
          }
        }
      }
    }
  }
}

// With each expiry of the local ACK timer in vain twice as many copies, up to 16: the run of losses may be
// over within them.
BOOST_AUTO_TEST_CASE(a_packet_is_sent_twice_as_often_with_every_retry) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::irn, RecoveryMode::sack}) {
    for (const WorkOpcode operation : kOperations) {
      class Copies final : public Observer {
       public:
        void sent(std::size_t from, const wire::TransportHeaders&, std::uint32_t, Nanoseconds now) override {
          if (from != 0) return;
          if (now - last > std::chrono::microseconds(1)) counts.push_back(0);
          ++counts.back();
          last = now;
        }
        std::vector<std::uint32_t> counts;
        Nanoseconds last{-1'000'000};
      } copies;
      LaboratorySettings settings = symmetric(mode, {});
      settings.timeout = 6;
      cut_at(settings, Nanoseconds(0));
      Laboratory laboratory(settings);
      laboratory.observe(&copies);
      laboratory.post(0, operation, 1000);
      BOOST_CHECK(laboratory.run_until_complete(1, kEnough));
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        std::vector<std::uint32_t> several;  // what the recovery sends between the expiries leaves once
        std::copy_if(copies.counts.begin(), copies.counts.end(), std::back_inserter(several),
                     [](std::uint32_t count) { return count != 1; });
        several.erase(std::unique(several.begin(), several.end()), several.end());
        BOOST_TEST(several == (std::vector<std::uint32_t>{2, 4, 8, 16}), boost::test_tools::per_element());
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
