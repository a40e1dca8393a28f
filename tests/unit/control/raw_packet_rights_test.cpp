// Which programs may have raw packets, flows and RSS queue pairs.
#include <boost/test/unit_test.hpp>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/transport/qp_transitions.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

struct Rights {
  Machine machine;
  OpenProgram program{machine};
  bool has_right = false;

  Rights() {
    program.session().device.settings.raw_packets = RawPackets::privileged;
    program.session().has_net_raw = [this] { return has_right; };
  }
  int create_qp(std::uint32_t type, std::uint32_t max_send_wr = 4) {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.type = type;
    request.max_send_wr = max_send_wr;
    return program.call(ControlOpcode::create_qp, request, made);
  }
  int create_flow(std::uint32_t qp) {
    abi::CreateFlowRequest request{};
    request.qp = qp;
    request.type = IBV_FLOW_ATTR_SNIFFER;
    request.port = 1;
    abi::HandleReply reply{};
    return program.call(ControlOpcode::create_flow, request, reply);
  }
  int create_rss_qp(std::uint32_t queue) {
    abi::CreateRssQpRequest request{};
    request.pd = program.pd;
    request.queue_count = 1;
    request.queues[0] = queue;
    abi::HandleReply reply{};
    return program.call(ControlOpcode::create_rss_qp, request, reply);
  }
  // From any state.
  int to_init(std::uint32_t qkey) {
    abi::ModifyQpRequest request{};
    request.handle = made.handle;
    request.mask = transport::attr_state;
    request.attributes.state = static_cast<std::uint32_t>(transport::QpState::reset);
    abi::Empty reply{};
    if (program.call(ControlOpcode::modify_qp, request, reply) != 0) return EIO;
    request.mask |= transport::attr_pkey_index | transport::attr_port | transport::attr_qkey;
    request.attributes.state = static_cast<std::uint32_t>(transport::QpState::init);
    request.attributes.port = 1;
    request.attributes.qkey = qkey;
    return program.call(ControlOpcode::modify_qp, request, reply);
  }
  abi::CreateQpReply made{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(raw_packet_rights, Rights)

BOOST_AUTO_TEST_CASE(what_asks_for_the_right_and_what_does_not) {
  for (const auto setting : {RawPackets::privileged, RawPackets::all}) {
    program.session().device.settings.raw_packets = setting;
    for (const bool right : {false, true}) {
      has_right = right;
      const int expected = setting == RawPackets::all || right ? 0 : EPERM;
      for (const std::uint32_t type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD}) BOOST_TEST(create_qp(type) == 0);
      BOOST_TEST(create_qp(abi::kWorkQueue, 0) == 0);
      BOOST_TEST(create_rss_qp(made.handle) == expected);
      BOOST_TEST(create_qp(IBV_QPT_RAW_PACKET, 0) == expected);
      BOOST_TEST(create_qp(IBV_QPT_RAW_PACKET) == expected);
      if (expected == 0) BOOST_TEST(create_flow(made.handle) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(without_the_right_nothing_else_is_told) {
  BOOST_TEST(create_qp(IBV_QPT_RAW_PACKET, ~0u) == EPERM);
  BOOST_TEST(create_flow(0xBAD) == EPERM);
  BOOST_TEST(create_rss_qp(0xBAD) == EPERM);
  has_right = true;
  BOOST_TEST(create_qp(IBV_QPT_RAW_PACKET, ~0u) == EINVAL);
  BOOST_TEST(create_flow(0xBAD) == EINVAL);
  BOOST_TEST(create_rss_qp(0xBAD) == EINVAL);
}

// What was created before stays.
BOOST_AUTO_TEST_CASE(it_is_asked_for_at_each_call) {
  has_right = true;
  BOOST_REQUIRE(create_qp(IBV_QPT_RAW_PACKET) == 0);
  has_right = false;
  BOOST_TEST(create_flow(made.handle) == EPERM);
  abi::QueryQpReply queried{};
  BOOST_TEST(program.call(ControlOpcode::query_qp, abi::HandleRequest{made.handle, 0}, queried) == 0);
  has_right = true;
  BOOST_TEST(create_flow(made.handle) == 0);
}

// Queue pair 1's own is 0x80010000.
BOOST_AUTO_TEST_CASE(a_controlled_qkey_needs_it) {
  BOOST_REQUIRE(create_qp(IBV_QPT_UD) == 0);
  for (const auto setting : {RawPackets::all, RawPackets::privileged}) {
    program.session().device.settings.raw_packets = setting;
    for (const bool right : {true, false}) {
      has_right = right;
      const int expected = setting == RawPackets::all || right ? 0 : EPERM;
      for (const std::uint32_t qkey : {0x80000000u, 0x80010000u, ~0u}) BOOST_TEST(to_init(qkey) == expected);
      BOOST_TEST(to_init(0x7FFFFFFF) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_work_queue_does_not_send) { BOOST_TEST(create_qp(abi::kWorkQueue, 1) == EINVAL); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
