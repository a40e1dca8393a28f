// The last packet of a message lost: nothing behind it tells, so somebody must ask.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <optional>

#include "tests/unit/recovery/experiment.hpp"
#include "tests/unit/recovery/names.hpp"
#include "wire/opcode.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace {

constexpr std::uint32_t kPackets = 16;  // of a message

// The time that a message of 16 packets takes of which the last is lost, less the time without loss. The
// connection has been in use, so its round trip is known.
Nanoseconds price_of_the_tail(const Experiment& experiment) {
  LaboratorySettings settings = laboratory_settings(experiment);
  bool lose = false;
  const bool read = experiment.operation == WorkOpcode::rdma_read;
  settings.links[read ? 1 : 0].drop = [&lose](const wire::TransportHeaders& headers, std::uint64_t,
                                              Nanoseconds) {
    if (!lose || is_acknowledge(headers)) return false;
    if (!wire::traits(headers.bth.opcode).last) return false;
    lose = false;
    return true;
  };
  Laboratory laboratory(settings);
  std::uint64_t messages = 0;
  const auto one = [&] {
    const Nanoseconds posted = laboratory.now();
    laboratory.post(0, experiment.operation, kPackets * experiment.path_mtu);
    BOOST_REQUIRE(laboratory.run_until_complete(++messages, posted + std::chrono::seconds(1)));
    return laboratory.last_completion(0) - posted;
  };
  for (int i = 0; i < 20; ++i) one();
  const Nanoseconds lossless = one();
  lose = true;
  const Nanoseconds with_loss = one();
  BOOST_CHECK(!lose);
  BOOST_CHECK_EQUAL(laboratory.failed(0), 0u);
  return with_loss - lossless;
}

Experiment experiment_of(RecoveryMode mode, WorkOpcode operation) {
  Experiment experiment;
  experiment.mode = mode;
  experiment.operation = operation;
  experiment.delay = std::chrono::microseconds(50);
  return experiment;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tail)

BOOST_AUTO_TEST_CASE(a_lost_tail_costs_two_round_trips) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    for (const WorkOpcode operation : kOperations) {
      const Experiment experiment = experiment_of(mode, operation);
      BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation)) {
        // Of a WRITE's last packet nothing is heard for two round trips, of which one would have passed
        // anyway; then one to ask again. The silence behind a READ's last response but one is one round trip
        // long.
        const bool read = operation == WorkOpcode::rdma_read;
        Nanoseconds expected = 2 * round_trip(experiment);
        if (read) {
          expected -= data_slot(experiment);
        } else if (mode == RecoveryMode::selective) {
          expected += data_slot(experiment);  // the oldest packet is asked for first
        }
        const Nanoseconds price = price_of_the_tail(experiment);
        // Several moments on the way are rounded to nanoseconds.
        BOOST_CHECK_LE(std::chrono::abs(price - expected).count(), 3);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(irn_waits_for_its_own_timeouts) {
  for (const WorkOpcode operation : kOperations) {
    const Experiment experiment = experiment_of(RecoveryMode::irn, operation);
    const RecoverySettings settings = laboratory_settings(experiment).recovery[0];
    BOOST_TEST_CONTEXT(name(operation)) {
      const double price = seconds(price_of_the_tail(experiment));
      BOOST_CHECK_LE(price, seconds(settings.irn_timeout_high + 2 * round_trip(experiment)));
    }
  }
}

// Karn's algorithm alone would never measure a round trip that takes longer than the patience: every packet
// that is timed is sent again before its answer is here.
BOOST_AUTO_TEST_CASE(a_path_that_takes_longer_than_the_patience_is_measured_all_the_same) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    for (const WorkOpcode operation : kOperationsWithAtomic) {
      for (const bool from_the_start : {true, false}) {
        BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation) << (from_the_start ? "" : ", longer since")) {
          Experiment experiment = experiment_of(mode, operation);
          LaboratorySettings settings = laboratory_settings(experiment);
          settings.timeout = 16;  // 268 ms
          Laboratory laboratory(settings);
          std::uint64_t messages = 0;
          const auto send = [&](std::uint64_t count) {
            for (const std::uint64_t end = messages + count; messages < end;) {
              laboratory.post(0, operation, 8);
              BOOST_REQUIRE(laboratory.run_until_complete(++messages, kNever));
            }
          };
          if (!from_the_start) send(20);
          // Of a round trip of 4 ms; before the first measurement 0.5 ms are waited.
          for (std::size_t side : {0, 1}) laboratory.link(side).set_delay(std::chrono::milliseconds(2));
          send(50);
          laboratory.run_until_quiet();
          // What is sent again until the second answer to the first message is here.
          // A peer without selective acks is asked in several copies at last.
          const std::uint64_t most = mode == RecoveryMode::selective ? 16 : 10;
          BOOST_CHECK_LE(laboratory.counters(0).retransmitted_packets, most);
          BOOST_CHECK_EQUAL(laboratory.counters(0).local_ack_timeout, 0u);
        }
      }
    }
  }
}

// Between two bursts of responses lies a round trip of silence.
BOOST_AUTO_TEST_CASE(a_stream_of_reads_over_a_long_path_is_not_asked_for_again) {
  for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
    Experiment experiment = experiment_of(mode, WorkOpcode::rdma_read);
    experiment.delay = std::chrono::milliseconds(2);
    LaboratorySettings settings = laboratory_settings(experiment);
    settings.timeout = 16;  // 268 ms
    Laboratory laboratory(settings);
    laboratory.post(0, WorkOpcode::rdma_read, kPackets * experiment.path_mtu, 1000);
    BOOST_TEST_CONTEXT(name(mode)) {
      BOOST_REQUIRE(laboratory.run_until_complete(1000, kNever));
      BOOST_CHECK_LE(laboratory.counters(0).retransmitted_packets, 10u);
    }
  }
}

// Go-back-N has nothing but the local ACK timer.
BOOST_AUTO_TEST_CASE(gbn_waits_for_the_timeout) {
  const Experiment experiment = experiment_of(RecoveryMode::gbn, WorkOpcode::rdma_write);
  BOOST_CHECK_GE(seconds(price_of_the_tail(experiment)), 4.096e-6 * 256 - seconds(round_trip(experiment)));
}

BOOST_AUTO_TEST_SUITE_END()
