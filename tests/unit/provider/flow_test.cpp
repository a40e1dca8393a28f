// Flows, work queues and RSS QPs: the requests that the provider makes of a program's structs, and which
// object keeps which other one alive.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "device_model/abi/steering_messages.hpp"
#include "tests/unit/provider/rig.hpp"

namespace urnic::test {
namespace {

struct Attributes {
  ibv_flow_attr head{};
  // One behind the other without gaps, as programs lay them out.
  std::vector<char> specs;

  template <class Spec>
  Attributes& add(Spec spec, ibv_flow_spec_type type, std::uint16_t size = sizeof(Spec)) {
    spec.type = type;
    spec.size = size;
    const std::size_t at = specs.size();
    specs.resize(at + std::max<std::size_t>(size, sizeof spec));
    std::memcpy(specs.data() + at, &spec, sizeof spec);
    specs.resize(at + size);
    ++head.num_of_specs;
    return *this;
  }
};

struct Flows : Rig {
  ibv_flow* create(const Attributes& attributes) {
    std::vector<char> bytes(sizeof attributes.head + attributes.specs.size() + sizeof(ibv_flow_spec));
    std::memcpy(bytes.data(), &attributes.head, sizeof attributes.head);
    if (!attributes.specs.empty())
      std::memcpy(bytes.data() + sizeof attributes.head, attributes.specs.data(), attributes.specs.size());
    errno = 0;
    return ibv_create_flow(qp, reinterpret_cast<ibv_flow_attr*>(bytes.data()));
  }
  int refusal(const Attributes& attributes) { return create(attributes) == nullptr ? errno : 0; }
  abi::CreateFlowRequest last() {
    return device.last_request<abi::CreateFlowRequest>(abi::ControlOpcode::create_flow);
  }
  ibv_wq* create_wq() {
    ibv_wq_init_attr attributes{};
    attributes.wq_type = IBV_WQT_RQ;
    attributes.max_wr = 4;
    attributes.max_sge = 1;
    attributes.pd = pd;
    attributes.cq = cq;
    return ibv_create_wq(context, &attributes);
  }
  static int bring_to(ibv_wq* wq, ibv_wq_state state) {
    ibv_wq_attr attributes{};
    attributes.attr_mask = IBV_WQ_ATTR_STATE;
    attributes.wq_state = state;
    return ibv_modify_wq(wq, &attributes);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(flows, Flows)

BOOST_AUTO_TEST_CASE(each_specification_is_sent_with_its_value_and_mask) {
  Attributes attributes;
  attributes.head.type = IBV_FLOW_ATTR_NORMAL;
  attributes.head.priority = 0x1234;
  attributes.head.port = 1;
  attributes.head.flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
  ibv_flow_spec_eth eth{};
  std::memset(&eth.val, 0x11, sizeof eth.val);
  std::memset(&eth.mask, 0x12, sizeof eth.mask);
  ibv_flow_spec_ipv6 ip{};
  std::memset(&ip.val, 0x21, sizeof ip.val);
  std::memset(&ip.mask, 0x22, sizeof ip.mask);
  ibv_flow_spec_tcp_udp udp{};
  std::memset(&udp.val, 0x31, sizeof udp.val);
  std::memset(&udp.mask, 0x32, sizeof udp.mask);
  attributes.add(eth, IBV_FLOW_SPEC_ETH).add(ip, IBV_FLOW_SPEC_IPV6).add(udp, IBV_FLOW_SPEC_UDP);
  ibv_flow* const flow = create(attributes);
  BOOST_REQUIRE(flow != nullptr);
  const abi::CreateFlowRequest request = last();
  BOOST_TEST(request.qp == qp->handle);
  BOOST_TEST(
      (request.priority == 0x1234 && request.port == 1 && request.flags == 2 && request.spec_count == 3));
  const struct {
    std::uint32_t type;
    std::size_t bytes;
    int value;
  } rows[] = {{IBV_FLOW_SPEC_ETH, sizeof eth.val, 0x11},
              {IBV_FLOW_SPEC_IPV6, sizeof ip.val, 0x21},
              {IBV_FLOW_SPEC_UDP, sizeof udp.val, 0x31}};
  for (std::size_t i = 0; i < 3; ++i) {
    const abi::FlowSpec& spec = request.specs[i];
    BOOST_TEST(spec.type == rows[i].type);
    for (std::size_t at = 0; at < sizeof spec.value; ++at) {
      BOOST_TEST(int{spec.value[at]} == (at < rows[i].bytes ? rows[i].value : 0));
      BOOST_TEST(int{spec.mask[at]} == (at < rows[i].bytes ? rows[i].value + 1 : 0));
    }
  }
  BOOST_TEST(ibv_destroy_flow(flow) == 0);
}

BOOST_AUTO_TEST_CASE(sizes_that_cannot_be_are_refused) {
  ibv_flow_spec_ipv4 ip{};
  for (const std::uint16_t size :
       {std::uint16_t{0}, std::uint16_t{5}, static_cast<std::uint16_t>(sizeof ip - 1)}) {
    Attributes attributes;
    attributes.add(ip, IBV_FLOW_SPEC_IPV4, size);
    BOOST_TEST(refusal(attributes) == EINVAL, size);
  }
  Attributes many;
  for (std::uint32_t i = 0; i <= abi::kMaxFlowSpecs; ++i) many.add(ip, IBV_FLOW_SPEC_IPV4);
  BOOST_TEST(refusal(many) == EINVAL);
  Attributes extended;
  extended.head.comp_mask = 1;
  BOOST_TEST(refusal(extended) == EOPNOTSUPP);
  device.refuse_next(abi::ControlOpcode::create_flow, ENOMEM);
  BOOST_TEST(refusal(Attributes{}) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(counters_are_read_where_they_were_attached) {
  ibv_counters_init_attr init{};
  ibv_counters* const counters = ibv_create_counters(context, &init);
  BOOST_REQUIRE(counters != nullptr);
  ibv_counter_attach_attr attach{IBV_COUNTER_BYTES, 0, 0};
  BOOST_TEST(ibv_attach_counters_point_flow(counters, &attach, nullptr) == 0);
  attach = {IBV_COUNTER_PACKETS, 2, 0};
  BOOST_TEST(ibv_attach_counters_point_flow(counters, &attach, nullptr) == 0);
  attach.index = 32;
  BOOST_TEST(ibv_attach_counters_point_flow(counters, &attach, nullptr) == EINVAL);
  Attributes counted;
  ibv_flow_spec_counter_action action{};
  action.counters = counters;
  counted.add(ibv_flow_spec_ipv4{}, IBV_FLOW_SPEC_IPV4).add(action, IBV_FLOW_SPEC_ACTION_COUNT);
  ibv_flow* const flow = create(counted);
  BOOST_REQUIRE(flow != nullptr);
  BOOST_TEST(last().counters != 0u);
  BOOST_TEST(int{last().spec_count} == 1);
  attach.index = 1;
  BOOST_TEST(ibv_attach_counters_point_flow(counters, &attach, flow) == EOPNOTSUPP);
  counted.add(action, IBV_FLOW_SPEC_ACTION_COUNT);
  BOOST_TEST(refusal(counted) == EINVAL);  // two counting specifications
  std::uint64_t values[4] = {9, 9, 9, 9};
  BOOST_TEST(ibv_read_counters(counters, values, 4, IBV_READ_COUNTERS_ATTR_PREFER_CACHED) == 0);
  BOOST_TEST(values[0] == 1234u);  // bytes, from the device
  BOOST_TEST(values[1] == 0u);
  BOOST_TEST(values[2] == 5u);
  BOOST_TEST(ibv_read_counters(counters, values, 4, 2) == EINVAL);
  BOOST_TEST(ibv_destroy_flow(flow) == 0);
  BOOST_TEST(ibv_destroy_counters(counters) == 0);
}

BOOST_AUTO_TEST_CASE(a_work_queue_is_a_queue_pair_that_receives) {
  ibv_wq* const wq = create_wq();
  BOOST_REQUIRE(wq != nullptr);
  FakeQp& queue = device.qp(wq->wq_num);
  BOOST_TEST((queue.request.type == abi::kWorkQueue && queue.request.max_send_wr == 0));
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  BOOST_TEST(ibv_post_wq_recv(wq, &request, &bad) == EINVAL);
  BOOST_TEST(bring_to(wq, IBV_WQS_ERR) == EINVAL);
  BOOST_TEST(bring_to(wq, IBV_WQS_RDY) == 0);
  request.wr_id = 99;
  BOOST_TEST(ibv_post_wq_recv(wq, &request, &bad) == 0);
  device.complete_receive(queue, 0);
  const std::vector<ibv_wc> completions = poll();
  BOOST_REQUIRE(completions.size() == 1u);
  BOOST_TEST((completions[0].wr_id == 99u && completions[0].qp_num == wq->wq_num));
  BOOST_TEST(bring_to(wq, IBV_WQS_ERR) == 0);
  BOOST_TEST(bring_to(wq, IBV_WQS_RDY) == EINVAL);
  BOOST_TEST(bring_to(wq, IBV_WQS_RESET) == 0);
  BOOST_TEST(ibv_destroy_wq(wq) == 0);
}

BOOST_AUTO_TEST_CASE(an_rss_queue_pair_holds_its_table_and_that_its_queues) {
  ibv_wq* queues[] = {create_wq(), create_wq()};
  ibv_rwq_ind_table_init_attr table_attributes{};
  table_attributes.log_ind_tbl_size = 1;
  table_attributes.ind_tbl = queues;
  ibv_rwq_ind_table* const table = ibv_create_rwq_ind_table(context, &table_attributes);
  BOOST_REQUIRE(table != nullptr);
  BOOST_TEST(ibv_destroy_wq(queues[1]) == EBUSY);

  std::uint8_t key[abi::kHashKeyBytes] = {7};
  ibv_qp_init_attr_ex attributes{};
  attributes.qp_type = IBV_QPT_RAW_PACKET;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
  attributes.pd = pd;
  attributes.rwq_ind_tbl = table;
  attributes.rx_hash_conf = {IBV_RX_HASH_FUNC_TOEPLITZ, sizeof key, key, IBV_RX_HASH_SRC_IPV4};
  ibv_qp* const rss_qp = ibv_create_qp_ex(context, &attributes);
  BOOST_REQUIRE(rss_qp != nullptr);
  const auto request = device.last_request<abi::CreateRssQpRequest>(abi::ControlOpcode::create_rss_qp);
  BOOST_TEST((request.queue_count == 2 && request.hash_fields == IBV_RX_HASH_SRC_IPV4));
  BOOST_TEST((request.queues[0] == queues[0]->handle && request.queues[1] == queues[1]->handle));
  BOOST_TEST((request.hash_key[0] == 7 && request.pd == pd->handle));
  BOOST_TEST(ibv_destroy_rwq_ind_table(table) == EBUSY);
  ibv_qp_attr ignored{};
  BOOST_TEST(ibv_modify_qp(rss_qp, &ignored, IBV_QP_STATE) == EOPNOTSUPP);
  BOOST_TEST(ibv_destroy_qp(rss_qp) == 0);
  BOOST_TEST(ibv_destroy_rwq_ind_table(table) == 0);
  for (ibv_wq* queue : queues) BOOST_TEST(ibv_destroy_wq(queue) == 0);
}

BOOST_AUTO_TEST_CASE(a_hash_that_is_not_offered_is_refused) {
  ibv_wq* queue = create_wq();
  ibv_rwq_ind_table_init_attr table_attributes{};
  table_attributes.ind_tbl = &queue;
  for (const std::uint32_t size : {8u, 32u, 255u}) {
    table_attributes.log_ind_tbl_size = size;
    BOOST_TEST(ibv_create_rwq_ind_table(context, &table_attributes) == nullptr);
    BOOST_TEST(errno == EINVAL);
  }
  table_attributes.log_ind_tbl_size = 0;
  ibv_rwq_ind_table* const table = ibv_create_rwq_ind_table(context, &table_attributes);
  std::uint8_t key[64] = {};
  const auto refusal = [&](std::uint8_t function, std::uint8_t length, std::uint32_t mask) {
    ibv_qp_init_attr_ex attributes{};
    attributes.qp_type = IBV_QPT_RAW_PACKET;
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD | mask;
    attributes.pd = pd;
    attributes.rwq_ind_tbl = table;
    attributes.rx_hash_conf = {function, length, key, IBV_RX_HASH_SRC_IPV4};
    return ibv_create_qp_ex(context, &attributes) == nullptr ? errno : 0;
  };
  constexpr std::uint32_t kBoth = IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
  BOOST_TEST(refusal(2, abi::kHashKeyBytes, kBoth) == EOPNOTSUPP);
  BOOST_TEST(refusal(IBV_RX_HASH_FUNC_TOEPLITZ, abi::kHashKeyBytes - 1, kBoth) == EINVAL);
  BOOST_TEST(refusal(IBV_RX_HASH_FUNC_TOEPLITZ, abi::kHashKeyBytes + 1, kBoth) == EINVAL);
  BOOST_TEST(refusal(IBV_RX_HASH_FUNC_TOEPLITZ, abi::kHashKeyBytes, IBV_QP_INIT_ATTR_RX_HASH) == EINVAL);
  BOOST_TEST(refusal(IBV_RX_HASH_FUNC_TOEPLITZ, abi::kHashKeyBytes, IBV_QP_INIT_ATTR_IND_TABLE) == EINVAL);
  BOOST_TEST(ibv_destroy_rwq_ind_table(table) == 0);
  BOOST_TEST(ibv_destroy_wq(queue) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
