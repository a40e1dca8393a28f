// What peers wait for does not wait for its queue pair's turn, and no timer takes an answer for lost whose
// turn has not come.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "device_model/engine/data_path.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace urgent {

// Connections that have much to send. A turn is 32 packets and a round 128 (of 1,024 bytes): a
// QP's turn comes every sixteenth.
constexpr std::uint32_t kBusy = 64;
constexpr int kTurn = kBusy * 32 / 128;
constexpr std::uint32_t kMessage = 256 * 1024;
// Turns come more seldom than the local ACK timer runs out.
constexpr transport::Nanoseconds kRound{10'000'000};

// Many queue pairs with long writes under way, and one connection more.
struct Crowd : Fabric {
  std::vector<std::unique_ptr<TestQp>> ends;
  TestQp qp0{program0, 2 * kBusy, {}};
  TestQp qp1{program1, 2 * kBusy + 1, {}};

  Crowd() {
    connect(qp0, qp1);
    for (std::uint32_t i = 0; i < kBusy; ++i) {
      ends.push_back(std::make_unique<TestQp>(program0, 2 * i, QpLayout{}));
      ends.push_back(std::make_unique<TestQp>(program1, 2 * i + 1, QpLayout{}));
      connect(*ends[2 * i], *ends[2 * i + 1]);
    }
  }

  abi::SendWqe head(abi::SendOpcode opcode) const {
    abi::SendWqe head = wqe(opcode);
    head.remote_address = program1.address(0);
    head.rkey = program1.key.value;
    return head;
  }

  void begin_long_writes() {
    const abi::ScatterGather from[] = {program0.sge(0, kMessage)};
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      ends[i]->post_send(head(abi::SendOpcode::rdma_write), from);
    }
  }

  void round() {
    program0.doorbell_set.collect();
    program1.doorbell_set.collect();
    engine.data_path().set_now(engine.data_path().now() + kRound);
    engine.data_path().round();
  }

  // Rounds until `queue_pair` has a completion.
  int rounds_until_completion(TestQp& queue_pair) {
    for (int rounds = 1; rounds < 1000; ++rounds) {
      round();
      const auto entry = queue_pair.send_cq.poll();
      if (!entry) continue;
      BOOST_TEST(entry->status == 0);
      return rounds;
    }
    BOOST_FAIL("no completion");
    return 0;
  }
};

}  // namespace urgent

BOOST_FIXTURE_TEST_SUITE(urgent, Crowd)

// Its request waits for its turn behind those of the crowd; the acknowledgement takes the next round.
BOOST_AUTO_TEST_CASE(an_acknowledgement_does_not_wait_for_a_turn) {
  begin_long_writes();
  round();
  const abi::ScatterGather from[] = {program0.sge(0, 64)};
  qp0.post_send(head(abi::SendOpcode::rdma_write), from);
  BOOST_TEST(rounds_until_completion(qp0) <= kTurn + 3);
  run();
}

// A READ's response waits for its turn, which comes much later than the READ's local ACK timeout when rounds
// take long. That is no loss.
BOOST_AUTO_TEST_CASE(a_timer_does_not_run_while_the_answer_waits_for_its_turn) {
  begin_long_writes();
  round();
  const abi::ScatterGather from[] = {program0.sge(0, 64)};
  qp0.post_send(head(abi::SendOpcode::rdma_read), from);
  BOOST_TEST(rounds_until_completion(qp0) > kTurn + 3);
  BOOST_TEST(device0.counters().retransmitted_packets == 0u);
  BOOST_TEST(device0.counters().local_ack_timeout == 0u);
  run();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
