// Peers beyond a network: another urnic, and Linux's Soft-RoCE. Every request completes, Soft-RoCE is never
// asked for what it has forgotten, and only another urnic gets selective acks.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/recovery/goodput.hpp"
#include "tests/unit/recovery/names.hpp"
#include "wire/opcode.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;
using namespace std::chrono_literals;

namespace {

constexpr std::array kPeers{Peer::same_process, Peer::other_host, Peer::soft_roce};

std::string_view name(Peer peer) {
  constexpr std::array<std::string_view, 3> kNames{"same process", "other host", "Soft-RoCE"};
  return kNames[static_cast<std::size_t>(peer)];
}

void check(Peer peer, RecoveryMode mode, WorkOpcode operation, double loss, std::uint64_t seed) {
  constexpr std::uint32_t kMessages = 60;
  LinkSettings link;
  link.impairments.loss = loss;
  LaboratorySettings settings = symmetric(mode, link);
  settings.peer = peer;
  settings.seed = seed;
  Laboratory laboratory(settings);
  laboratory.post(0, operation, operation == WorkOpcode::atomic_fetch_add ? 8 : 1u << 16, kMessages);
  BOOST_CHECK(laboratory.run_until_complete(kMessages, std::chrono::seconds(10)));
  BOOST_CHECK_EQUAL(laboratory.completed(0), kMessages);
  BOOST_CHECK_EQUAL(laboratory.received(1), operation == WorkOpcode::send ? kMessages : 0u);
  BOOST_CHECK_EQUAL(laboratory.counters(0).bad_responses, 0u);
  if (const SoftRoceResponder* const linux = laboratory.soft_roce()) {
    BOOST_CHECK_EQUAL(linux->forgotten_reads(), 0u);
    BOOST_CHECK(!linux->was_harmed());
    BOOST_CHECK_LE(linux->unknown_opcodes(), 11u);  // at losses 1, 2, 4, ... 1024
  }
}

// 200 messages as perftest sends them: `timeout` 14 is 67 ms.
void check_slow_guest(const Processor& processor, RecoveryMode mode, WorkOpcode operation, double loss,
                      std::uint64_t seed) {
  constexpr std::uint32_t kMessages = 200;
  constexpr std::uint32_t kLength = 1u << 16;
  constexpr std::uint32_t kMtu = 4096;
  constexpr std::uint32_t kPackets = kMessages * (kLength / kMtu);
  LinkSettings link;
  link.impairments.loss = loss;
  LaboratorySettings settings = symmetric(mode, link);
  settings.peer = Peer::soft_roce;
  settings.processor = processor;
  settings.path_mtu = kMtu;
  settings.timeout = 14;
  settings.seed = seed;
  Laboratory laboratory(settings);
  laboratory.post(0, operation, operation == WorkOpcode::atomic_fetch_add ? 8 : kLength, kMessages);
  BOOST_CHECK(laboratory.run_until_complete(kMessages, 60s));
  BOOST_CHECK_EQUAL(laboratory.completed(0), kMessages);
  const SoftRoceResponder& guest = *laboratory.soft_roce();
  if (operation == WorkOpcode::rdma_read) {
    // A READ that was dropped behind a hole is asked for again as a whole by those that go back N.
    const std::uint32_t most = mode == RecoveryMode::gbn ? 3 * kPackets : kPackets * 3 / 2;
    BOOST_CHECK_LE(guest.packets_sent(), most);
  } else if (operation != WorkOpcode::atomic_fetch_add) {
    BOOST_CHECK_LE(guest.requests_received(), 6 * kPackets);
  }
}

double goodput_of(Peer peer, RecoveryMode mode, WorkOpcode operation, double loss, std::uint32_t mtu) {
  Experiment experiment;
  experiment.peer = peer;
  experiment.mode = mode;
  experiment.operation = operation;
  experiment.path_mtu = mtu;
  experiment.loss.loss = loss;
  experiment.bits_per_second = 10e9;
  const Goodput goodput = measure_goodput(experiment, std::chrono::milliseconds(100));
  BOOST_CHECK(!goodput.gave_up);
  return share(goodput.bits_per_second, line_rate(experiment), experiment);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strangers)

BOOST_AUTO_TEST_CASE(everything_arrives_at_every_peer_with_every_recovery_and_loss) {
  for (const Peer peer : kPeers) {
    for (const RecoveryMode mode : kModes) {
      for (const WorkOpcode operation : kOperationsWithAtomic) {
        for (const double loss : {0.0, 0.01, 0.03, 0.1}) {
          for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
            if (loss > 0.05 && mode == RecoveryMode::gbn) continue;  // its retries may not suffice
            BOOST_TEST_CONTEXT(name(peer) << ' ' << name(mode) << ' ' << name(operation) << ", loss " << loss
                                          << ", seed " << seed) {
              check(peer, mode, operation, loss, seed);
            }
          }
        }
      }
    }
  }
}

// An emulated guest works in bursts, with pauses longer than a round trip. It takes and drops every packet
// behind a hole, and it answers each repeat of a READ whole: what it is sent in vain delays all that follows.
BOOST_AUTO_TEST_CASE(a_slow_guest_gets_little_in_vain) {
  constexpr std::array kProcessors{Processor{8, 1ms}, Processor{32, 5ms}, Processor{64, 15ms}};
  for (const Processor& processor : kProcessors) {
    for (const RecoveryMode mode : kModes) {
      for (const WorkOpcode operation : kOperationsWithAtomic) {
        for (const double loss : {0.0, 0.01, 0.03}) {
          for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
            BOOST_TEST_CONTEXT(name(mode) << ' ' << name(operation) << ", bursts of " << processor.burst
                                          << ", loss " << loss << ", seed " << seed) {
              check_slow_guest(processor, mode, operation, loss, seed);
            }
          }
        }
      }
    }
  }
}

// What is kept and used of the packets that arrive early makes the difference between the receivers.
BOOST_AUTO_TEST_CASE(goodput_by_receiver) {
  for (const WorkOpcode operation : kOperations) {
    for (const RecoveryMode mode : {RecoveryMode::gbn, RecoveryMode::sack}) {
      for (const double loss : {0.01, 0.03}) {
        for (const std::uint32_t mtu : {1024u, 4096u}) {
          const double here = goodput_of(Peer::same_process, mode, operation, loss, mtu);
          const double there = goodput_of(Peer::other_host, mode, operation, loss, mtu);
          const double linux = goodput_of(Peer::soft_roce, mode, operation, loss, mtu);
          BOOST_TEST_MESSAGE("goodput " << name(operation) << ' ' << name(mode) << " loss " << loss << " MTU "
                                        << mtu << ": same process " << here << ", other host " << there
                                        << ", Soft-RoCE " << linux);
          if (mode != RecoveryMode::sack) continue;
          BOOST_CHECK_GE(here, 0.97);
          BOOST_CHECK_GE(there, 0.97);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
