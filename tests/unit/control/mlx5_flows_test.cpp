// Steering rules of programs on a device with the mlx5 face (control/mlx5/flow_commands.cpp), and their
// counters.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <vector>

#include "device_model/control/uverbs/commands.hpp"
#include "tests/unit/control/mlx5_method.hpp"

namespace urnic::control::test {

BOOST_AUTO_TEST_SUITE(mlx5_flows)

namespace {

struct Steering {
  Machine machine;
  OpenMlx5Program program{machine};
  std::uint32_t qp = raw_packet_queue_pair();
  Bytes body{};

  // It does not matter here where its queues lie: they are made without `dispatch`, which would refuse them.
  std::uint32_t raw_packet_queue_pair() {
    const std::uint32_t pd = program.allocate_pd();
    abi::CreateCqRequest cq{};
    cq.entries = 16;
    abi::CreateCqReply made_cq{};
    DescriptorExchange descriptors;
    BOOST_REQUIRE(create_cq(program.session(), cq, made_cq, descriptors) == 0);
    abi::CreateQpRequest request = program.qp_request(pd, made_cq.handle);
    request.type = IBV_QPT_RAW_PACKET;
    abi::CreateQpReply created{};
    program.session().has_net_raw = [] { return true; };
    BOOST_REQUIRE(create_qp(program.session(), request, created, descriptors) == 0);
    return created.handle;
  }
  template <class Spec>
  void add(const Spec& spec) {
    const Bytes bytes = bytes_of(spec);
    body.insert(body.end(), bytes.begin(), bytes.end());
  }
  // With a filter of another length than this kernel's: value and mask, which are as long as each other.
  void add_filter(std::uint32_t type, const Bytes& value, const Bytes& mask) {
    ib_uverbs_flow_spec_hdr head{};
    head.type = type;
    head.size = static_cast<__u16>(sizeof head + value.size() + mask.size());
    add(head);
    body.insert(body.end(), value.begin(), value.end());
    body.insert(body.end(), mask.begin(), mask.end());
  }
  template <class Spec>
  static Spec spec(std::uint32_t type) {
    Spec empty{};
    empty.type = type;
    empty.size = sizeof empty;
    return empty;
  }
  // The errno; the flow's handle in `flow`.
  int create(std::uint8_t specs, std::int32_t more = 0, const Bytes& driver = {}) {
    ib_uverbs_create_flow request{};
    request.qp_handle = qp;
    request.flow_attr.size = static_cast<__u16>(static_cast<std::int32_t>(body.size()) + more);
    request.flow_attr.num_of_specs = specs;
    request.flow_attr.port = 1;
    KernelCommand command{.number = extended(IB_USER_VERBS_EX_CMD_CREATE_FLOW),
                          .core = bytes_of(request),
                          .driver = driver,
                          .core_room = sizeof made};
    command.core.insert(command.core.end(), body.begin(), body.end());
    const int error = program.run(command);
    if (error == 0) std::memcpy(&made, program.core.data(), sizeof made);
    return error;
  }
  ib_uverbs_create_flow_resp made{};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_rule_of_three_headers, Steering) {
  auto ethernet = spec<ib_uverbs_flow_spec_eth>(IBV_FLOW_SPEC_ETH);
  ethernet.val.ether_type = ethernet.mask.ether_type = 0xFFFF;
  add(ethernet);
  auto ipv4 = spec<ib_uverbs_flow_spec_ipv4>(IBV_FLOW_SPEC_IPV4);
  ipv4.mask.dst_ip = ipv4.val.dst_ip = 0x010200C0;
  ipv4.mask.proto = 0xFF;
  ipv4.val.proto = 17;
  add(ipv4);
  add(spec<ib_uverbs_flow_spec_tcp_udp>(IBV_FLOW_SPEC_UDP));
  BOOST_REQUIRE(create(3) == EINVAL);  // ether_type 0xFFFF and IPv4 contradict each other
  body.clear();
  add(spec<ib_uverbs_flow_spec_eth>(IBV_FLOW_SPEC_ETH));
  add(ipv4);
  add(spec<ib_uverbs_flow_spec_tcp_udp>(IBV_FLOW_SPEC_UDP));
  BOOST_REQUIRE(create(3) == 0);
  BOOST_TEST(machine.fabric.devices()[0]->flows.used() == 1u);
  const ib_uverbs_destroy_flow destroy{0, made.flow_handle};
  BOOST_TEST(program.run(extended(IB_USER_VERBS_EX_CMD_DESTROY_FLOW), destroy) == 0);
  BOOST_TEST(program.run(extended(IB_USER_VERBS_EX_CMD_DESTROY_FLOW), destroy) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(rules_that_lie_about_their_length, Steering) {
  add(spec<ib_uverbs_flow_spec_eth>(IBV_FLOW_SPEC_ETH));
  BOOST_TEST(create(1, 8) == EINVAL);
  BOOST_TEST(create(1, -8) == EINVAL);
  BOOST_TEST(create(2) == EINVAL);
  BOOST_TEST(create(0) == EINVAL);
  BOOST_TEST(create(200) == EINVAL);
  for (const int size : {0, 4, 7, 8, 39, 41, 48, 0xFFFF}) {
    body.clear();
    auto ethernet = spec<ib_uverbs_flow_spec_eth>(IBV_FLOW_SPEC_ETH);
    ethernet.size = static_cast<__u16>(size);
    add(ethernet);
    BOOST_TEST_CONTEXT(size) { BOOST_TEST(create(1) == EINVAL); }
  }
}

// libibverbs' IBV_FLOW_SPEC_IPV4, which libvma uses: the addresses alone.
BOOST_FIXTURE_TEST_CASE(a_filter_may_be_shorter, Steering) {
  for (const std::uint16_t ether_type : {std::uint16_t{0x0800}, std::uint16_t{0x86DD}}) {
    BOOST_TEST_INFO_SCOPE("Ethernet type " << ether_type);
    body.clear();
    Bytes value(14);  // both Ethernet addresses and the type
    value[12] = static_cast<std::byte>(ether_type >> 8);
    value[13] = static_cast<std::byte>(ether_type & 0xFF);
    Bytes mask(14);
    mask[12] = mask[13] = std::byte{0xFF};
    add_filter(IBV_FLOW_SPEC_ETH, value, mask);
    add_filter(IBV_FLOW_SPEC_IPV4, Bytes(8, std::byte{1}), Bytes(8, std::byte{0xFF}));
    add(spec<ib_uverbs_flow_spec_tcp_udp>(IBV_FLOW_SPEC_UDP));
    BOOST_TEST(create(3) == (ether_type == 0x0800 ? 0 : EINVAL));  // they contradict each other
  }
}

BOOST_FIXTURE_TEST_CASE(a_filter_may_be_longer_by_what_is_not_compared, Steering) {
  constexpr std::size_t kKnown = sizeof(ib_uverbs_flow_ipv4_filter);
  Bytes mask(kKnown + 4);
  add_filter(IBV_FLOW_SPEC_IPV4, Bytes(kKnown + 4, std::byte{1}), mask);
  BOOST_TEST(create(1) == 0);
  body.clear();
  mask.back() = std::byte{1};
  add_filter(IBV_FLOW_SPEC_IPV4, Bytes(kKnown + 4, std::byte{1}), mask);
  BOOST_TEST(create(1) == EINVAL);
  body.clear();
  add_filter(IBV_FLOW_SPEC_ACTION_DROP, Bytes(2), Bytes(2));
  BOOST_TEST(create(1) == EINVAL);
}

// What the kernel stand-in makes of libmlx5's part: the list behind the structures that name it.
Bytes counting(const std::vector<mlx5_ib_flow_counters_desc>& points, std::uint32_t told = 0) {
  mlx5_ib_flow_counters_data data{};
  data.ncounters = told != 0 ? told : static_cast<std::uint32_t>(points.size());
  Bytes driver(sizeof(mlx5_ib_create_flow));
  driver[0] = std::byte{1};  // ncounters_data
  const auto add = [&driver](const Bytes& part) { driver.insert(driver.end(), part.begin(), part.end()); };
  add(bytes_of(data));
  for (const auto& each : points) add(bytes_of(each));
  return driver;
}

struct Counting : Steering {
  std::uint32_t counters = [this] {
    UverbsMethod method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
    method.asking(UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
    BOOST_REQUIRE(method.run(program) == 0);
    return method.handle(UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
  }();
  FlowCounters& made_counters() { return *program.session().context->flow_counters.find(counters); }

  int destroy_counters() {
    return UverbsMethod(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY)
        .with(UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, counters)
        .run(program);
  }
  // As many values as there is room for; empty: refused.
  template <std::size_t kCount>
  std::optional<std::array<std::uint64_t, kCount>> read(std::uint32_t flags = 0) {
    UverbsMethod method(UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ);
    method.with(UVERBS_ATTR_READ_COUNTERS_HANDLE, counters)
        .asking(UVERBS_ATTR_READ_COUNTERS_BUFF, 8 * kCount)
        .with(UVERBS_ATTR_READ_COUNTERS_FLAGS, flags);
    if (method.run(program) != 0) return std::nullopt;
    return method.answer<std::array<std::uint64_t, kCount>>(UVERBS_ATTR_READ_COUNTERS_BUFF);
  }
  void count_spec(std::uint32_t handle) {
    auto count = spec<ib_uverbs_flow_spec_action_count>(IBV_FLOW_SPEC_ACTION_COUNT);
    count.handle = handle;
    add(count);
  }
};

BOOST_FIXTURE_TEST_CASE(counters_are_read_where_the_program_wants_them, Counting) {
  count_spec(counters);
  BOOST_REQUIRE(
      create(1, 0, counting({{IBV_COUNTER_BYTES, 0}, {IBV_COUNTER_PACKETS, 2}, {IBV_COUNTER_BYTES, 2}})) ==
      0);
  made_counters().values.packets = 5;
  made_counters().values.bytes = 700;
  BOOST_TEST((read<3>() == std::array<std::uint64_t, 3>{700, 0, 705}));
  BOOST_TEST((read<4>(IBV_READ_COUNTERS_ATTR_PREFER_CACHED) == std::array<std::uint64_t, 4>{700, 0, 705, 0}));
  BOOST_TEST(!read<2>().has_value());
  BOOST_TEST(!read<3>(2).has_value());
  BOOST_TEST(destroy_counters() == EBUSY);
  BOOST_TEST(program.run(extended(IB_USER_VERBS_EX_CMD_DESTROY_FLOW),
                         ib_uverbs_destroy_flow{0, made.flow_handle}) == 0);
  BOOST_TEST((read<3>() == std::array<std::uint64_t, 3>{700, 0, 705}));
  BOOST_TEST(destroy_counters() == 0);
  BOOST_TEST(destroy_counters() == EINVAL);
  BOOST_TEST(!read<3>().has_value());
  BOOST_TEST(program.part().counter_points.empty());
}

BOOST_FIXTURE_TEST_CASE(counters_that_cannot_be_are_refused, Counting) {
  BOOST_TEST((read<1>() == std::array<std::uint64_t, 1>{0}));  // no rule has them
  count_spec(counters + 1);
  BOOST_TEST(create(1) == EINVAL);
  body.clear();
  count_spec(counters);
  count_spec(counters);
  BOOST_TEST(create(2) == EINVAL);
  body.clear();
  count_spec(0);
  BOOST_TEST(create(1) == EINVAL);
  body.clear();
  count_spec(counters);
  BOOST_TEST(create(1, 0, counting({{2, 0}})) == EINVAL);
  BOOST_TEST(create(1, 0, counting({{IBV_COUNTER_BYTES, 32}})) == EINVAL);
  BOOST_TEST(create(1, 0, counting({{IBV_COUNTER_BYTES, 0}}, 2)) == EINVAL);
  BOOST_TEST(create(1, 0, counting({{IBV_COUNTER_BYTES, 0}}, 0xFFFFFFFF)) == EINVAL);
  BOOST_TEST(program.part().counter_points.empty());
  BOOST_TEST(create(1, 0, Bytes(8)) == 0);  // libmlx5 says what is counted with the first rule only
}

BOOST_FIXTURE_TEST_CASE(a_rule_that_drops, Steering) {
  add(spec<ib_uverbs_flow_spec_eth>(IBV_FLOW_SPEC_ETH));
  add(spec<ib_uverbs_flow_spec_action_drop>(IBV_FLOW_SPEC_ACTION_DROP));
  BOOST_TEST(create(2) == 0);
  body.back() = std::byte{1};
  BOOST_TEST(create(2) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(headers_that_are_not_known, Steering) {
  add(spec<ib_uverbs_flow_spec_action_tag>(IBV_FLOW_SPEC_ACTION_TAG));
  BOOST_TEST(create(1) == EOPNOTSUPP);
  body.clear();
  add(spec<ib_uverbs_flow_spec_eth>(IBV_FLOW_SPEC_ETH | IBV_FLOW_SPEC_INNER));
  BOOST_TEST(create(1) == EOPNOTSUPP);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
