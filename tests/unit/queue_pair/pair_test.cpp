// Two queue pairs over links of all kinds: whatever the link does, every byte arrives, in order, once.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string_view>

#include "tests/unit/queue_pair/lossy_pair.hpp"
#include "tests/unit/queue_pair/workload.hpp"
#include "tests/unit/sanitized.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;

namespace {

constexpr Nanoseconds kEnough = std::chrono::seconds(30);

QpParameters random_parameters(std::mt19937_64& chance) {
  QpParameters parameters;
  parameters.access = {true, true, true};
  parameters.path_mtu = 256u << (chance() % 5);
  // Now and then the PSNs wrap around in the middle.
  parameters.send_psn =
      wire::Psn(static_cast<std::uint32_t>(chance() % 2 == 0 ? chance() : wire::Psn::kMask - chance() % 64));
  parameters.receive_psn = parameters.send_psn;
  parameters.max_reads = static_cast<std::uint8_t>(1 + chance() % 16);
  parameters.max_destination_reads = parameters.max_reads;
  parameters.min_rnr_timer = 1;
  parameters.timeout = 5;  // 131 us
  parameters.retry_count = 7;
  parameters.rnr_retry = 7;
  return parameters;
}

constexpr RecoveryMode kModes[] = {RecoveryMode::gbn, RecoveryMode::selective, RecoveryMode::irn,
                                   RecoveryMode::sack};

struct Outcome {
  std::string problem;
  std::uint64_t retransmitted = 0;
  std::uint64_t sequence_naks = 0;
  std::uint64_t implied_naks = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t rnr_naks = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t held = 0;
  std::uint64_t selective_acks = 0;
  std::uint64_t dropped_as_corrupt = 0;

