// Datagrams as a program sees them: an answer to the sender, Q_Keys, groups and their limits.
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/apps/programs/datagrams.hpp"

namespace urnic::apps {
namespace {

namespace data = boost::unit_test::data;

constexpr std::chrono::milliseconds kSilence{200};

struct TwoDevices {
  Device left_device{device_names().first};
  Device right_device{device_names().second};
};

struct Two : TwoDevices {
  Datagrams left{left_device};
  Datagrams right{right_device};
};

ibv_gid group(std::uint8_t last, bool ipv4 = false) {
  ibv_gid gid{};
  const std::uint8_t bytes6[16] = {0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, last};
  const std::uint8_t bytes4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 239, 1, 7, last};
  std::copy_n(ipv4 ? bytes4 : bytes6, 16, gid.raw);
  return gid;
}

}  // namespace

// The library makes the handle for the answer from the GRH in front of what was received.
BOOST_DATA_TEST_CASE(an_answer_goes_to_who_has_sent, data::make({0, 1}), gid_index) {
  Two two;
  fill(two.left.memory().bytes(0, 1000), 1);
  fill(two.right.memory().bytes(0, 500), 2);
  two.left.post_receive();
  two.right.post_receive();
  const AhOwner there = two.left.handle_to(gid_of(two.right_device, gid_index), gid_index);
  BOOST_REQUIRE(there != nullptr);
  BOOST_TEST(two.left.send(there.get(), two.right.qp()->qp_num, 1000) == IBV_WC_SUCCESS);
  ibv_wc received = wait_completion(two.right.cq());
  BOOST_TEST(received.byte_len == kGrh + 1000);
  BOOST_TEST((received.wc_flags & IBV_WC_GRH) != 0u);
  BOOST_TEST(received.sl == (gid_index == 1 ? 0xAu : 0x9u));  // by the GID, over IPv4 or IPv6 (UCX reads it)
  BOOST_TEST(received.src_qp == two.left.qp()->qp_num);
  BOOST_TEST(!difference(two.right.message(1000), 1));

  const AhOwner back(ibv_create_ah_from_wc(two.right_device.pd(), &received, two.right.grh(), 1));
  BOOST_REQUIRE(back != nullptr);
  BOOST_TEST(two.right.send(back.get(), received.src_qp, 500) == IBV_WC_SUCCESS);
  received = wait_completion(two.left.cq());
  BOOST_TEST(received.src_qp == two.right.qp()->qp_num);
  BOOST_TEST(!difference(two.left.message(500), 2));
}

BOOST_FIXTURE_TEST_CASE(who_has_the_wrong_qkey_is_not_heard, Two) {
  right.post_receive();
  const AhOwner there = left.handle_to(right_device.gid(), kGidIndex);
  BOOST_TEST(left.send(there.get(), right.qp()->qp_num, 8, kQkey + 1) == IBV_WC_SUCCESS);
  BOOST_TEST(!poll_for(right.cq(), kSilence).has_value());
  BOOST_TEST(left.send(there.get(), right.qp()->qp_num, 8, 0x80000000) == IBV_WC_SUCCESS);  // its own
  BOOST_TEST(wait_completion(right.cq()).status == IBV_WC_SUCCESS);
}

BOOST_FIXTURE_TEST_CASE(what_does_not_fit_is_not_heard_and_takes_no_receive, Two) {
  right.post_receive(kGrh + 10);
  const AhOwner there = left.handle_to(right_device.gid(), kGidIndex);
  BOOST_TEST(left.send(there.get(), right.qp()->qp_num, 11) == IBV_WC_SUCCESS);
  BOOST_TEST(!poll_for(right.cq(), kSilence).has_value());
  BOOST_TEST(left.send(there.get(), right.qp()->qp_num, 10) == IBV_WC_SUCCESS);
  BOOST_TEST(wait_completion(right.cq()).byte_len == kGrh + 10);
}

BOOST_FIXTURE_TEST_CASE(an_error_of_a_request_leads_to_sqe_and_back, Two) {
  const AhOwner there = left.handle_to(right_device.gid(), kGidIndex);
  BOOST_TEST(left.send(there.get(), right.qp()->qp_num, 4097) == IBV_WC_LOC_LEN_ERR);
  BOOST_TEST(left.send(there.get(), right.qp()->qp_num, 8) == IBV_WC_WR_FLUSH_ERR);
  ibv_qp_attr attributes{};
  ibv_qp_init_attr initial{};
  BOOST_TEST(ibv_query_qp(left.qp(), &attributes, IBV_QP_STATE, &initial) == 0);
  BOOST_TEST(attributes.qp_state == IBV_QPS_SQE);
  attributes.qp_state = IBV_QPS_RTS;
  BOOST_TEST(ibv_modify_qp(left.qp(), &attributes, IBV_QP_STATE) == 0);
  BOOST_TEST(left.send(there.get(), right.qp()->qp_num, 8) == IBV_WC_SUCCESS);
}

