// Tag matching: eager messages and rendezvous, removing buffers, keeping in step, limits and what is refused.
#include <infiniband/tm_types.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

using SrqOwner = std::unique_ptr<ibv_srq, Destroyer<ibv_destroy_srq>>;

constexpr std::size_t kPart = 8192;
constexpr std::uint32_t kTags = 4;
constexpr std::uint32_t kOperations = 3;
constexpr std::uint64_t kEveryBit = ~std::uint64_t{0};

std::uint64_t big_endian(std::uint64_t value) { return __builtin_bswap64(value); }
std::uint32_t big_endian(std::uint32_t value) { return __builtin_bswap32(value); }

ibv_tm_caps capabilities(const Device& device) {
  ibv_device_attr_ex attributes{};
  BOOST_REQUIRE(ibv_query_device_ex(device.context(), nullptr, &attributes) == 0);
  return attributes.tm_caps;
}

ibv_srq* create_srq(const Device& device, ibv_cq* cq, std::uint32_t max_tags, std::uint32_t max_operations) {
  ibv_srq_init_attr_ex attributes{};
  attributes.attr.max_wr = 8;
  attributes.attr.max_sge = 1;
  attributes.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_TM;
  attributes.srq_type = IBV_SRQT_TM;
  attributes.pd = device.pd();
  attributes.cq = cq;
  attributes.tm_cap = {max_tags, max_operations};
  return ibv_create_srq_ex(device.context(), &attributes);
}

EndpointOptions on(ibv_srq* srq) {
  EndpointOptions options;
  options.srq = srq;
  options.capacity = {0, 0, 0, 0, 0};
  return options;
}

// A connection from the left to a tag-matching SRQ.
struct Bench {
  Device left_device{device_names().first};
  Device right_device{device_names().second};
  CqOwner cq{ibv_create_cq(right_device.context(), 64, nullptr, nullptr, 0)};
  SrqOwner srq{create_srq(right_device, cq.get(), kTags, kOperations)};
  Endpoint left{left_device, {}};
  Endpoint right{right_device, on(srq.get())};
  Memory from{left_device.pd(), 4 * kPart};
  Memory to{right_device.pd(), 16 * kPart};

  Bench() {
    BOOST_REQUIRE(srq.get() != nullptr);
    left.connect(right.address());
    right.connect(left.address());
  }

  int post(ibv_ops_wr& request) {
    ibv_ops_wr* bad = nullptr;
    const int error = ibv_post_srq_ops(srq.get(), &request, &bad);
    BOOST_TEST((error == 0 || bad == &request));
    return error;
  }
  // Buffer `id`, in part `id` of the memory, with that as its wr_id.
  int add(std::uint64_t id, std::uint64_t tag, int flags = 0, std::uint32_t* handle = nullptr) {
    ibv_sge segment = to.segment(id * kPart, kPart);
    ibv_ops_wr request{};
    request.wr_id = 100 + id;
    request.opcode = IBV_WR_TAG_ADD;
    request.flags = flags;
    request.tm.add = {id, &segment, 1, tag, kEveryBit};
    const int error = post(request);
    if (handle != nullptr) *handle = request.tm.handle;
    return error;
  }
  int remove(std::uint32_t handle, int flags = IBV_OPS_SIGNALED) {
    ibv_ops_wr request{};
    request.wr_id = 200;
    request.opcode = IBV_WR_TAG_DEL;
    request.flags = flags;
    request.tm.handle = handle;
    return post(request);
  }
  int sync(std::uint32_t count, int flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC) {
    ibv_ops_wr request{};
    request.wr_id = 300;
    request.opcode = IBV_WR_TAG_SYNC;
    request.flags = flags;
    request.tm.unexpected_cnt = count;
    return post(request);
  }
  void post_receive(std::uint64_t id) {
    ibv_sge segment = to.segment(id * kPart, kPart);
    ibv_recv_wr request{id, nullptr, &segment, 1};
    ibv_recv_wr* bad = nullptr;
    BOOST_REQUIRE(ibv_post_srq_recv(srq.get(), &request, &bad) == 0);
  }

