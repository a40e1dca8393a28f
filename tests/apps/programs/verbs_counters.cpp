// Counters of a steering rule (ibv_create_counters(3)): frames that one device's raw packet queue pair sends,
// and a rule of the other's counts.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "tests/apps/programs/device.hpp"
#include "tests/apps/programs/memory.hpp"

namespace urnic::apps {
namespace {

constexpr std::uint32_t kFrames = 5;
constexpr std::uint32_t kBytes = 100;

// A raw packet queue pair that may send, with its CQ.
struct RawQueuePair {
  explicit RawQueuePair(const Device& device) : cq(ibv_create_cq(device.context(), 16, nullptr, nullptr, 0)) {
    BOOST_REQUIRE(cq != nullptr);
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = cq;
    attributes.cap = {16, 16, 1, 1, 0};
    attributes.qp_type = IBV_QPT_RAW_PACKET;
    qp = ibv_create_qp(device.pd(), &attributes);
    BOOST_REQUIRE(qp != nullptr);
    ibv_qp_attr next{};
    next.qp_state = IBV_QPS_INIT;
    next.port_num = 1;
    BOOST_REQUIRE(ibv_modify_qp(qp, &next, IBV_QP_STATE | IBV_QP_PORT) == 0);
    for (const ibv_qp_state state : {IBV_QPS_RTR, IBV_QPS_RTS}) {
      next.qp_state = state;
      BOOST_REQUIRE(ibv_modify_qp(qp, &next, IBV_QP_STATE) == 0);
    }
  }
  ~RawQueuePair() {
    ibv_destroy_qp(qp);
    ibv_destroy_cq(cq);
  }
  RawQueuePair(const RawQueuePair&) = delete;
  RawQueuePair& operator=(const RawQueuePair&) = delete;

  void wait() const {
    ibv_wc completion{};
    int found = 0;
    while ((found = ibv_poll_cq(cq, 1, &completion)) == 0) continue;
    BOOST_REQUIRE(found == 1);
    BOOST_REQUIRE_EQUAL(completion.status, IBV_WC_SUCCESS);
  }

  ibv_cq* cq;
  ibv_qp* qp;
};

// A rule for all frames with the multicast address that the test sends to: ibv_flow_attr, and behind it,
// without a gap, what it is made of.
class CountingRule {
 public:
  explicit CountingRule(ibv_counters* counters) {
    ibv_flow_attr attributes{};
    attributes.type = IBV_FLOW_ATTR_NORMAL;
    attributes.size = kLength;
    attributes.num_of_specs = 2;
    attributes.port = 1;
    add(attributes);
    ibv_flow_spec_eth ethernet{};
    ethernet.type = IBV_FLOW_SPEC_ETH;
    ethernet.size = sizeof ethernet;
    for (std::uint8_t i = 0; i < 6; ++i) {
      ethernet.val.dst_mac[i] = i == 0 ? 0x03 : i;
      ethernet.mask.dst_mac[i] = 0xFF;
    }
    add(ethernet);
    ibv_flow_spec_counter_action count{};
    count.type = IBV_FLOW_SPEC_ACTION_COUNT;
    count.size = sizeof count;
    count.counters = counters;
    add(count);
  }
  ibv_flow_attr* attributes() { return reinterpret_cast<ibv_flow_attr*>(bytes_.data()); }

 private:
  static constexpr std::size_t kLength =
      sizeof(ibv_flow_attr) + sizeof(ibv_flow_spec_eth) + sizeof(ibv_flow_spec_counter_action);

  template <class Part>
  void add(const Part& part) {
    std::memcpy(bytes_.data() + length_, &part, sizeof part);
    length_ += sizeof part;
  }

  alignas(8) std::array<std::byte, kLength> bytes_{};
  std::size_t length_ = 0;
};

BOOST_AUTO_TEST_CASE(a_rule_counts_frames_and_bytes) {
  const Device sender(device_names().second);
  const Device receiver(device_names().first);
  const RawQueuePair from(sender);
  const RawQueuePair to(receiver);
  Memory frames(sender.pd(), kBytes);
  Memory arrived(receiver.pd(), 4096);

  ibv_counters_init_attr init{};
  ibv_counters* const counters = ibv_create_counters(receiver.context(), &init);
  BOOST_REQUIRE(counters != nullptr);
  ibv_counter_attach_attr bytes{IBV_COUNTER_BYTES, 0, 0};
  ibv_counter_attach_attr packets{IBV_COUNTER_PACKETS, 2, 0};
  BOOST_REQUIRE(ibv_attach_counters_point_flow(counters, &bytes, nullptr) == 0);
  BOOST_REQUIRE(ibv_attach_counters_point_flow(counters, &packets, nullptr) == 0);
  CountingRule rule(counters);
  ibv_flow* const flow = ibv_create_flow(to.qp, rule.attributes());
  BOOST_REQUIRE_MESSAGE(flow != nullptr, "ibv_create_flow: errno " << errno);

  const auto frame = frames.bytes(0, kBytes);
  for (std::size_t i = 0; i < 12; ++i) frame[i] = std::byte(i == 0 ? 0x03 : i == 6 ? 0x02 : i % 6);
  frame[12] = std::byte{0x88};  // an Ethernet type for experiments
  frame[13] = std::byte{0xB5};
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    ibv_sge into = arrived.segment(0, 4096);
    ibv_recv_wr receive{};
    receive.sg_list = &into;
    receive.num_sge = 1;
    ibv_recv_wr* bad_receive = nullptr;
    BOOST_REQUIRE(ibv_post_recv(to.qp, &receive, &bad_receive) == 0);
    ibv_sge segment = frames.segment(0, kBytes);
    ibv_send_wr send{};
    send.sg_list = &segment;
    send.num_sge = 1;
    send.opcode = IBV_WR_SEND;
    send.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* bad_send = nullptr;
    BOOST_REQUIRE(ibv_post_send(from.qp, &send, &bad_send) == 0);
    from.wait();
    to.wait();
  }
  std::uint64_t values[3] = {};
  BOOST_REQUIRE(ibv_read_counters(counters, values, 3, 0) == 0);
  BOOST_TEST(values[0] == kFrames * kBytes);
  BOOST_TEST(values[1] == 0u);
  BOOST_TEST(values[2] == kFrames);
  BOOST_TEST(ibv_destroy_counters(counters) == EBUSY);
  BOOST_TEST(ibv_destroy_flow(flow) == 0);
  BOOST_TEST(ibv_destroy_counters(counters) == 0);
}

}  // namespace
}  // namespace urnic::apps