  void add(const Counters& counters) {
    retransmitted += counters.retransmitted_packets;
    sequence_naks += counters.packet_sequence_error;
    implied_naks += counters.implied_nak_sequence_error;
    timeouts += counters.local_ack_timeout;
    rnr_naks += counters.rnr_nak_retry;
    duplicates += counters.duplicate_request;
    held += counters.held_packets;
    selective_acks += counters.selective_acks_sent;
  }
  void add(const Outcome& other) {
    retransmitted += other.retransmitted;
    sequence_naks += other.sequence_naks;
    implied_naks += other.implied_naks;
    timeouts += other.timeouts;
    rnr_naks += other.rnr_naks;
    duplicates += other.duplicates;
    held += other.held;
    selective_acks += other.selective_acks;
    dropped_as_corrupt += other.dropped_as_corrupt;
  }
};

Outcome run_once(std::uint64_t seed, const link::LinkSettings& link, WorkloadSetup setup, Nanoseconds batch) {
  std::mt19937_64 chance(seed);
  const QpParameters parameters = random_parameters(chance);
  setup.path_mtu = parameters.path_mtu;
  LossyPair pair(seed, link, parameters, Workload::memory_size(setup),
                 4 + static_cast<std::uint32_t>(chance() % 60), setup.recovery, batch);
  Workload right(pair, 0, setup);
  Workload left(pair, 1, setup);
  for (Workload* one : {&right, &left}) {
    one->post_receives(setup.late_receives ? one->receives_missing() / 2 : one->receives_missing());
    one->post_all();
  }
  bool quiet = pair.run_for(setup.late_receives ? std::chrono::milliseconds(1) : kEnough);
  while (setup.late_receives && (right.receives_missing() > 0 || left.receives_missing() > 0)) {
    right.post_receives(3);
    left.post_receives(3);
    quiet = pair.run_for(std::chrono::milliseconds(1));
  }
  if (!quiet) quiet = pair.run_for(kEnough);
  Outcome outcome;
  outcome.problem = quiet ? right.verdict() : "still busy after 30 s";
  if (outcome.problem.empty()) outcome.problem = left.verdict();
  outcome.dropped_as_corrupt = pair.dropped_as_corrupt();
  for (std::size_t which = 0; which < 2; ++which) {
    const Side& side = pair.side(which);
    if (side.counters.bad_responses != 0) outcome.problem = "bad response";
    if (outcome.problem.empty() && side.reorder_pool.in_use() != 0) {
      outcome.problem = "slots of held packets are still in use";
    }
    outcome.add(side.counters);
  }
  return outcome;
}

// The seed after `--seed` on the command line, to look at one run only.
std::optional<std::uint64_t> only_seed() {
  const auto& suite = boost::unit_test::framework::master_test_suite();
  for (int i = 1; i + 1 < suite.argc; ++i) {
    if (std::string_view(suite.argv[i]) == "--seed") return std::strtoull(suite.argv[i + 1], nullptr, 0);
  }
  return std::nullopt;
}

// Of `runs`; with a sanitizer every fourth is run.
Outcome run_many(std::uint64_t first_seed, std::uint64_t runs, const link::LinkSettings& link,
                 const WorkloadSetup& setup = {}, Nanoseconds batch = {}) {
  Outcome all;
  if (const auto seed = only_seed()) first_seed = *seed, runs = 1;
  for (std::uint64_t seed = first_seed; seed < first_seed + runs; seed += kSanitized ? 4 : 1) {
    const Outcome outcome = run_once(seed, link, setup, batch);
    BOOST_REQUIRE_MESSAGE(outcome.problem.empty(), "seed " << seed << ": " << outcome.problem);
    all.add(outcome);
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pair)

BOOST_AUTO_TEST_CASE(a_perfect_link_needs_no_packet_twice) {
  const Outcome all = run_many(1, 300, {});
  BOOST_CHECK_EQUAL(all.retransmitted, 0u);
  BOOST_CHECK_EQUAL(all.duplicates, 0u);
  BOOST_CHECK_EQUAL(all.timeouts, 0u);
}

BOOST_AUTO_TEST_CASE(a_link_that_loses) {
  const Outcome all = run_many(1000, 800, {.loss = 0.05});
  BOOST_CHECK_GT(all.retransmitted, 0u);
  BOOST_CHECK_GT(all.sequence_naks, 0u);
  BOOST_CHECK_GT(all.implied_naks, 0u);
  BOOST_CHECK_GT(all.timeouts, 0u);
}

BOOST_AUTO_TEST_CASE(a_link_that_duplicates) {
  const Outcome all = run_many(2000, 300, {.duplicate = 0.3});
  BOOST_CHECK_GT(all.duplicates, 0u);
}

BOOST_AUTO_TEST_CASE(a_link_that_reorders) { run_many(3000, 300, {.reorder = 0.2}); }

// A damaged packet is as good as a lost one, in every recovery.
BOOST_AUTO_TEST_CASE(a_link_that_flips_bits) {
  std::uint64_t seed = 3500;
  for (const RecoveryMode mode : kModes) {
    BOOST_TEST_CONTEXT("mode " << static_cast<int>(mode)) {
      const Outcome all = run_many(seed, 100, {.corrupt = 0.05}, {.recovery = {mode, mode}});
      BOOST_CHECK_GT(all.dropped_as_corrupt, 0u);
      BOOST_CHECK_GT(all.retransmitted, 0u);
      seed += 100;
    }
  }
}

BOOST_AUTO_TEST_CASE(a_link_that_does_everything) {
  run_many(4000, 800, {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05});
}

BOOST_AUTO_TEST_CASE(batches_of_packets) {
  run_many(5000, 800, {.loss = 0.05, .duplicate = 0.1, .reorder = 0.1}, {}, std::chrono::microseconds(10));
}

BOOST_AUTO_TEST_CASE(receives_that_come_late) {
  const Outcome all =
      run_many(6000, 500, {.loss = 0.02, .duplicate = 0.02, .reorder = 0.02}, {.late_receives = true});
  BOOST_CHECK_GT(all.rnr_naks, 0u);
}

BOOST_AUTO_TEST_CASE(long_messages) {
  run_many(7000, 100, {.loss = 0.01, .reorder = 0.01}, {.most_packets = 60, .requests = 20});
}

// Whatever the two ends are set to.
BOOST_AUTO_TEST_CASE(recoveries_of_all_kinds_at_both_ends) {
  std::uint64_t seed = 8000;
  for (const RecoveryMode one : kModes) {
    for (const RecoveryMode other : kModes) {
      BOOST_TEST_CONTEXT("modes " << static_cast<int>(one) << " and " << static_cast<int>(other)) {
        const WorkloadSetup setup{.recovery = {one, other}};
        const Outcome all = run_many(seed, 60, {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05}, setup);
        BOOST_CHECK_EQUAL(all.held > 0, keeps_out_of_order(one) || keeps_out_of_order(other));
        const bool reported = (keeps_out_of_order(one) && reads_selective_acks(other)) ||
                              (keeps_out_of_order(other) && reads_selective_acks(one));
        BOOST_CHECK_EQUAL(all.selective_acks > 0, reported);
        WorkloadSetup late = setup;
        late.late_receives = true;
        run_many(seed + 100, 30, {.loss = 0.02, .duplicate = 0.05, .reorder = 0.1}, late,
                 std::chrono::microseconds(10));
        seed += 1000;
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
