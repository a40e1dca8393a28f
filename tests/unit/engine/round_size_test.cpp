// How much a round sends: more while one queue pair alone sends. And where its payload lies.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <utility>
#include <vector>

#include "device_model/engine/data_path.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace round_size {

constexpr std::uint32_t kMtu = 1024;
constexpr std::uint32_t kWhile = 4 * 1024;  // packets

// What is sent leaves, as by a socket, and is never answered.
class Outside final : public link::Uplink {
 public:
  link::Port& attach(const wire::MacAddress&, link::FrameReceiver&, std::string_view) override {
    return port_;
  }
  link::Load deliver_due(transport::Time, const link::Load&) override { return {}; }
  void release() override {}
  bool owes_release() const override { return false; }
  std::optional<transport::Time> next_due() const override { return std::nullopt; }
  bool overdue(transport::Time) const override { return false; }
  std::uint32_t count() const override { return 0; }
  bool takes_time() const override { return false; }

  // The payloads that have left since the last call.
  std::vector<const std::byte*> take_payloads() { return std::exchange(port_.payloads, {}); }

 private:
  struct End final : link::Port {
    void transmit(const wire::Frame& frame, const link::PacketOrigin&, transport::Time) override {
      payloads.push_back(frame.payload.data());
    }
    bool up(transport::Time) const override { return true; }
    std::vector<const std::byte*> payloads;
  };
  End port_;
};

// They send on without answers.
const QpLayout kUnreliable{.service = transport::QpService::uc};

struct Senders {
  Engine engine{{}};
  Outside outside;
  Device device{device_config(1), engine.data_path(), outside};
  Device peer{device_config(2), engine.data_path(), outside};
  Program program{engine, device};
  Program peers_program{engine, peer};
  TestQp one{program, 0, kUnreliable};
  TestQp other{program, 1, kUnreliable};
  TestQp peer_of_one{peers_program, 0, kUnreliable};
  TestQp peer_of_other{peers_program, 1, kUnreliable};

  Senders() {
    engine.add_uplink(outside);
    Fabric::connect(one, peer_of_one, kMtu);
    Fabric::connect(other, peer_of_other, kMtu);
  }

  void write(TestQp& from, std::uint32_t packets) {
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.remote_address = peers_program.address(0);
    head.rkey = peers_program.key.value;
    const abi::ScatterGather source[] = {program.sge(0, packets * kMtu)};
    from.post_send(head, source);
  }
  // The payloads of one round.
  std::vector<const std::byte*> round() {
    program.doorbell_set.collect();
    engine.data_path().round();
    return outside.take_payloads();
  }
  // In rounds that stay below the limit.
  void send(TestQp& from, std::uint32_t packets) {
    while (packets != 0) {
      const std::uint32_t next = std::min(packets, 100u);
      write(from, next);
      BOOST_REQUIRE_EQUAL(round().size(), next);
      BOOST_REQUIRE(from.send_cq.poll());
      packets -= next;
    }
  }
};

}  // namespace round_size

BOOST_FIXTURE_TEST_SUITE(round_size, Senders)

BOOST_AUTO_TEST_CASE(a_queue_pair_that_has_sent_alone_for_a_while_has_longer_rounds) {
  send(one, kWhile - 1);
  write(one, 500);
  BOOST_TEST(round().size() == 128u);
  BOOST_TEST(round().size() == 256u);
}

BOOST_AUTO_TEST_CASE(a_packet_of_another_queue_pair_ends_the_longer_rounds) {
  send(one, kWhile);
  write(other, 1);
  write(one, 500);
  BOOST_TEST(round().size() == 256u);
  BOOST_TEST(round().size() == 128u);
}

// It is still cached.
BOOST_AUTO_TEST_CASE(what_leaves_at_once_leaves_its_place_to_the_next_round) {
  write(one, 256);
  const auto first = round();
  const auto second = round();
  BOOST_REQUIRE_EQUAL(first.size(), 128u);
  BOOST_REQUIRE_EQUAL(second.size(), 128u);
  BOOST_TEST(first.front() == second.front());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
