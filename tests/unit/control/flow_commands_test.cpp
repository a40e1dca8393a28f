// Steering rules: what a program may ask for, whose queue pairs they lead to, how many there can be.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/flow_specs.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "tests/unit/control/direct_program.hpp"
#include "wire/frame.hpp"

namespace urnic::control::test {
namespace {

abi::FlowSpec spec(std::uint32_t type) {
  abi::FlowSpec made{};
  made.type = type;
  return made;
}

// A specification of libibverbs, as the provider sends it on.
template <class Filter>
abi::FlowSpec spec(std::uint32_t type, const Filter& value, const Filter& mask) {
  abi::FlowSpec made = spec(type);
  std::memcpy(made.value, &value, sizeof value);
  std::memcpy(made.mask, &mask, sizeof mask);
  return made;
}

abi::FlowSpec ethernet(std::uint16_t ether_type, std::uint16_t type_mask = 0xFFFF) {
  ibv_flow_eth_filter value{};
  ibv_flow_eth_filter mask{};
  value.ether_type = __builtin_bswap16(ether_type);
  mask.ether_type = __builtin_bswap16(type_mask);
  return spec(IBV_FLOW_SPEC_ETH, value, mask);
}

int read_specs(std::vector<abi::FlowSpec> specs) {
  FlowTerms terms;
  return read_flow_specs(specs, terms);
}

struct Flows {
  Machine machine;
  OpenProgram program{machine};
  std::uint32_t raw = create_qp(program, IBV_QPT_RAW_PACKET);

