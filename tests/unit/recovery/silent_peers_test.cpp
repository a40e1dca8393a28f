// Peers that give no selective acks. Such a peer sends one NAK for a hole, and keeps silent until that is
// filled: what is lost of the NAK, of the repeat or of its answer must be found by asking for the oldest
// packet.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <optional>

#include "tests/unit/recovery/goodput.hpp"
#include "tests/unit/recovery/names.hpp"
#include "wire/aeth.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;
using namespace std::chrono_literals;

namespace silent_peers {

constexpr std::array kNamedByNaks{WorkOpcode::rdma_write, WorkOpcode::send};

struct Kind {
  Peer peer;
  RecoveryMode asks;
  const char* words;
};
// The responder keeps what arrives out of order, and reports nothing.
constexpr std::array kSilent{Kind{Peer::same_process, RecoveryMode::selective, "selective"},
                             Kind{Peer::other_host, RecoveryMode::selective, "selective, a stranger"},
                             Kind{Peer::other_host, RecoveryMode::sack, "sack, a stranger"}};

enum class Lost : std::uint8_t { nothing_more, nak, repeat, answer };

constexpr std::array kLost{Lost::nothing_more, Lost::nak, Lost::repeat, Lost::answer};
constexpr std::array kWords{"the hole", "its NAK", "its repeat", "the repeat's answer"};

// Loses one packet of a stream, which goes on, and one thing of its repair.
class OneHole final : public Observer {
 public:
  OneHole(Lost lost, wire::Psn hole) : lost_(lost), hole_(hole) {}

  bool loses_request(const wire::TransportHeaders& headers) {
    if (headers.bth.psn != hole_) return false;
    ++transmissions_;
    return transmissions_ == 1 || (transmissions_ == 2 && lost_ == Lost::repeat);
  }
  bool loses_answer(const wire::TransportHeaders& headers) {
    const bool nak = wire::kind(headers.aeth.syndrome) == wire::AethKind::nak;
    if (nak && lost_ == Lost::nak && !once_) return once_ = true;
    if (!filled_ || lost_ != Lost::answer || once_) return false;
    return once_ = true;
  }

  void arrived(std::size_t at, const Flight& flight, Nanoseconds now) override {
    const wire::Psn psn = flight.headers.bth.psn;
    if (at == 1 && psn == hole_) filled_ = true;
    if (at == 1 && before(hole_, psn) && !noticed_) noticed_ = now;
    const bool ack = wire::kind(flight.headers.aeth.syndrome) == wire::AethKind::ack;
    if (at == 0 && ack && !before(psn, hole_) && !known_) known_ = now;
  }

  // From the first packet that has arrived behind the hole until the sender knows that it is filled.
  Nanoseconds price() const { return known_.value_or(kNever) - noticed_.value_or(Nanoseconds{0}); }
  bool is_known() const { return known_.has_value(); }

 private:
  const Lost lost_;
  const wire::Psn hole_;
  std::uint32_t transmissions_ = 0;
  bool once_ = false;
  bool filled_ = false;
  std::optional<Nanoseconds> noticed_;
  std::optional<Nanoseconds> known_;
};

struct Repair {
  Nanoseconds price;
  std::uint64_t timeouts;
};

Repair repair(const Experiment& experiment, Lost lost) {
  LaboratorySettings settings = laboratory_settings(experiment);
  settings.recovery[1].mode = RecoveryMode::selective;
  OneHole hole(lost, wire::Psn(5000));
  settings.links[0].drop = [&](const wire::TransportHeaders& headers, std::uint64_t, Nanoseconds) {
    return hole.loses_request(headers);
  };
  settings.links[1].drop = [&](const wire::TransportHeaders& headers, std::uint64_t, Nanoseconds) {
    return hole.loses_answer(headers);
  };
  Laboratory laboratory(settings);
  laboratory.observe(&hole);
  laboratory.post(0, experiment.operation, kGoodputMessage, 100);
  BOOST_REQUIRE(laboratory.run([&] { return hole.is_known(); }, 1s));
  return {hole.price(), laboratory.counters(0).local_ack_timeout};
}

}  // namespace silent_peers

BOOST_AUTO_TEST_SUITE(silent_peers)

