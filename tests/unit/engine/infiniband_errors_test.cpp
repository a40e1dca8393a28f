// Packets that are damaged on the links of InfiniBand ports.
#include <boost/test/unit_test.hpp>

#include "device_model/link/fault_hook.hpp"
#include "tests/unit/engine/infiniband_ports.hpp"

namespace urnic::engine::test {
namespace infiniband_errors {

// Inverts a bit of the LRH, which no ICRC covers in a packet with a GRH, in one direction.
struct Corrupter final : link::FaultHook {
  explicit Corrupter(link::Direction where) : direction(where) {}
  const link::Direction direction;
  void judge(const link::PacketAtLink& packet, transport::Time, link::Verdict& verdict) override {
    constexpr std::uint32_t kServiceLevelBit = 8;
    if (packet.direction != direction) return;
    verdict.touched = true;
    verdict.flips_after[0] = kServiceLevelBit;
    verdict.flips_after_count = 1;
  }
};

}  // namespace infiniband_errors

BOOST_FIXTURE_TEST_SUITE(infiniband_errors, Datagrams)

// IBTA 7.8.2: by its VCRC; the port at the link's end counts it.
BOOST_AUTO_TEST_CASE(a_damaged_packet_ends_with_its_link) {
  const link::LidRoutes& routes = frame_switch.lid_routes();
  for (const auto direction : {link::Direction::transmit, link::Direction::receive}) {
    const bool is_sent = direction == link::Direction::transmit;
    Corrupter corrupter(direction);
    link::Link& link = frame_switch.link(is_sent ? 0 : 1);
    link.set_faults(&corrupter);
    post_receive(qp1, program1);
    send(path_with_grh(device0, device1), qp1.qpn(), 8);
    BOOST_TEST(!qp1.receive_cq.poll().has_value());
    const link::LidPortCounters& end = is_sent ? routes.counters(0, 1) : routes.counters(2, 1);
    BOOST_TEST(end.line.damaged == 1u);
    BOOST_TEST(end.line.integrity == 1u);
    BOOST_TEST(end.received_packets == 1u);
    BOOST_TEST(device1.port_counters().received_packets == (is_sent ? 0u : 1u));
    // Ports behind the end of its link have not seen it.
    BOOST_TEST(routes.counters(0, 2).transmitted_packets == (is_sent ? 0u : 1u));
    BOOST_TEST(routes.counters(2, 1).received_packets == (is_sent ? 0u : 1u));
    link.set_faults(nullptr);
  }
  send(path_with_grh(device0, device1), qp1.qpn(), 8);
  BOOST_TEST(qp1.receive_cq.poll().has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
