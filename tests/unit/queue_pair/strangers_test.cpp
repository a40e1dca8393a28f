// Packets from outside that somebody else has made with the peer's address, while a connection works over a
// link that loses: every request completes, with the right data.
#define BOOST_TEST_DYN_LINK
#include <array>
#include <boost/test/unit_test.hpp>

#include "tests/unit/queue_pair/lossy_pair.hpp"
#include "tests/unit/queue_pair/workload.hpp"
#include "wire/aeth.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace strangers {

constexpr std::uint16_t kPeerPort = 0xC123;
constexpr std::uint16_t kOtherPort = 0xC124;
constexpr RecoveryMode kModes[] = {RecoveryMode::gbn, RecoveryMode::selective, RecoveryMode::irn,
                                   RecoveryMode::sack};
constexpr std::array kRequests{
    Operation::send_first,
    Operation::send_middle,
    Operation::send_last,
    Operation::send_last_immediate,
    Operation::send_only,
    Operation::send_only_immediate,
    Operation::send_last_invalidate,
    Operation::send_only_invalidate,
    Operation::write_first,
    Operation::write_middle,
    Operation::write_last,
    Operation::write_last_immediate,
    Operation::write_only,
    Operation::write_only_immediate,
    Operation::read_request,
    Operation::compare_swap,
    Operation::fetch_add,
    Operation::atomic_write,
};
constexpr std::array kResponses{
    Operation::acknowledge,        Operation::read_response_first, Operation::read_response_middle,
    Operation::read_response_last, Operation::read_response_only,  Operation::atomic_acknowledge,
};

QpParameters parameters_for(std::mt19937_64& chance) {
  QpParameters parameters;
  parameters.access = {true, true, true};
  parameters.path_mtu = 256;
  parameters.send_psn = parameters.receive_psn = wire::Psn(static_cast<std::uint32_t>(chance()));
  parameters.max_reads = parameters.max_destination_reads = 8;
  parameters.min_rnr_timer = 1;
  parameters.timeout = 5;
  parameters.retry_count = 7;
  parameters.rnr_retry = 7;
  return parameters;
}

// What a stranger guesses right. PSNs are always in the window: one guess in thousands is.
struct Guess {
  bool port;
  bool expected_psn;
  bool key;
};

class Forger {
 public:
  Forger(std::uint64_t seed, Side& target, wire::Service service, Operation operation, Guess guess)
      : chance_(seed), target_(target), opcode_(service, operation), guess_(guess) {}

  Packet operator()() {
    const wire::OpcodeTraits& traits = wire::traits(opcode_);
    const QueuePairSnapshot now = target_.qp.snapshot();
    Packet packet;
    wire::TransportHeaders& headers = packet.headers;
    headers.bth.opcode = opcode_;
    headers.bth.pkey = target_.qp.parameters().pkey;
    headers.bth.ack_request = random(2) == 0;
    headers.bth.psn = traits.request
                          ? now.responder.expected_psn + psn_offset()
                          : now.requester.unacknowledged_psn + random(std::max(1u, now.requester.in_flight));
    packet.payload = pattern(payload_bytes(traits), static_cast<std::uint8_t>(random(256)));
    const wire::Rkey key{guess_.key ? kKey : 0xBAD00000 + random(1000)};
    const auto length = static_cast<std::uint32_t>(packet.payload.size());
    headers.reth = {kBase + 8 * random(4096), key, traits.last ? length : 3 * length};
    if (opcode_.operation() == Operation::read_request) headers.reth.dma_length = 1 + random(2048);
    headers.atomic_eth = {kBase + 8 * random(2), key, chance_(), chance_()};
    static constexpr std::uint8_t kSyndromes[] = {0x1F, 0x60, 0x61, 0x62, 0x63, 0x2C};
    headers.aeth = {traits.first || traits.last ? kSyndromes[random(std::size(kSyndromes))] : std::uint8_t{0},
                    wire::Msn{random(1u << 24)}};
    packet.selective_acks = SelectiveAcks::outside;
    packet.source_port = guess_.port ? kPeerPort : kOtherPort;
    return packet;
  }

 private:
  std::uint32_t random(std::uint32_t below) { return static_cast<std::uint32_t>(chance_() % below); }
  std::uint32_t psn_offset() {
    // Not more often: a NAK asks for the expected packet each time, and the peer counts its retries.
    if (guess_.expected_psn && random(64) == 0) return 0;
    return 1 + random(random(2) == 0 ? 8 : 64);
  }
  std::size_t payload_bytes(const wire::OpcodeTraits& traits) {
    if (!traits.carries_payload) return 0;
    if (opcode_.operation() == Operation::atomic_write) return 8;
    return traits.last ? 1 + random(256) : 256;
  }

  std::mt19937_64 chance_;
  Side& target_;
  wire::Opcode opcode_;
  Guess guess_;
};

struct Run {
  wire::Service service;
  RecoveryMode mode;
  Operation operation;
  Guess guess;
};