// The sender has much to send all the time, so no silence tells of the loss.
BOOST_AUTO_TEST_CASE(a_hole_costs_a_round_trip_and_whatever_else_is_lost_three_more) {
  for (const Kind& kind : kSilent) {
    for (const WorkOpcode operation : kNamedByNaks) {
      for (const std::uint32_t mtu : {1024u, 4096u}) {
        for (const int delay : {5, 50}) {
          for (const Lost lost : kLost) {
            Experiment experiment;
            experiment.mode = kind.asks;
            experiment.peer = kind.peer;
            experiment.operation = operation;
            experiment.path_mtu = mtu;
            experiment.delay = std::chrono::microseconds(delay);
            BOOST_TEST_CONTEXT(kind.words << ' ' << name(operation) << " MTU " << mtu << ", " << delay
                                          << " us, lost: " << kWords[static_cast<std::size_t>(lost)]) {
              const Repair found = repair(experiment, lost);
              // NAK, repeat, answer; a packet may have to wait for the one before it.
              const Nanoseconds trip = round_trip(experiment) + 3 * data_slot(experiment);
              // The next packet that asks for an answer, two round trips of patience, and one to ask.
              const Nanoseconds asked = 32 * data_slot(experiment) + 3 * trip;
              const Nanoseconds most = trip * 3 / 2 + (lost == Lost::nothing_more ? Nanoseconds{0} : asked);
              BOOST_CHECK_LE(found.price.count(), most.count());
              BOOST_CHECK_EQUAL(found.timeouts, 0u);
            }
          }
        }
      }
    }
  }
}

// The bound of a sender that fills one hole in each round trip, of which a WRITE or SEND reaches nine tenths
// or more. The holes in a READ's responses are all known.
BOOST_AUTO_TEST_CASE(no_hole_takes_more_than_a_round_trip) {
  for (const WorkOpcode operation : kOperations) {
    for (const std::uint32_t mtu : {1024u, 4096u}) {
      for (const int delay : {5, 50}) {
        if (delay > 5 && operation != WorkOpcode::rdma_write) continue;
        for (const double loss : {0.001, 0.01, 0.03, 0.1}) {
          Experiment experiment;
          experiment.mode = RecoveryMode::selective;
          experiment.operation = operation;
          experiment.path_mtu = mtu;
          experiment.delay = std::chrono::microseconds(delay);
          experiment.loss.loss = loss;
          const double bound = operation == WorkOpcode::rdma_read ? 1.0 : one_hole_a_round_trip(experiment);
          // The window of 4,096-byte packets takes 5.5 ms to fill.
          const Goodput goodput = measure_goodput(experiment, 30ms);
          BOOST_TEST_CONTEXT(name(operation) << " MTU " << mtu << ", " << delay << " us, loss " << loss
                                             << ", bound " << bound) {
            BOOST_CHECK(!goodput.gave_up);
            BOOST_CHECK_GE(share(goodput.bits_per_second, line_rate(experiment), experiment), 0.9 * bound);
          }
        }
      }
    }
  }
}

// Runs of losses are counted in packets. Where little is sent, and less answered, one would take all retries.
BOOST_AUTO_TEST_CASE(no_connection_ends_for_runs_of_losses) {
  for (const Peer peer : {Peer::same_process, Peer::other_host, Peer::soft_roce}) {
    for (const RecoveryMode mode : {RecoveryMode::selective, RecoveryMode::sack}) {
      for (const WorkOpcode operation : kNamedByNaks) {
        for (const std::uint32_t mtu : {1024u, 4096u}) {
          for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
            Experiment experiment;
            experiment.peer = peer;
            experiment.mode = mode;
            experiment.operation = operation;
            experiment.path_mtu = mtu;
            experiment.loss = {.loss = 0.1, .mean_burst = 8};
            experiment.seed = seed;
            LaboratorySettings settings = laboratory_settings(experiment);
            settings.retry_count = 2;  // far fewer than the usual 7, of which all are spare then
            Laboratory laboratory(settings);
            constexpr std::uint32_t kMessages = 60;
            laboratory.post(0, operation, 1u << 16, kMessages);
            BOOST_TEST_CONTEXT("peer " << static_cast<int>(peer) << ' ' << name(mode) << ' '
                                       << name(operation) << " MTU " << mtu << ", seed " << seed) {
              BOOST_CHECK(laboratory.run_until_complete(kMessages, 20s));
              BOOST_CHECK_EQUAL(laboratory.completed(0), kMessages);
            }
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