  void send(std::uint8_t opcode, std::uint64_t tag, std::size_t length) {
    auto* header = reinterpret_cast<ibv_tmh*>(from.bytes(0, sizeof(ibv_tmh)).data());
    *header = {opcode, {}, 0, big_endian(tag)};
    ibv_sge segment = from.segment(0, static_cast<std::uint32_t>(length));
    left.post(send_request(segment));
    BOOST_TEST(left.wait_send().status == IBV_WC_SUCCESS);
  }
  ibv_wc expect(ibv_wc_opcode opcode, std::uint64_t id, unsigned int flags,
                ibv_wc_status status = IBV_WC_SUCCESS) {
    const ibv_wc completion = wait_completion(cq.get());
    BOOST_TEST(completion.opcode == opcode);
    BOOST_TEST(completion.wr_id == id);
    BOOST_TEST(completion.wc_flags == flags);
    BOOST_TEST(completion.status == status);
    return completion;
  }
};

constexpr unsigned int kWhole = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tag_matching, Bench)

BOOST_AUTO_TEST_CASE(messages_of_every_size_go_to_their_buffers) {
  std::uint64_t seed = 0;
  for (const std::size_t length : {0u, 1u, 8u, 32u, 1000u, 1008u, 1009u, 5000u, 8192u}) {
    BOOST_REQUIRE(add(1, 8) == 0);
    BOOST_REQUIRE(add(2, 7, IBV_OPS_SIGNALED) == 0);
    expect(IBV_WC_TM_ADD, 102, 0);
    fill(from.bytes(sizeof(ibv_tmh), length), ++seed);
    send(IBV_TMH_EAGER, 7, sizeof(ibv_tmh) + length);
    if (sizeof(ibv_tmh) + length <= 1024) {
      BOOST_TEST(expect(IBV_WC_TM_RECV, 2, kWhole).byte_len == length);
    } else {
      expect(IBV_WC_TM_RECV, 2, IBV_WC_TM_MATCH);
      BOOST_TEST(expect(IBV_WC_TM_RECV, 2, IBV_WC_TM_DATA_VALID).byte_len == length);
    }
    BOOST_TEST(!difference(to.bytes(2 * kPart, length), seed));
    send(IBV_TMH_EAGER, 8, sizeof(ibv_tmh));
    expect(IBV_WC_TM_RECV, 1, kWhole);
  }
}

BOOST_AUTO_TEST_CASE(a_rendezvous_is_read_and_ended) {
  const std::size_t length = 2 * kPart;
  ibv_sge segment = to.segment(4 * kPart, static_cast<std::uint32_t>(length));
  ibv_ops_wr request{};
  request.opcode = IBV_WR_TAG_ADD;
  request.tm.add = {5, &segment, 1, 7, kEveryBit};
  BOOST_REQUIRE(post(request) == 0);
  left.post_receive(77, {from.segment(kPart / 2, 64)});
  fill(from.bytes(kPart, length), 5);
  auto* offer = reinterpret_cast<ibv_rvh*>(from.bytes(sizeof(ibv_tmh), sizeof(ibv_rvh)).data());
  const ibv_sge offered = from.segment(kPart, static_cast<std::uint32_t>(length));
  *offer = {big_endian(offered.addr), big_endian(from.rkey()), big_endian(offered.length)};
  send(IBV_TMH_RNDV, 7, sizeof(ibv_tmh) + sizeof(ibv_rvh));
  expect(IBV_WC_TM_RECV, 5, IBV_WC_TM_MATCH);
  BOOST_TEST(expect(IBV_WC_TM_RECV, 5, IBV_WC_TM_DATA_VALID).byte_len == length);
  BOOST_TEST(!difference(to.bytes(4 * kPart, length), 5));
  const ibv_wc end = left.wait_receive();
  BOOST_TEST(end.wr_id == 77u);
  BOOST_TEST(end.byte_len == sizeof(ibv_tmh) + sizeof(ibv_rvh));
  BOOST_TEST(reinterpret_cast<const ibv_tmh*>(from.bytes(kPart / 2, 16).data())->opcode == IBV_TMH_FIN);
}

BOOST_AUTO_TEST_CASE(a_removed_buffer_is_gone_and_a_matched_one_cannot_be_removed) {
  std::uint32_t removed = 0;
  std::uint32_t matched = 0;
  BOOST_REQUIRE(add(1, 7, 0, &removed) == 0);
  BOOST_REQUIRE(remove(removed) == 0);
  expect(IBV_WC_TM_DEL, 200, 0);
  BOOST_REQUIRE(add(2, 7, 0, &matched) == 0);
  BOOST_TEST(matched != removed);
  send(IBV_TMH_EAGER, 7, 100);
  BOOST_REQUIRE(remove(matched) == 0);
  expect(IBV_WC_TM_RECV, 2, kWhole);
  expect(IBV_WC_TM_DEL, 200, 0, IBV_WC_TM_ERR);
  BOOST_REQUIRE(add(3, 8) == 0);
  for (const std::uint32_t gone : {removed, matched}) {
    BOOST_REQUIRE(remove(gone) == 0);
    expect(IBV_WC_TM_DEL, 200, 0, IBV_WC_TM_ERR);
  }
  send(IBV_TMH_EAGER, 8, 100);
  expect(IBV_WC_TM_RECV, 3, kWhole);
}

