#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

namespace {

struct Sender : Rig {
  ibv_send_wr request{};
  ibv_sge segments[4] = {{0x1000, 10, 7}, {0x2000, 20, 8}, {0x3000, 30, 9}, {0x4000, 40, 10}};

  Sender() {
    request.wr_id = 5;
    request.sg_list = segments;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
  }
  std::uint32_t produced() const { return fake->indices->send_producer.load(); }
  const abi::SendWqe& post(ibv_wr_opcode opcode) {
    request.opcode = opcode;
    const std::uint32_t index = produced();
    BOOST_REQUIRE_EQUAL(post_send(request), 0);
    const abi::SendWqe& wqe = fake->send_wqe(index);
    BOOST_TEST(int{wqe.opcode} == static_cast<int>(opcode));
    return wqe;
  }
  // The errno of a request that must be refused. Checks that nothing of the request is posted.
  int refusal() {
    const std::uint32_t before = produced();
    ibv_send_wr* bad = nullptr;
    const int error = post_send(request, &bad);
    BOOST_CHECK(bad == &request);
    BOOST_TEST(produced() == before);
    return error;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(post_send, Sender)

BOOST_AUTO_TEST_CASE(a_send_has_its_segments) {
  request.num_sge = 2;
  request.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
  const abi::SendWqe& wqe = post(IBV_WR_SEND);
  BOOST_TEST(wqe.flags == (abi::send_signaled | abi::send_solicited));
  BOOST_TEST(wqe.sge_count == 2);
  BOOST_TEST(fake->send_segments(0)[1].address == 0x2000u);
  BOOST_TEST(fake->send_segments(0)[1].length == 20u);
  BOOST_TEST(fake->send_segments(0)[1].lkey == 8u);
}

BOOST_AUTO_TEST_CASE(remote_operations_have_their_remote_end) {
  request.wr.rdma = {0xABC000, 0x77};
  request.imm_data = 0x01020304;
  for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    const abi::SendWqe& wqe = post(opcode);
    BOOST_TEST(wqe.remote_address == 0xABC000u);
    BOOST_TEST(wqe.rkey == 0x77u);
    BOOST_TEST(wqe.immediate_or_rkey == (opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? 0x01020304u : 0u));
  }
}

BOOST_AUTO_TEST_CASE(atomics_have_their_operands) {
  request.wr.atomic = {0xABC008, 11, 22, 0x78};
  for (const auto opcode : {IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    const abi::SendWqe& wqe = post(opcode);
    BOOST_TEST(wqe.remote_address == 0xABC008u);
    BOOST_TEST(wqe.compare_add == 11u);
    BOOST_TEST(wqe.swap == 22u);
    BOOST_TEST(wqe.rkey == 0x78u);
  }
}

BOOST_AUTO_TEST_CASE(immediates_and_keys_to_invalidate_go_unchanged) {
  request.imm_data = 0x11223344;
  BOOST_TEST(post(IBV_WR_SEND_WITH_IMM).immediate_or_rkey == 0x11223344u);
  request.invalidate_rkey = 0x55;
  BOOST_TEST(post(IBV_WR_SEND_WITH_INV).immediate_or_rkey == 0x55u);
  BOOST_TEST(post(IBV_WR_LOCAL_INV).immediate_or_rkey == 0x55u);
}

BOOST_AUTO_TEST_CASE(inline_data_is_taken_at_once) {
  char first[] = "hello ", second[] = "world";
  segments[0] = {reinterpret_cast<std::uintptr_t>(first), 6, 0};
  segments[1] = {reinterpret_cast<std::uintptr_t>(second), 5, 0};
  request.num_sge = 2;
  request.send_flags = IBV_SEND_INLINE;
  const abi::SendWqe& wqe = post(IBV_WR_RDMA_WRITE);
  std::memset(first, 'x', 6);
  BOOST_TEST(wqe.flags == abi::send_inline);
  BOOST_TEST(wqe.inline_length == 11u);
  BOOST_TEST(std::memcmp(fake->send_segments(0), "hello world", 11) == 0);
}

BOOST_AUTO_TEST_CASE(a_window_of_type_1_is_bound_with_a_new_key) {
  ibv_mw* window = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
  BOOST_REQUIRE(window != nullptr);
  ibv_mr region{};
  region.lkey = 0x99;
  region.pd = pd;
  ibv_mw_bind bind{};
  bind.wr_id = 3;
  bind.bind_info = {&region, 0x1000, 64, IBV_ACCESS_REMOTE_READ};
  BOOST_TEST(ibv_bind_mw(qp, window, &bind) == 0);
  const abi::SendWqe& wqe = fake->send_wqe(0);
  BOOST_TEST(int{wqe.opcode} == static_cast<int>(IBV_WR_BIND_MW));
  BOOST_TEST(wqe.rkey == 0x4400u);
  BOOST_TEST(wqe.immediate_or_rkey == 0x4401u);
  BOOST_TEST(window->rkey == 0x4401u);
  bind.bind_info.mw_access_flags = IBV_ACCESS_ZERO_BASED;
  BOOST_TEST(ibv_bind_mw(qp, window, &bind) == EINVAL);
  BOOST_TEST(ibv_dealloc_mw(window) == 0);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_posted_is_refused) {
  request.opcode = IBV_WR_TSO;
  BOOST_TEST(refusal() == EINVAL);
  request.opcode = IBV_WR_ATOMIC_WRITE;
  BOOST_TEST(refusal() == EINVAL);
  request.opcode = IBV_WR_SEND;
  request.num_sge = 4;
  BOOST_TEST(refusal() == EINVAL);
  request.num_sge = -1;
  BOOST_TEST(refusal() == EINVAL);
  request.num_sge = 1;
  request.send_flags = IBV_SEND_INLINE;
  segments[0].length = FakeDevice::kMaxInline + 1;
  segments[0].addr = reinterpret_cast<std::uintptr_t>(this);
  BOOST_TEST(refusal() == EINVAL);
  segments[0].length = 8;
  request.opcode = IBV_WR_RDMA_READ;
  BOOST_TEST(refusal() == EINVAL);
}

BOOST_AUTO_TEST_CASE(sends_wait_for_ready_to_send) {
  modify(IBV_QPS_RESET);
  BOOST_TEST(refusal() == EINVAL);
  modify(IBV_QPS_INIT);
  BOOST_TEST(refusal() == EINVAL);
  modify(IBV_QPS_RTR);
  BOOST_TEST(refusal() == EINVAL);
  modify(IBV_QPS_ERR);
  BOOST_TEST(post_send(request) == 0);
}

BOOST_AUTO_TEST_CASE(a_full_queue_takes_no_more_until_a_completion_frees_it) {
  post_sends(FakeDevice::kSendSlots, 100);
  BOOST_TEST(refusal() == ENOMEM);
  device.complete_send(*fake, 3);
  BOOST_TEST(poll().size() == 1u);
  post_sends(4, 200);
  BOOST_TEST(refusal() == ENOMEM);
}

BOOST_AUTO_TEST_CASE(a_list_is_posted_up_to_the_first_bad_request) {
  ibv_send_wr second = request, third = request;
  request.next = &second;
  second.next = &third;
  second.opcode = IBV_WR_TSO;
  ibv_send_wr* bad = nullptr;
  BOOST_TEST(post_send(request, &bad) == EINVAL);
  BOOST_CHECK(bad == &second);
  BOOST_TEST(produced() == 1u);
}

BOOST_AUTO_TEST_CASE(the_doorbell_rings_and_only_a_sleeping_engine_is_woken) {
  device.woken();
  post_sends(1, 1);
  BOOST_CHECK(device.take_doorbell(fake->reply.doorbell));
  BOOST_CHECK(!device.woken());
  device.set_sleeping(true);
  post_sends(1, 2);
  device.set_sleeping(false);
  BOOST_CHECK(device.take_doorbell(fake->reply.doorbell));
  BOOST_CHECK(device.woken());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(sq_sig_all_signals_every_request) {
  Rig rig;
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = rig.cq;
  attributes.cap = {1, 1, 1, 1, 0};
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  BOOST_REQUIRE_EQUAL(ibv_destroy_qp(rig.qp), 0);
  rig.qp = ibv_create_qp(rig.pd, &attributes);
  BOOST_REQUIRE(rig.qp != nullptr);
  FakeQp& fake = rig.device.qp(rig.qp->qp_num);
  BOOST_TEST(fake.request.signal_all == 1u);
  for (const auto state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) rig.modify(state);
  rig.post_sends(1, 1);
  BOOST_TEST(fake.send_wqe(0).flags == abi::send_signaled);
}

}  // namespace urnic::test
