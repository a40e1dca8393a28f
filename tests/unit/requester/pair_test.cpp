// Requests of every kind between two whole queue pairs over a bad link: every byte arrives, atomics happen
// once, completions come once and in order.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/requester/lossy_pair.hpp"

namespace urnic::transport::requester_test {
namespace {

using namespace bench;

constexpr std::uint32_t kRequests = 100;
constexpr std::uint64_t kStride = 16384;
constexpr std::uint64_t kReceives = kEndBase + kRequests * kStride;  // behind the requests' own places
constexpr std::uint64_t kCounter = kEndBase + kEndSize - 4096;       // what atomics work on

std::uint64_t place(std::uint32_t index) { return kEndBase + index * kStride; }
std::uint8_t seed_of(std::uint32_t index) { return static_cast<std::uint8_t>(index * 37 + 1); }

struct Plan {
  WorkOpcode opcode;
  std::uint32_t length;
  bool signaled;
};

// Traffic from left to right, planned by a seed and checked against the plan.
class Traffic {
 public:
  Traffic(LossyPair& pair, std::uint64_t seed) : pair_(pair), random_(seed) {
    for (std::uint32_t index = 0; index < kRequests; ++index) add(index);
  }

  void check() {
    check_completions();
    std::uint32_t receive = 0;
    std::uint64_t counter = 0;
    for (std::uint32_t index = 0; index < kRequests; ++index) {
      const Plan& plan = plans_[index];
      BOOST_TEST_CONTEXT("request " << index << " length " << plan.length) {
        switch (plan.opcode) {
          case WorkOpcode::rdma_read:
            check_bytes(pair_.left, place(index), plan.length, index);
            break;
          case WorkOpcode::atomic_fetch_add:
            BOOST_TEST(pair_.left.memory.word(place(index)) == counter);
            counter += index + 1;
            break;
          case WorkOpcode::rdma_write_with_immediate:
            check_receive(receive++, index, true);
            [[fallthrough]];
          case WorkOpcode::rdma_write:
            check_bytes(pair_.right, place(index), plan.length, index);
            break;
          default:
            check_bytes(pair_.right, kReceives + receive * kStride, plan.length, index);
            check_receive(receive++, index, plan.opcode == WorkOpcode::send_with_immediate);
        }
      }
    }
    BOOST_TEST(pair_.right.memory.word(kCounter) == counter);
    BOOST_TEST(pair_.right.host.completions.size() == receive);
  }

 private:
  void add(std::uint32_t index) {
    constexpr WorkOpcode kOpcodes[] = {WorkOpcode::rdma_write, WorkOpcode::rdma_write_with_immediate,
                                       WorkOpcode::send,       WorkOpcode::send_with_immediate,
                                       WorkOpcode::rdma_read,  WorkOpcode::atomic_fetch_add};
    Plan plan{kOpcodes[random_() % std::size(kOpcodes)], static_cast<std::uint32_t>(random_() % 6000),
              random_() % 4 != 0};
    if (plan.opcode == WorkOpcode::atomic_fetch_add) plan.length = 8;
    if (random_() % 8 == 0 && plan.length != 8) plan.length = 0;
    plans_.push_back(plan);

    SendRequest request;
    request.opcode = plan.opcode;
    request.signaled = plan.signaled;
    request.fence = random_() % 8 == 0;
    const bool atomic = plan.opcode == WorkOpcode::atomic_fetch_add;
    request.remote_address = atomic ? kCounter : place(index);
    request.rkey = wire::Rkey{kEndKey};
    request.compare_add = index + 1;
    request.immediate = wire::Immediate{{static_cast<std::uint8_t>(index), 1, 2, 3}};
    const std::uint32_t cut = plan.length == 0 ? 0 : static_cast<std::uint32_t>(random_() % plan.length);
    const Sge sges[] = {{place(index), cut, Lkey{kEndKey}},
                        {place(index) + cut, plan.length - cut, Lkey{kEndKey}}};
    request.sges = sges;
    End& source = plan.opcode == WorkOpcode::rdma_read ? pair_.right : pair_.left;
    if (!atomic) source.memory.fill_pattern(place(index), plan.length, seed_of(index));
    pair_.left.send_queue.post(request);
    if (consumes(plan.opcode)) post_receive_later();
  }

  static bool consumes(WorkOpcode opcode) {
    return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate ||
           opcode == WorkOpcode::rdma_write_with_immediate;
  }