BOOST_AUTO_TEST_CASE(new_buffers_wait_for_the_program_to_have_seen_what_was_unexpected) {
  post_receive(9);
  post_receive(10);
  send(IBV_TMH_EAGER, 7, 100);
  expect(IBV_WC_TM_RECV, 9, 0);
  BOOST_REQUIRE(add(1, 7, IBV_OPS_SIGNALED) == 0);
  expect(IBV_WC_TM_ADD, 101, IBV_WC_TM_SYNC_REQ);
  send(IBV_TMH_EAGER, 7, 100);
  expect(IBV_WC_TM_RECV, 10, IBV_WC_TM_SYNC_REQ);
  BOOST_REQUIRE(sync(2) == 0);
  expect(IBV_WC_TM_SYNC, 300, 0);
  send(IBV_TMH_EAGER, 7, 100);
  expect(IBV_WC_TM_RECV, 1, kWhole);
}

BOOST_AUTO_TEST_CASE(no_more_buffers_than_tags) {
  std::uint32_t handle = 0;
  for (std::uint64_t id = 0; id < kTags; ++id) {
    BOOST_TEST(add(id, id, IBV_OPS_SIGNALED, &handle) == 0);
    expect(IBV_WC_TM_ADD, 100 + id, 0);
  }
  BOOST_TEST(add(9, 9) == ENOMEM);
  BOOST_TEST(remove(handle) == 0);
  expect(IBV_WC_TM_DEL, 200, 0);
  BOOST_TEST(add(9, 9) == 0);
  send(IBV_TMH_EAGER, 0, 100);
  expect(IBV_WC_TM_RECV, 0, kWhole);
  BOOST_TEST(add(0, 0, IBV_OPS_SIGNALED) == 0);
}

BOOST_AUTO_TEST_CASE(no_more_operations_than_asked_for_are_outstanding) {
  for (std::uint32_t i = 0; i < kOperations; ++i) BOOST_TEST(sync(0) == 0);
  BOOST_TEST(sync(0) == ENOMEM);
  expect(IBV_WC_TM_SYNC, 300, 0);
  BOOST_TEST(sync(0) == 0);
  BOOST_TEST(sync(0) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
  ibv_ops_wr request{};
  request.opcode = static_cast<ibv_ops_wr_opcode>(3);
  BOOST_TEST(post(request) == EINVAL);
  BOOST_TEST(sync(0, 4) == EINVAL);
  BOOST_TEST(remove(kTags) == EINVAL);
  const ibv_tm_caps caps = capabilities(right_device);
  request = {};
  request.opcode = IBV_WR_TAG_ADD;
  request.tm.add.num_sge = static_cast<int>(caps.max_sge) + 1;
  BOOST_TEST(post(request) == EINVAL);
  ibv_send_wr own_send{};
  own_send.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  BOOST_TEST(ibv_post_send(right.qp(), &own_send, &bad) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(sizes_have_the_limits_that_the_device_reports) {
  const ibv_tm_caps caps = capabilities(right_device);
  BOOST_TEST(caps.flags == unsigned{IBV_TM_CAP_RC});
  BOOST_TEST(caps.max_rndv_hdr_size >= sizeof(ibv_tmh) + sizeof(ibv_rvh));
  for (const auto& [tags, operations] :
       {std::pair{caps.max_num_tags + 1, 1u}, std::pair{1u, caps.max_ops + 1}, std::pair{0u, 1u}}) {
    errno = 0;
    BOOST_TEST(create_srq(right_device, cq.get(), tags, operations) == nullptr);
    BOOST_TEST(errno == EINVAL);
  }
  const SrqOwner largest(create_srq(right_device, cq.get(), caps.max_num_tags, caps.max_ops));
  BOOST_TEST(largest.get() != nullptr);
  BOOST_TEST(ibv_destroy_cq(cq.get()) == EBUSY);
  BOOST_TEST(ibv_destroy_srq(srq.get()) == EBUSY);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::apps