  static std::uint32_t create_qp(OpenProgram& program, std::uint32_t type) {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.type = type;
    abi::CreateQpReply reply{};
    return program.call(ControlOpcode::create_qp, request, reply) == 0 ? reply.handle : 0;
  }
  abi::CreateFlowRequest request() const {
    abi::CreateFlowRequest made{};
    made.qp = raw;
    made.port = 1;
    return made;
  }
  int create(const abi::CreateFlowRequest& request) {
    return program.call(ControlOpcode::create_flow, request, flow);
  }
  int destroy(std::uint32_t handle) { return program.call(ControlOpcode::destroy_flow, handle); }
  int destroy_qp() {
    abi::DestroyReply reply{};
    return program.call(ControlOpcode::destroy_qp, abi::HandleRequest{raw, 0}, reply);
  }
  ServedDevice& device() { return program.session().device; }
  abi::HandleReply flow{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(flow_specs)

BOOST_AUTO_TEST_CASE(each_field_has_its_place) {
  ibv_flow_eth_filter eth{{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, 0, __builtin_bswap16(0x0123)};
  ibv_flow_eth_filter eth_mask{};
  std::memset(&eth_mask, 0xFF, sizeof eth_mask);
  eth_mask.ether_type = 0;
  ibv_flow_ipv6_filter ip{};
  ip.src_ip[15] = 1;
  ip.dst_ip[15] = 2;
  ip.flow_label = __builtin_bswap32(0xABCDE);
  ip.next_hdr = 17;
  ip.traffic_class = 3;
  ip.hop_limit = 64;
  ibv_flow_ipv6_filter ip_mask{};
  std::memset(&ip_mask, 0xFF, sizeof ip_mask);
  const ibv_flow_tcp_udp_filter udp{__builtin_bswap16(0x1122), __builtin_bswap16(0x3344)};
  const ibv_flow_tcp_udp_filter udp_mask{__builtin_bswap16(0xFF0F), 0};
  const abi::FlowSpec specs[] = {spec(IBV_FLOW_SPEC_UDP, udp, udp_mask),
                                 spec(IBV_FLOW_SPEC_IPV6, ip, ip_mask),
                                 spec(IBV_FLOW_SPEC_ETH, eth, eth_mask)};  // in any order
  FlowTerms terms;
  BOOST_REQUIRE(read_flow_specs(specs, terms) == 0);
  const engine::FrameMatch& match = terms.match;
  const engine::FrameFields& value = match.value;
  BOOST_TEST((value.destination_mac[0] == 1 && value.source_mac[5] == 12));
  BOOST_TEST((value.vlan_tag[0] == 0x01 && value.vlan_tag[1] == 0x23));
  BOOST_TEST((value.ipv6_source[15] == 1 && value.ipv6_destination[15] == 2));
  BOOST_TEST((value.ipv6_flow_label[1] == 0x0A && value.ipv6_flow_label[3] == 0xDE));
  BOOST_TEST((value.ipv6_next_header == 17 && value.ipv6_traffic_class == 3 && value.ipv6_hop_limit == 64));
  BOOST_TEST((value.destination_port[0] == 0x11 && value.destination_port[1] == 0x02));
  BOOST_TEST((value.source_port[0] == 0 && match.mask.source_port[1] == 0));
  BOOST_TEST(match.mask.reserved == 0);
  BOOST_TEST(match.layers == (engine::layer_vlan | engine::layer_ipv6 | engine::layer_udp));

  const ibv_flow_ipv4_ext_filter ipv4{
      __builtin_bswap32(0x01020304), __builtin_bswap32(0x05060708), 6, 7, 8, 2};
  ibv_flow_ipv4_ext_filter ipv4_mask{};
  std::memset(&ipv4_mask, 0xFF, sizeof ipv4_mask);
  const abi::FlowSpec extended[] = {spec(IBV_FLOW_SPEC_IPV4_EXT, ipv4, ipv4_mask)};
  FlowTerms others;
  BOOST_REQUIRE(read_flow_specs(extended, others) == 0);
  const engine::FrameMatch& other = others.match;
  BOOST_TEST((other.value.ipv4_source[0] == 1 && other.value.ipv4_destination[3] == 8));
  BOOST_TEST((other.value.ipv4_protocol == 6 && other.value.ipv4_tos == 7 && other.value.ipv4_ttl == 8));
  BOOST_TEST((other.value.ipv4_flags == 2 && other.layers == engine::layer_ipv4));
}

// The short form leaves what only the extended one has alone, whatever lies behind it.
BOOST_AUTO_TEST_CASE(a_plain_ipv4_header_is_its_addresses) {
  abi::FlowSpec plain = spec(IBV_FLOW_SPEC_IPV4);
  std::memset(plain.value, 0x11, sizeof plain.value);
  std::memset(plain.mask, 0xFF, sizeof plain.mask);
  FlowTerms terms;
  BOOST_REQUIRE(read_flow_specs(std::span(&plain, 1), terms) == 0);
  const engine::FrameMatch& match = terms.match;
  engine::FrameFields expected;
  expected.ipv4_source.fill(0xFF);
  expected.ipv4_destination.fill(0xFF);
  BOOST_CHECK(match.mask == expected);
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
  BOOST_TEST(read_specs({}) == 0);
  for (const std::uint32_t unknown : {0u, 1u, 0x21u, 0x60000u, 0xFFFFu})
    BOOST_TEST(read_specs({spec(unknown)}) != 0);
  BOOST_TEST(read_specs({spec(0x21)}) == EINVAL);
  const std::uint32_t ip[] = {IBV_FLOW_SPEC_IPV4, IBV_FLOW_SPEC_IPV4_EXT, IBV_FLOW_SPEC_IPV6};
  for (const std::uint32_t one : ip) {
    for (const std::uint32_t other : ip) BOOST_TEST(read_specs({spec(one), spec(other)}) == EINVAL);
  }
  BOOST_TEST(read_specs({spec(IBV_FLOW_SPEC_TCP), spec(IBV_FLOW_SPEC_UDP)}) == EINVAL);
  BOOST_TEST(read_specs({spec(IBV_FLOW_SPEC_ETH), spec(IBV_FLOW_SPEC_ETH)}) == EINVAL);
  BOOST_TEST(read_specs({ethernet(0x86DD), spec(IBV_FLOW_SPEC_IPV4)}) == EINVAL);
  BOOST_TEST(read_specs({spec(IBV_FLOW_SPEC_IPV6), ethernet(0x0800)}) == EINVAL);
  BOOST_TEST(read_specs({ethernet(0x0800), spec(IBV_FLOW_SPEC_IPV4_EXT), spec(IBV_FLOW_SPEC_TCP)}) == 0);
  BOOST_TEST(read_specs({ethernet(0x86DD, 0), spec(IBV_FLOW_SPEC_IPV4)}) == 0);
}

BOOST_AUTO_TEST_CASE(a_rule_may_drop_frames) {
  FlowTerms terms;
  const abi::FlowSpec specs[] = {spec(IBV_FLOW_SPEC_TCP), spec(IBV_FLOW_SPEC_ACTION_DROP)};
  BOOST_TEST(read_flow_specs(specs, terms) == 0);
  BOOST_TEST(terms.drops);
  BOOST_TEST(terms.match.layers == engine::layer_tcp);
  BOOST_TEST(read_specs({spec(IBV_FLOW_SPEC_ACTION_DROP), spec(IBV_FLOW_SPEC_ACTION_DROP)}) == EINVAL);
}

BOOST_AUTO_TEST_CASE(what_is_not_offered_is_refused_as_such) {
  for (const std::uint32_t type :
       {IBV_FLOW_SPEC_ESP, IBV_FLOW_SPEC_VXLAN_TUNNEL, IBV_FLOW_SPEC_GRE, IBV_FLOW_SPEC_MPLS,
        IBV_FLOW_SPEC_ACTION_TAG, IBV_FLOW_SPEC_ACTION_HANDLE, IBV_FLOW_SPEC_ACTION_COUNT})
    BOOST_TEST(read_specs({spec(type)}) == EOPNOTSUPP);
  BOOST_TEST(read_specs({spec(std::uint32_t{IBV_FLOW_SPEC_INNER} | IBV_FLOW_SPEC_ETH)}) == EOPNOTSUPP);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(flow_commands, Flows)

BOOST_AUTO_TEST_CASE(a_flow_is_made_and_destroyed) {
  BOOST_TEST(create(request()) == 0);
  BOOST_TEST(device().flows.used() == 1u);
  BOOST_TEST(destroy_qp() == EBUSY);
  BOOST_TEST(destroy(flow.handle) == 0);
  BOOST_TEST(destroy(flow.handle) == EINVAL);
  BOOST_TEST(device().flows.used() == 0u);
  BOOST_TEST(destroy_qp() == 0);
}

BOOST_AUTO_TEST_CASE(flows_lead_to_raw_packet_queue_pairs_of_the_same_program) {
  abi::CreateFlowRequest wrong = request();
  wrong.qp = create_qp(program, IBV_QPT_UD);
  BOOST_TEST(create(wrong) == EOPNOTSUPP);
  wrong.qp = create_qp(program, IBV_QPT_RC);
  BOOST_TEST(create(wrong) == EINVAL);
  wrong.qp = 0;
  BOOST_TEST(create(wrong) == EINVAL);
  OpenProgram other(machine);
  BOOST_TEST(other.call(ControlOpcode::create_flow, request(), flow) == EINVAL);
  BOOST_TEST(create(request()) == 0);
  BOOST_TEST(other.call(ControlOpcode::destroy_flow, flow.handle) == EINVAL);
}

BOOST_AUTO_TEST_CASE(attributes_have_their_ranges) {
  const auto with = [this](auto change) {
    abi::CreateFlowRequest changed = request();
    change(changed);
    return create(changed);
  };
  using Request = abi::CreateFlowRequest;
  BOOST_TEST(with([](Request& r) { r.port = 0; }) == EINVAL);
  BOOST_TEST(with([](Request& r) { r.port = 2; }) == EINVAL);
  BOOST_TEST(with([](Request& r) { r.type = IBV_FLOW_ATTR_SNIFFER + 1; }) == EINVAL);
  BOOST_TEST(with([](Request& r) { r.spec_count = abi::kMaxFlowSpecs + 1; }) == EINVAL);
  BOOST_TEST(with([](Request& r) { r.spec_count = 255; }) == EINVAL);
  BOOST_TEST(with([](Request& r) { r.flags = 1; }) == EINVAL);
  BOOST_TEST(with([](Request& r) { r.flags = IBV_FLOW_ATTR_FLAGS_EGRESS; }) == EOPNOTSUPP);
  BOOST_TEST(with([](Request& r) { r.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP; }) == 0);
  BOOST_TEST(with([](Request& r) { r.priority = 0xFFFF; }) == 0);
  for (const std::uint32_t type :
       {IBV_FLOW_ATTR_ALL_DEFAULT, IBV_FLOW_ATTR_MC_DEFAULT, IBV_FLOW_ATTR_SNIFFER}) {
    BOOST_TEST(with([&](Request& r) { r.type = type; }) == 0);
    BOOST_TEST(with([&](Request& r) {
                 r.type = type;
                 r.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
               }) == EINVAL);
    BOOST_TEST(with([&](Request& r) {
                 r.type = type;
                 r.spec_count = 1;
                 r.specs[0] = spec(IBV_FLOW_SPEC_ETH);
               }) == EINVAL);
  }
}

BOOST_AUTO_TEST_CASE(flows_end_at_the_limit) {
  for (std::uint32_t i = 0; i < limits::kMaxFlows; ++i) BOOST_REQUIRE(create(request()) == 0);
  BOOST_TEST(create(request()) == ENOMEM);
  BOOST_TEST(destroy(flow.handle) == 0);
  BOOST_TEST(create(request()) == 0);
}

BOOST_AUTO_TEST_CASE(counters_outlive_the_flows_that_count_there) {
  abi::HandleReply counters{};
  BOOST_REQUIRE(program.call(ControlOpcode::create_counters, abi::Empty{}, counters) == 0);
  abi::ReadCountersReply values{1, 1};
  const abi::HandleRequest made{counters.handle, 0};
  BOOST_TEST(program.call(ControlOpcode::read_counters, made, values) == 0);
  BOOST_TEST((values.packets == 0 && values.bytes == 0));
  BOOST_TEST(program.call(ControlOpcode::read_counters, abi::HandleRequest{counters.handle + 1, 0}, values) ==
             EINVAL);
  abi::CreateFlowRequest counted = request();
  counted.counters = counters.handle + 1;
  BOOST_TEST(create(counted) == EINVAL);
  counted.counters = counters.handle;
  BOOST_REQUIRE(create(counted) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_counters, counters.handle) == EBUSY);
  BOOST_TEST(destroy(flow.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_counters, counters.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_counters, counters.handle) == EINVAL);
}

BOOST_AUTO_TEST_CASE(counters_end_at_the_limit_and_go_with_their_program) {
  abi::HandleReply counters{};
  {
    OpenProgram short_lived(machine);
    for (std::uint32_t i = 0; i < limits::kMaxFlowCounters; ++i) {
      BOOST_REQUIRE(short_lived.call(ControlOpcode::create_counters, abi::Empty{}, counters) == 0);
    }
    BOOST_TEST(program.call(ControlOpcode::create_counters, abi::Empty{}, counters) == ENOMEM);
    abi::CreateFlowRequest own = request();
    own.qp = create_qp(short_lived, IBV_QPT_RAW_PACKET);
    own.counters = counters.handle;
    BOOST_TEST(short_lived.call(ControlOpcode::create_flow, own, flow) == 0);
  }
  BOOST_TEST(program.call(ControlOpcode::create_counters, abi::Empty{}, counters) == 0);
}

BOOST_AUTO_TEST_CASE(a_program_that_goes_takes_its_flows_with_it) {
  {
    OpenProgram short_lived(machine);
    abi::CreateFlowRequest own = request();
    own.qp = create_qp(short_lived, IBV_QPT_RAW_PACKET);
    BOOST_TEST(short_lived.call(ControlOpcode::create_flow, own, flow) == 0);
    BOOST_TEST(device().flows.used() == 1u);
  }
  BOOST_TEST(device().flows.used() == 0u);
}

// Of a program without CAP_NET_RAW, a sniffer does not count the packet for another program's QP.
BOOST_AUTO_TEST_CASE(a_sniffer_sees_the_packets_of_others_with_the_right_only) {
  OpenProgram victim(machine);
  abi::CreateQpRequest wanted = victim.qp_request(victim.pd, victim.cq);
  abi::CreateQpReply made{};
  BOOST_REQUIRE(victim.call(ControlOpcode::create_qp, wanted, made) == 0);
  wire::NetworkHeaders network;
  network.destination_mac = device().settings.mac;
  network.source = network.destination = device().settings.gids.at(0);
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_only);
  headers.bth.destination = wire::Qpn{made.qpn};
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, {}, storage);

  for (const bool right : {false, true}) {
    program.session().has_net_raw = [right] { return right; };
    abi::HandleReply counters{};
    BOOST_REQUIRE(program.call(ControlOpcode::create_counters, abi::Empty{}, counters) == 0);
    abi::CreateFlowRequest sniffer = request();
    sniffer.type = IBV_FLOW_ATTR_SNIFFER;
    sniffer.counters = counters.handle;
    BOOST_REQUIRE(create(sniffer) == 0);
    machine.fabric.engine(device()).execute([&] { device().device->receiver().arrive(frame, {}); });
    const FlowCounters* const counted = program.session().context->flow_counters.find(counters.handle);
    BOOST_TEST(counted->values.packets == (right ? 1u : 0u));
    BOOST_TEST(destroy(flow.handle) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