  // Some receives come too late, so that the sender is told to wait.
  void post_receive_later() {
    const std::uint64_t address = kReceives + receives_++ * kStride;
    pair_.at(Time{} + std::chrono::microseconds(receives_ * 5), [this, address] {
      pair_.right.receive_queue.post({{address, 8192, Lkey{kEndKey}}});
    });
  }

  void check_completions() {
    auto& completions = pair_.left.host.completions;
    for (std::uint32_t index = 0; index < kRequests; ++index) {
      if (!plans_[index].signaled) continue;
      BOOST_REQUIRE(!completions.empty());
      BOOST_TEST(completions.front().wqe_index == index);
      BOOST_TEST(static_cast<int>(completions.front().status) == static_cast<int>(WorkStatus::success));
      completions.pop_front();
    }
    BOOST_TEST(completions.empty());
  }

  void check_receive(std::uint32_t receive, std::uint32_t index, bool with_immediate) {
    BOOST_REQUIRE(receive < pair_.right.host.completions.size());
    const Completion& completion = pair_.right.host.completions[receive];
    BOOST_TEST(completion.wqe_index == receive);
    BOOST_TEST(static_cast<int>(completion.status) == static_cast<int>(WorkStatus::success));
    BOOST_TEST(completion.byte_length == plans_[index].length);
    BOOST_TEST(completion.with_immediate == with_immediate);
    if (with_immediate) BOOST_TEST(completion.immediate.bytes[0] == static_cast<std::uint8_t>(index));
  }

  static void check_bytes(const End& end, std::uint64_t address, std::uint32_t length, std::uint32_t index) {
    BOOST_TEST((end.memory.bytes(address, length) == pattern(length, seed_of(index))));
  }

  LossyPair& pair_;
  std::mt19937_64 random_;
  std::vector<Plan> plans_;
  std::uint32_t receives_ = 0;
};

struct Totals {
  std::uint64_t resent = 0;
  std::uint64_t sequence_naks = 0;
  std::uint64_t implied_naks = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t rnr_naks = 0;
};

Totals run_many(const LinkFaults& faults, std::uint64_t seeds) {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const std::uint32_t mtu : {256u, 1024u, 4096u}) {
      BOOST_TEST_CONTEXT("seed " << seed << " mtu " << mtu) {
        LossyPair pair({.seed = seed, .faults = faults, .path_mtu = mtu});
        Traffic traffic(pair, seed * 1000 + mtu);
        BOOST_REQUIRE(pair.run());
        traffic.check();
        totals.resent += pair.left.counters.retransmitted_packets;
        totals.sequence_naks += pair.left.counters.packet_sequence_error;
        totals.implied_naks += pair.left.counters.implied_nak_sequence_error;
        totals.timeouts += pair.left.counters.local_ack_timeout;
        totals.rnr_naks += pair.left.counters.rnr_nak_retry;
      }
    }
  }
  return totals;
}

BOOST_AUTO_TEST_SUITE(pair)

BOOST_AUTO_TEST_CASE(good_link_needs_no_retransmission_but_for_receivers_not_ready) {
  const Totals totals = run_many({}, 5);
  BOOST_TEST(totals.sequence_naks == 0u);
  BOOST_TEST(totals.implied_naks == 0u);
  BOOST_TEST(totals.timeouts == 0u);
  BOOST_TEST(totals.rnr_naks > 0u);
}

BOOST_AUTO_TEST_CASE(one_percent_loss) {
  const Totals totals = run_many({.lose = 10}, 20);
  BOOST_TEST(totals.resent > 0u);
  BOOST_TEST(totals.sequence_naks > 0u);
  BOOST_TEST(totals.implied_naks > 0u);
  BOOST_TEST(totals.timeouts > 0u);
}

BOOST_AUTO_TEST_CASE(ten_percent_loss) { BOOST_TEST(run_many({.lose = 100}, 20).resent > 0u); }

BOOST_AUTO_TEST_CASE(duplicates) {
  const Totals totals = run_many({.duplicate = 200}, 10);
  BOOST_TEST(totals.timeouts == 0u);
}

BOOST_AUTO_TEST_CASE(packets_overtake_each_other) { BOOST_TEST(run_many({.delay = 50}, 10).resent > 0u); }

BOOST_AUTO_TEST_CASE(everything_at_once) {
  BOOST_TEST(run_many({.lose = 50, .duplicate = 50, .delay = 50}, 20).resent > 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