// What is wrong afterwards; counts what was dropped.
std::string problem_of(const Run& run, std::uint64_t seed, Counters& dropped) {
  std::mt19937_64 chance(seed);
  const bool extended = run.service == wire::Service::xrc;
  WorkloadSetup setup{.requests = 20, .recovery = {run.mode, run.mode}};
  const QpParameters parameters = parameters_for(chance);
  LossyPair pair(seed, {.loss = 0.04}, parameters, Workload::memory_size(setup), 32, setup.recovery, {},
                 extended);
  for (std::size_t i = 0; i < 2; ++i) {
    pair.end(i).source_port = kPeerPort;
    const bool request = wire::traits(wire::Opcode(run.service, run.operation)).request;
    if (extended && request != (i == 1)) continue;
    pair.end(i).stranger = Forger(seed + i, pair.side(i), run.service, run.operation, run.guess);
  }
  Workload right(pair, 0, setup);
  WorkloadSetup none = setup;
  none.requests = extended ? 0 : setup.requests;
  Workload left(pair, 1, none);
  for (Workload* const one : {&right, &left}) {
    one->post_receives(one->receives_missing());
    one->post_all();
  }
  if (!pair.run_for(std::chrono::seconds(20))) return "still busy";
  for (std::size_t i = 0; i < 2; ++i) {
    dropped.other_port_discards += pair.side(i).counters.other_port_discards;
    dropped.held_discards += pair.side(i).counters.held_discards;
    dropped.held_packets += pair.side(i).counters.held_packets;
    dropped.held_contradictions += pair.side(i).counters.held_contradictions;
  }
  if (std::string problem = right.verdict(); !problem.empty()) return problem;
  return extended ? std::string() : left.verdict();
}

template <class Operations>
void check(const Operations& operations, Guess guess, Counters& dropped) {
  for (const wire::Service service : {wire::Service::rc, wire::Service::xrc}) {
    for (const RecoveryMode mode : kModes) {
      for (const Operation operation : operations) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
          const std::string problem = problem_of({service, mode, operation, guess}, seed, dropped);
          BOOST_CHECK_MESSAGE(problem.empty(), wire::name(wire::Opcode(service, operation))
                                                   << ", recovery " << static_cast<int>(mode) << ", seed "
                                                   << seed << ": " << problem);
        }
      }
    }
  }
}

}  // namespace strangers

BOOST_AUTO_TEST_SUITE(strangers)

// Even one that knows the R_Key, and hits the expected PSN.
BOOST_AUTO_TEST_CASE(requests_from_another_port) {
  Counters dropped;
  check(kRequests, {.port = false, .expected_psn = true, .key = true}, dropped);
  BOOST_CHECK_GT(dropped.other_port_discards, 10000u);
  BOOST_CHECK_GT(dropped.held_packets, 1000u);
}

BOOST_AUTO_TEST_CASE(responses_from_another_port) {
  Counters dropped;
  check(kResponses, {.port = false, .expected_psn = true, .key = true}, dropped);
  BOOST_CHECK_GT(dropped.other_port_discards, 10000u);
}

// Of requests from the peer's own port, those that name memory need a right key, too.
BOOST_AUTO_TEST_CASE(wrong_keys_from_the_peers_port) {
  constexpr std::array kWithKey{Operation::write_first,          Operation::write_only,
                                Operation::write_only_immediate, Operation::read_request,
                                Operation::compare_swap,         Operation::fetch_add,
                                Operation::atomic_write};
  Counters dropped;
  check(kWithKey, {.port = true, .expected_psn = false, .key = false}, dropped);
  BOOST_CHECK_GT(dropped.held_discards, 1000u);
  BOOST_CHECK_GT(dropped.held_contradictions, 1000u);
}

// A peer may change its port: a new flow label, a NAT that has forgotten it. Nothing is lost by that, not
// even if it has another one for every packet.
BOOST_AUTO_TEST_CASE(a_peers_port_may_change) {
  for (const RecoveryMode mode : kModes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      std::mt19937_64 chance(seed);
      const WorkloadSetup setup{.recovery = {mode, mode}};
      LossyPair pair(seed, {.loss = 0.02}, parameters_for(chance), Workload::memory_size(setup), 32,
                     setup.recovery);
      Workload right(pair, 0, setup);
      Workload left(pair, 1, setup);
      for (Workload* const one : {&right, &left}) {
        one->post_receives(one->receives_missing());
        one->post_all();
      }
      bool quiet = false;
      const Nanoseconds step = seed % 2 == 0 ? Nanoseconds(3'000'000) : Nanoseconds(2'000);
      for (std::uint16_t i = 0; i < 10000 && !quiet; ++i) {
        for (std::size_t end = 0; end < 2; ++end)
          pair.end(end).source_port = static_cast<std::uint16_t>(kPeerPort + (i < 40 ? i : 40));
        quiet = pair.run_for(step);
      }
      BOOST_CHECK_MESSAGE(quiet && right.verdict().empty() && left.verdict().empty(),
                          "recovery " << static_cast<int>(mode) << ", seed " << seed << ": "
                                      << right.verdict() << left.verdict());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
