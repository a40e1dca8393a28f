// What the verbs themselves refuse, with which errno, and that nothing has changed then.
#include <sys/mman.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/apps/programs/requests.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kPage = 4096;

struct OneDevice {
  Device device{device_names().first};
  Memory memory{device.pd(), kPage};

  // The errno with which registering is refused; 0 if it is not.
  int refusal(void* address, std::size_t length, int access) {
    errno = 0;
    const MrOwner mr(ibv_reg_mr(device.pd(), address, length, access));
    return mr ? 0 : errno;
  }
};

BOOST_FIXTURE_TEST_CASE(registering_what_is_not_there, OneDevice) {
  Pages pages(4 * kPage);
  BOOST_TEST(refusal(pages.data(), 4 * kPage, IBV_ACCESS_LOCAL_WRITE) == 0);
  munmap(pages.data() + 2 * kPage, kPage);
  BOOST_TEST(refusal(pages.data(), 4 * kPage, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  BOOST_TEST(refusal(pages.data() + 2 * kPage, 10, 0) == EFAULT);
  BOOST_TEST(refusal(pages.data() + kPage, kPage + 1, 0) == EFAULT);
  BOOST_TEST(refusal(pages.data(), 2 * kPage, kAllAccess) == 0);
  BOOST_TEST(refusal(nullptr, kPage, 0) == EFAULT);
}

BOOST_FIXTURE_TEST_CASE(registering_what_cannot_be_written, OneDevice) {
  Pages pages(2 * kPage);
  mprotect(pages.data() + kPage, kPage, PROT_READ);
  BOOST_TEST(refusal(pages.data(), 2 * kPage, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
  BOOST_TEST(refusal(pages.data(), 2 * kPage, kAllAccess) == EFAULT);
  BOOST_TEST(refusal(pages.data(), 2 * kPage, IBV_ACCESS_REMOTE_READ) == 0);
  BOOST_TEST(refusal(pages.data(), kPage, kAllAccess) == 0);
  mprotect(pages.data() + kPage, kPage, PROT_NONE);
  BOOST_TEST(refusal(pages.data(), 2 * kPage, IBV_ACCESS_REMOTE_READ) == EFAULT);
}

// Constants lie on pages that no program can write.
const char kConstant[] = "text that remote peers may read";

BOOST_FIXTURE_TEST_CASE(registering_constants, OneDevice) {
  void* constant = const_cast<char*>(kConstant);
  BOOST_TEST(refusal(constant, sizeof kConstant, IBV_ACCESS_REMOTE_READ) == 0);
  BOOST_TEST(refusal(constant, sizeof kConstant, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
}

BOOST_FIXTURE_TEST_CASE(registering_with_rights_that_contradict, OneDevice) {
  BOOST_TEST(refusal(memory.data(), kPage, IBV_ACCESS_REMOTE_WRITE) == EINVAL);
  BOOST_TEST(refusal(memory.data(), kPage, IBV_ACCESS_REMOTE_ATOMIC) == EINVAL);
  BOOST_TEST(refusal(memory.data(), 0, IBV_ACCESS_LOCAL_WRITE) == EINVAL);
  BOOST_TEST(refusal(memory.data(), ~std::size_t{0} - 5, IBV_ACCESS_LOCAL_WRITE) != 0);
}

BOOST_FIXTURE_TEST_CASE(objects_in_use, OneDevice) {
  const CqOwner cq(ibv_create_cq(device.context(), 16, nullptr, nullptr, 0));
  const Endpoint endpoint(device, {}, cq.get(), cq.get());
  BOOST_TEST(ibv_destroy_cq(cq.get()) == EBUSY);
  BOOST_TEST(ibv_dealloc_pd(device.pd()) == EBUSY);
  const ChannelOwner channel(ibv_create_comp_channel(device.context()));
  const CqOwner sleeping(ibv_create_cq(device.context(), 16, nullptr, channel.get(), 0));
  BOOST_TEST(ibv_destroy_comp_channel(channel.get()) == EBUSY);
  // The queue that could not be destroyed still works.
  ibv_wc completion{};
  BOOST_TEST(ibv_poll_cq(cq.get(), 1, &completion) == 0);
}

BOOST_AUTO_TEST_CASE(region_under_a_window) {
  Pair pair;
  const Memory region(pair.left_device.pd(), kPage, kAllAccess | IBV_ACCESS_MW_BIND);
  const MwOwner window(ibv_alloc_mw(pair.left_device.pd(), IBV_MW_TYPE_2));
  BOOST_REQUIRE(window != nullptr);
  ibv_send_wr bind{};
  bind.opcode = IBV_WR_BIND_MW;
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_mw.mw = window.get();
  bind.bind_mw.rkey = ibv_inc_rkey(window->rkey);
  bind.bind_mw.bind_info = {region.mr(), region.address(), kPage, IBV_ACCESS_REMOTE_WRITE};
  pair.left.post(bind);
  BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  BOOST_TEST(ibv_dereg_mr(region.mr()) == EBUSY);
}

BOOST_FIXTURE_TEST_CASE(limits_of_creation, OneDevice) {
  const ibv_device_attr limits = device.attributes();
  BOOST_TEST(ibv_create_cq(device.context(), limits.max_cqe + 1, nullptr, nullptr, 0) == nullptr);
  BOOST_TEST(ibv_create_cq(device.context(), 0, nullptr, nullptr, 0) == nullptr);
  const CqOwner cq(ibv_create_cq(device.context(), 16, nullptr, nullptr, 0));
  const auto refused = [&](const ibv_qp_cap& capacity) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = cq.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = capacity;
    const QpOwner qp(ibv_create_qp(device.pd(), &attributes));
    return qp == nullptr;
  };
  const auto wr = static_cast<std::uint32_t>(limits.max_qp_wr),
             sge = static_cast<std::uint32_t>(limits.max_sge);
  // With libmlx5, as on a ConnectX, a request of RC takes several of the blocks that max_qp_wr counts.
  if (!is_driven_by_libmlx5()) BOOST_TEST(!refused({wr, wr, sge, sge, 0}));
  BOOST_TEST(refused({wr + 1, 1, 1, 1, 0}));
  BOOST_TEST(refused({1, wr + 1, 1, 1, 0}));
  BOOST_TEST(refused({1, 1, sge + 1, 1, 0}));
  BOOST_TEST(refused({1, 1, 1, sge + 1, 0}));
  BOOST_TEST(refused({1, 1, 1, 1, 1 << 20}));
}

// FLUSH (IBTA A19), which the headers of rdma-core 45 and newer declare: its operation and its two rights.
BOOST_FIXTURE_TEST_CASE(flush, OneDevice) {
  constexpr std::uint64_t kWithFlush = 1 << 11;
  const CqOwner cq(ibv_create_cq(device.context(), 16, nullptr, nullptr, 0));
  const auto refusal_of_qp = [&](std::uint64_t operations) {
    ibv_qp_init_attr_ex attributes{};
    attributes.send_cq = attributes.recv_cq = cq.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap = {1, 1, 1, 1, 0};
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attributes.pd = device.pd();
    attributes.send_ops_flags = operations;
    errno = 0;
    const QpOwner qp(ibv_create_qp_ex(device.context(), &attributes));
    return qp ? 0 : errno;
  };
  BOOST_TEST(refusal_of_qp(IBV_QP_EX_WITH_SEND) == 0);
  BOOST_TEST(refusal_of_qp(IBV_QP_EX_WITH_SEND | kWithFlush) == EOPNOTSUPP);
  for (const int right : {1 << 8, 1 << 9})
    BOOST_TEST(refusal(memory.data(), kPage, IBV_ACCESS_LOCAL_WRITE | right) == EOPNOTSUPP);
}

// docs/rules/creation-flags.md
// What it does not know, libmlx5 refuses with either of two errors.
int as_plugin_says(int error) { return is_driven_by_libmlx5() && error == EINVAL ? EOPNOTSUPP : error; }

// Of a send request that is refused.
int post_refusal() { return is_driven_by_libmlx5() ? ENOMEM : EINVAL; }

BOOST_FIXTURE_TEST_CASE(creation_flags_of_queue_pairs, OneDevice) {
  const CqOwner cq(ibv_create_cq(device.context(), 16, nullptr, nullptr, 0));
  const auto refusal_of_qp = [&](ibv_qp_type type, std::uint32_t flags) {
    ibv_qp_init_attr_ex attributes{};
    attributes.send_cq = attributes.recv_cq = cq.get();
    attributes.qp_type = type;
    attributes.cap = {1, 1, 1, 1, 0};
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
    attributes.pd = device.pd();
    attributes.create_flags = flags;
    errno = 0;
    const QpOwner qp(ibv_create_qp_ex(device.context(), &attributes));
    return qp ? 0 : as_plugin_says(errno);
  };
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND}) {
    BOOST_TEST(refusal_of_qp(type, 0) == 0);
    BOOST_TEST(refusal_of_qp(type, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) == 0);
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      if (1U << bit == IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) continue;
      const bool served = type == IBV_QPT_RAW_PACKET && 1U << bit == IBV_QP_CREATE_SCATTER_FCS;
      const int expected = served ? 0 : EOPNOTSUPP;
      BOOST_TEST(refusal_of_qp(type, 1U << bit) == expected, bit);
      BOOST_TEST(refusal_of_qp(type, 1U << bit | IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) == expected, bit);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(creation_flags_of_completion_queues, OneDevice) {
  const auto refusal_of_cq = [&](std::uint32_t flags, std::uint64_t fields, std::uint32_t more = 0) {
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = 16;
    attributes.wc_flags = fields;
    attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | more;
    attributes.flags = flags;
    errno = 0;
    ibv_cq_ex* const cq = ibv_create_cq_ex(device.context(), &attributes);
    if (cq == nullptr) return as_plugin_says(errno);
    BOOST_TEST(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) == 0);
    return 0;
  };
  constexpr std::uint32_t kServed = IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  BOOST_TEST(refusal_of_cq(kServed, 0) == 0);
  for (std::uint32_t bit = 0; bit < 32; ++bit)
    BOOST_TEST(refusal_of_cq(1U << bit, 0) == ((kServed & 1U << bit) != 0 ? 0 : EOPNOTSUPP), bit);
  const std::uint64_t fields_served =
      std::uint64_t{IBV_WC_STANDARD_FLAGS} | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_TM_INFO |
      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK |
      (is_driven_by_libmlx5() ? IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG : 0u);
  for (std::uint32_t bit = 0; bit < 16; ++bit)
    BOOST_TEST(refusal_of_cq(0, 1U << bit) == ((fields_served & 1U << bit) != 0 ? 0 : EOPNOTSUPP), bit);
  BOOST_TEST(refusal_of_cq(0, 0, 1 << 2) == EOPNOTSUPP);
}

BOOST_FIXTURE_TEST_CASE(creation_flags_of_work_queues, OneDevice) {
  const CqOwner cq(ibv_create_cq(device.context(), 16, nullptr, nullptr, 0));
  const auto refusal_of_wq = [&](std::uint32_t flags, std::uint32_t more = 0) {
    ibv_wq_init_attr attributes{};
    attributes.wq_type = IBV_WQT_RQ;
    attributes.max_wr = attributes.max_sge = 1;
    attributes.pd = device.pd();
    attributes.cq = cq.get();
    attributes.comp_mask = IBV_WQ_INIT_ATTR_FLAGS | more;
    attributes.create_flags = flags;
    errno = 0;
    ibv_wq* const queue = ibv_create_wq(device.context(), &attributes);
    if (queue == nullptr) return as_plugin_says(errno);
    BOOST_TEST(ibv_destroy_wq(queue) == 0);
    return 0;
  };
  BOOST_TEST(refusal_of_wq(0) == 0);
  BOOST_TEST(refusal_of_wq(0, 1 << 1) == EOPNOTSUPP);
  for (std::uint32_t bit = 0; bit < 32; ++bit)
    BOOST_TEST(refusal_of_wq(1U << bit) == (1U << bit == IBV_WQ_FLAGS_SCATTER_FCS ? 0 : EOPNOTSUPP), bit);
  ibv_device_attr_ex capabilities{};
  BOOST_REQUIRE_EQUAL(ibv_query_device_ex(device.context(), nullptr, &capabilities), 0);
  BOOST_TEST(capabilities.raw_packet_caps == std::uint32_t{IBV_RAW_PACKET_CAP_SCATTER_FCS});
  BOOST_TEST((capabilities.device_cap_flags_ex & IBV_DEVICE_RAW_SCATTER_FCS) != 0u);
  BOOST_TEST((capabilities.device_cap_flags_ex & IBV_DEVICE_PCI_WRITE_END_PADDING) == 0u);
}

// Not those that the kinds of memory allow, which other cases show.
BOOST_FIXTURE_TEST_CASE(rights_of_regions, OneDevice) {
  constexpr std::uint32_t kFlush = 3 << 8;
  for (std::uint32_t bit = 8; bit < 32; ++bit) {
    const std::uint32_t right = 1U << bit;
    const int expected = (right & kFlush) != 0                      ? EOPNOTSUPP
                         : (right & IBV_ACCESS_OPTIONAL_RANGE) != 0 ? 0
                                                                    : EINVAL;
    BOOST_TEST(refusal(memory.data(), kPage, static_cast<int>(IBV_ACCESS_LOCAL_WRITE | right)) == expected,
               bit);
  }
}

// The attributes that a transition needs, all of them and no others (IBTA 11.2.5.2).
BOOST_FIXTURE_TEST_CASE(transitions, OneDevice) {
  Endpoint endpoint(device, {});
  const QpAddress self = endpoint.address();
  BOOST_TEST(endpoint.to_rts() == EINVAL);
  BOOST_TEST(endpoint.to_rtr(self) == EINVAL);
  BOOST_TEST(endpoint.to_state(IBV_QPS_INIT) == EINVAL);
  BOOST_TEST(endpoint.to_state(IBV_QPS_SQD) == EINVAL);

  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 2;
  const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  BOOST_TEST(ibv_modify_qp(endpoint.qp(), &attributes, init) == EINVAL);
  attributes.port_num = 1;
  attributes.pkey_index = 99;
  BOOST_TEST(ibv_modify_qp(endpoint.qp(), &attributes, init) == EINVAL);
  attributes.pkey_index = 0;
  BOOST_TEST(ibv_modify_qp(endpoint.qp(), &attributes, init | IBV_QP_TIMEOUT) == EINVAL);
  BOOST_TEST(endpoint.state() == IBV_QPS_RESET);
  BOOST_TEST(endpoint.to_init() == 0);
  BOOST_TEST(endpoint.to_rts() == EINVAL);
  BOOST_TEST(endpoint.to_rtr(self) == 0);
  BOOST_TEST(endpoint.to_init() == EINVAL);
  BOOST_TEST(endpoint.to_rts() == 0);
  BOOST_TEST(endpoint.to_rtr(self) == EINVAL);
  BOOST_TEST(endpoint.state() == IBV_QPS_RTS);
  BOOST_TEST(endpoint.to_state(IBV_QPS_ERR) == 0);
  BOOST_TEST(endpoint.to_rts() == EINVAL);
  BOOST_TEST(endpoint.to_state(IBV_QPS_RESET) == 0);
}

BOOST_FIXTURE_TEST_CASE(values_out_of_range, OneDevice) {
  const auto rtr_with = [&](auto change) {
    EndpointOptions options;
    Endpoint endpoint(device, options);
    BOOST_REQUIRE_EQUAL(endpoint.to_init(), 0);
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = IBV_MTU_1024;
    attributes.dest_qp_num = 1;
    attributes.max_dest_rd_atomic = 1;
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.port_num = 1;
    attributes.ah_attr.grh.dgid = device.gid();
    attributes.ah_attr.grh.sgid_index = kGidIndex;
    change(attributes);
    return ibv_modify_qp(endpoint.qp(), &attributes,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  };
  BOOST_TEST(rtr_with([](ibv_qp_attr&) {}) == 0);
  BOOST_TEST(rtr_with([](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(6); }) == EINVAL);
  BOOST_TEST(rtr_with([](ibv_qp_attr& a) { a.path_mtu = static_cast<ibv_mtu>(0); }) == EINVAL);
  BOOST_TEST(rtr_with([](ibv_qp_attr& a) { a.max_dest_rd_atomic = 255; }) == EINVAL);
  BOOST_TEST(rtr_with([](ibv_qp_attr& a) { a.min_rnr_timer = 32; }) == EINVAL);
  BOOST_TEST(rtr_with([](ibv_qp_attr& a) { a.ah_attr.grh.sgid_index = 200; }) == EINVAL);
  // RoCE has no addresses but GIDs (IBTA A17.4.2).
  BOOST_TEST(rtr_with([](ibv_qp_attr& a) { a.ah_attr.is_global = 0; }) == EINVAL);
}

BOOST_FIXTURE_TEST_CASE(posting_too_early, OneDevice) {
  Endpoint endpoint(device, {});
  ibv_sge segment = memory.segment(0, 8);
  ibv_send_wr send = send_request(segment);
  ibv_send_wr* bad_send = nullptr;
  ibv_recv_wr receive{};
  ibv_recv_wr* bad_receive = nullptr;
  BOOST_TEST(ibv_post_recv(endpoint.qp(), &receive, &bad_receive) == EINVAL);
  BOOST_TEST(bad_receive == &receive);
  BOOST_TEST(ibv_post_send(endpoint.qp(), &send, &bad_send) == post_refusal());
  BOOST_TEST(bad_send == &send);
  BOOST_REQUIRE_EQUAL(endpoint.to_init(), 0);
  BOOST_TEST(ibv_post_recv(endpoint.qp(), &receive, &bad_receive) == 0);
  BOOST_TEST(ibv_post_send(endpoint.qp(), &send, &bad_send) == post_refusal());
}

// The requests before the bad one are posted, it and those behind it are not.
BOOST_AUTO_TEST_CASE(bad_request_in_a_list) {
  Pair pair;
  const Memory source(pair.left_device.pd(), kPage), target(pair.right_device.pd(), kPage);
  fill(source.bytes(0, 100), 1);
  std::array<ibv_sge, 64> segments;
  segments.fill(source.segment(0, 1));
  ibv_sge segment = source.segment(0, 100);
  std::array<ibv_send_wr, 3> requests;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i] = rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(i * 100), target.rkey(), i);
    requests[i].next = i + 1 < requests.size() ? &requests[i + 1] : nullptr;
  }
  requests[1].sg_list = segments.data();
  requests[1].num_sge = static_cast<int>(pair.left.capacity().max_send_sge) + 1;
  ibv_send_wr* bad = nullptr;
  BOOST_TEST(ibv_post_send(pair.left.qp(), requests.data(), &bad) == post_refusal());
  BOOST_TEST(bad == &requests[1]);
  const ibv_wc first = pair.left.wait_send();
  BOOST_TEST(first.wr_id == 0);
  BOOST_TEST(first.status == IBV_WC_SUCCESS);
  BOOST_TEST(!poll_for(pair.left.send_cq(), std::chrono::milliseconds(50)));
  BOOST_TEST(!difference(target.bytes(0, 100), 1));
  BOOST_TEST(difference(target.bytes(200, 100), 1).has_value());

  requests[1].num_sge = 1;
  requests[1].sg_list = &segment;
  requests[1].opcode = IBV_WR_TSO;
  BOOST_TEST(ibv_post_send(pair.left.qp(), &requests[1], &bad) == EINVAL);
  BOOST_TEST(bad == &requests[1]);
}

BOOST_AUTO_TEST_CASE(full_queues) {
  EndpointOptions options;
  options.capacity.max_send_wr = 10;
  options.capacity.max_recv_wr = 10;
  Pair pair(options);
  const Memory memory(pair.left_device.pd(), kPage);
  ibv_sge segment = memory.segment(0, 8);
  // No receive is there: nothing leaves the send queue.
  std::uint32_t sends = 0, receives = 0;
  ibv_send_wr send = send_request(segment);
  ibv_send_wr* bad_send = nullptr;
  int error = 0;
  while (sends < 1000 && (error = ibv_post_send(pair.left.qp(), &send, &bad_send)) == 0) ++sends;
  BOOST_TEST(error == ENOMEM);
  BOOST_TEST(bad_send == &send);
  BOOST_TEST(sends >= pair.left.capacity().max_send_wr);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad_receive = nullptr;
  while (receives < 1000 && (error = ibv_post_recv(pair.left.qp(), &receive, &bad_receive)) == 0) ++receives;
  BOOST_TEST(error == ENOMEM);
  BOOST_TEST(bad_receive == &receive);
  BOOST_TEST(receives >= pair.left.capacity().max_recv_wr);
}

BOOST_AUTO_TEST_CASE(too_much_inline_data) {
  EndpointOptions options;
  options.capacity.max_inline_data = 64;
  Pair pair(options);
  const std::size_t most = pair.left.capacity().max_inline_data;
  BOOST_REQUIRE_GE(most, 64);
  const Memory source(pair.left_device.pd(), kPage), target(pair.right_device.pd(), kPage);
  ibv_sge segment = source.segment(0, most + 1);
  ibv_send_wr request = rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey());
  request.send_flags |= IBV_SEND_INLINE;
  ibv_send_wr* bad = nullptr;
  BOOST_TEST(ibv_post_send(pair.left.qp(), &request, &bad) != 0);
  BOOST_TEST(bad == &request);
  segment.length = static_cast<std::uint32_t>(most);
  BOOST_TEST(ibv_post_send(pair.left.qp(), &request, &bad) == 0);
  BOOST_TEST(pair.left.wait_send().status == IBV_WC_SUCCESS);
}

// Addresses that the program chose for its memory, at both ends.
BOOST_AUTO_TEST_CASE(addresses_of_its_own) {
  Pair pair;
  constexpr std::uint64_t left_iova = 0x7000000000, right_iova = 0x1000;
  const Pages source(kPage), target(kPage);
  const MrOwner left(ibv_reg_mr_iova(pair.left_device.pd(), source.data(), kPage, left_iova, kAllAccess));
  const MrOwner right(ibv_reg_mr_iova(pair.right_device.pd(), target.data(), kPage, right_iova, kAllAccess));
  BOOST_REQUIRE(left != nullptr);
  BOOST_REQUIRE(right != nullptr);
  fill({source.data(), kPage}, 1);
  ibv_sge segment{left_iova + 10, 3000, left->lkey};
  pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, right_iova + 20, right->rkey));
  BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  BOOST_TEST(!difference({target.data() + 20, 3000}, 1, 10));
  // Receives into such memory, short ones too, which may come another way.
  for (const std::uint32_t length : {8U, 500U}) {
    pair.right.post_receive(1, {{right_iova + 3000, length, right->lkey}});
    segment.length = length;
    pair.left.post(send_request(segment));
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(pair.right.wait_receive().status, IBV_WC_SUCCESS);
    BOOST_TEST(!difference({target.data() + 3000, length}, 1, 10));
  }
  segment.length = 100;
  pair.left.post(
      rdma_request(IBV_WR_RDMA_WRITE, segment, reinterpret_cast<std::uintptr_t>(target.data()), right->rkey));
  BOOST_TEST(pair.left.wait_send().status == IBV_WC_REM_ACCESS_ERR);
}

}  // namespace
}  // namespace urnic::apps
