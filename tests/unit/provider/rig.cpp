#include "tests/unit/provider/rig.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <memory>

namespace urnic::test {
namespace {

std::unique_ptr<FakeDevice> present_device;

void introduce_device() {
  // The library wants the name "/x/liburnic" for "/x/liburnic-rdmav34.so".
  std::string driver = URNIC_PLUGIN_FILE;
  driver.resize(driver.size() - std::string("-rdmav34.so").size());
  setenv("RDMAV_DRIVERS", driver.c_str(), 1);
  setenv("SYSFS_PATH", present_device->sysfs().c_str(), 1);
  attach_fake_node(present_device->node());
}

}  // namespace

FakeDevice& fake_device() {
  if (present_device == nullptr) {
    present_device = std::make_unique<FakeDevice>();
    introduce_device();
  }
  return *present_device;
}

void replace_fake_device() {
  // The library has read SYSFS_PATH once and for all: the tree that the variable names must stay.
  static std::vector<std::unique_ptr<FakeDevice>> dead;
  dead.push_back(std::move(present_device));
  present_device = std::make_unique<FakeDevice>();
  attach_fake_node(present_device->node());
}

OpenDevice::OpenDevice() {
  fake_device();
  ibv_device** list = ibv_get_device_list(nullptr);
  BOOST_REQUIRE(list != nullptr);
  BOOST_REQUIRE(list[0] != nullptr);
  BOOST_REQUIRE(ibv_get_device_name(list[0]) == std::string("urnic_fake"));
  context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  BOOST_REQUIRE(context != nullptr);
}

OpenDevice::~OpenDevice() { ibv_close_device(context); }

Rig::Rig(bool extended) : device(fake_device()) {
  channel = ibv_create_comp_channel(context);
  pd = ibv_alloc_pd(context);
  cq = ibv_create_cq(context, 10, nullptr, channel, 0);
  BOOST_REQUIRE(channel != nullptr && pd != nullptr && cq != nullptr);
  ibv_qp_init_attr_ex attributes{};
  attributes.send_cq = attributes.recv_cq = cq;
  attributes.cap = {5, 5, 2, 2, 64};
  attributes.qp_type = IBV_QPT_RC;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
  attributes.pd = pd;
  if (extended) {
    attributes.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attributes.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
  }
  qp = ibv_create_qp_ex(context, &attributes);
  BOOST_REQUIRE(qp != nullptr);
  fake = &device.qp(qp->qp_num);
  modify(IBV_QPS_INIT);
  modify(IBV_QPS_RTR);
  modify(IBV_QPS_RTS);
}

Rig::~Rig() {
  if (qp != nullptr) BOOST_CHECK_EQUAL(ibv_destroy_qp(qp), 0);
  if (cq != nullptr) BOOST_CHECK_EQUAL(ibv_destroy_cq(cq), 0);
  BOOST_CHECK_EQUAL(ibv_dealloc_pd(pd), 0);
  BOOST_CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
}

void Rig::modify(ibv_qp_state state) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  BOOST_REQUIRE_EQUAL(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), 0);
}

int Rig::post_send(ibv_send_wr& request, ibv_send_wr** bad) {
  ibv_send_wr* unused;
  return ibv_post_send(qp, &request, bad != nullptr ? bad : &unused);
}

int Rig::post_receive(ibv_recv_wr& request, ibv_recv_wr** bad) {
  ibv_recv_wr* unused;
  return ibv_post_recv(qp, &request, bad != nullptr ? bad : &unused);
}

int Rig::post_receive(std::span<ibv_sge> segments) {
  ibv_recv_wr request{};
  request.sg_list = segments.data();
  request.num_sge = static_cast<int>(segments.size());
  return post_receive(request);
}

void Rig::post_sends(int count, std::uint64_t first) {
  for (int i = 0; i < count; ++i) {
    ibv_send_wr request{};
    request.wr_id = first + static_cast<std::uint64_t>(i);
    request.opcode = IBV_WR_SEND;
    BOOST_REQUIRE_EQUAL(post_send(request), 0);
  }
}

void Rig::post_receives(int count, std::uint64_t first) {
  for (int i = 0; i < count; ++i) {
    ibv_recv_wr request{};
    request.wr_id = first + static_cast<std::uint64_t>(i);
    BOOST_REQUIRE_EQUAL(post_receive(request), 0);
  }
}

std::vector<ibv_wc> Rig::poll() {
  std::vector<ibv_wc> all;
  ibv_wc completions[3];
  int count;
  while ((count = ibv_poll_cq(cq, 3, completions)) > 0)
    all.insert(all.end(), completions, completions + count);
  return all;
}

}  // namespace urnic::test