BOOST_FIXTURE_TEST_CASE(a_handle_of_another_protection_domain_is_not_used, Two) {
  const PdOwner other(ibv_alloc_pd(left_device.context()));
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  attributes.port_num = 1;
  attributes.grh.dgid = right_device.gid();
  attributes.grh.sgid_index = kGidIndex;
  const AhOwner foreign(ibv_create_ah(other.get(), &attributes));
  BOOST_TEST(left.send(foreign.get(), right.qp()->qp_num, 8) == IBV_WC_LOC_QP_OP_ERR);
  attributes.grh.dgid.raw[15] = 99;
  BOOST_TEST(ibv_create_ah(other.get(), &attributes) == nullptr);
  BOOST_TEST(errno == ETIMEDOUT);
}

BOOST_DATA_TEST_CASE(a_group_hears_each_message_once, data::make({false, true}), ipv4) {
  TwoDevices devices;
  Datagrams sender(devices.left_device);
  Datagrams beside(devices.left_device);
  Datagrams other(devices.right_device);
  Datagrams stranger(devices.right_device);
  const ibv_gid joined = group(1, ipv4);
  for (Datagrams* one : {&sender, &beside, &other, &stranger}) one->post_receive();
  for (Datagrams* one : {&sender, &beside, &other}) BOOST_TEST(ibv_attach_mcast(one->qp(), &joined, 0) == 0);
  fill(sender.memory().bytes(0, 256), 5);
  const AhOwner there = sender.handle_to(joined, kGidIndex);
  BOOST_REQUIRE(there != nullptr);
  BOOST_TEST(sender.send(there.get(), 0xFFFFFF, 256) == IBV_WC_SUCCESS);
  for (Datagrams* one : {&sender, &beside, &other}) {
    const ibv_wc received = wait_completion(one->cq());
    BOOST_TEST(received.src_qp == sender.qp()->qp_num);
    BOOST_TEST(!difference(one->message(256), 5));
  }
  for (Datagrams* one : {&sender, &beside, &other}) one->post_receive();
  for (Datagrams* one : {&sender, &beside, &other, &stranger})
    BOOST_TEST(!poll_for(one->cq(), kSilence).has_value());
  BOOST_TEST(ibv_detach_mcast(stranger.qp(), &joined, 0) == EINVAL);
  for (Datagrams* one : {&sender, &beside, &other}) BOOST_TEST(ibv_detach_mcast(one->qp(), &joined, 0) == 0);
}

BOOST_AUTO_TEST_CASE(a_sender_that_blocks_its_own_hears_the_others) {
  TwoDevices devices;
  Datagrams sender(devices.left_device, kQkey, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
  Datagrams beside(devices.left_device);
  const ibv_gid joined = group(2);
  for (Datagrams* one : {&sender, &beside}) {
    one->post_receive();
    BOOST_TEST(ibv_attach_mcast(one->qp(), &joined, 0) == 0);
  }
  const AhOwner there = sender.handle_to(joined, kGidIndex),
                from_beside = beside.handle_to(joined, kGidIndex);
  BOOST_TEST(sender.send(there.get(), 0xFFFFFF, 256) == IBV_WC_SUCCESS);
  BOOST_TEST(wait_completion(beside.cq()).src_qp == sender.qp()->qp_num);
  BOOST_TEST(!poll_for(sender.cq(), kSilence).has_value());
  BOOST_TEST(beside.send(from_beside.get(), 0xFFFFFF, 256) == IBV_WC_SUCCESS);
  BOOST_TEST(wait_completion(sender.cq()).src_qp == beside.qp()->qp_num);
  for (Datagrams* one : {&sender, &beside}) BOOST_TEST(ibv_detach_mcast(one->qp(), &joined, 0) == 0);
}

BOOST_FIXTURE_TEST_CASE(groups_end_where_the_device_says, Two) {
  const ibv_device_attr limits = left_device.attributes();
  BOOST_REQUIRE(limits.max_mcast_grp > 0);
  const auto numbered = [](int number) {
    ibv_gid gid = group(static_cast<std::uint8_t>(number));
    gid.raw[13] = static_cast<std::uint8_t>(number >> 8);
    return gid;
  };
  for (int i = 0; i < limits.max_mcast_grp; ++i) {
    const ibv_gid gid = numbered(i);
    BOOST_REQUIRE(ibv_attach_mcast(left.qp(), &gid, 0) == 0);
  }
  ibv_gid gid = numbered(limits.max_mcast_grp);
  BOOST_TEST(ibv_attach_mcast(left.qp(), &gid, 0) == ENOMEM);
  BOOST_TEST(ibv_destroy_qp(left.qp()) == EBUSY);
  for (int i = 0; i < limits.max_mcast_grp; ++i) {
    gid = numbered(i);
    BOOST_REQUIRE(ibv_detach_mcast(left.qp(), &gid, 0) == 0);
  }
  gid = right_device.gid();
  BOOST_TEST(ibv_attach_mcast(left.qp(), &gid, 0) == EINVAL);
}

}  // namespace urnic::apps
