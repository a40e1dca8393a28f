#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "provider/plugin/objects/srq.hpp"
#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

namespace {

struct Pair : Rig {
  ibv_qp* create(ibv_qp_type type, ibv_qp_init_attr* out = nullptr) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = cq;
    attributes.cap = {5, 6, 2, 1, 64};
    attributes.qp_type = type;
    ibv_qp* created = ibv_create_qp(pd, &attributes);
    if (out != nullptr) *out = attributes;
    return created;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_pair, Pair)

BOOST_AUTO_TEST_CASE(creation_asks_for_what_is_wanted_and_tells_what_was_given) {
  ibv_qp_init_attr attributes;
  ibv_qp* other = create(IBV_QPT_RC, &attributes);
  BOOST_REQUIRE(other != nullptr);
  const abi::CreateQpRequest& request = device.qp(other->qp_num).request;
  BOOST_TEST(request.max_send_wr == 5u);
  BOOST_TEST(request.max_receive_wr == 6u);
  BOOST_TEST(request.max_inline_data == 64u);
  BOOST_TEST(request.user_handle == reinterpret_cast<std::uintptr_t>(other));
  BOOST_TEST(attributes.cap.max_send_wr == FakeDevice::kSendSlots);
  BOOST_TEST(attributes.cap.max_recv_sge == FakeDevice::kMaxSge);
  BOOST_TEST(attributes.cap.max_inline_data == FakeDevice::kMaxInline);
  BOOST_TEST(other->state == IBV_QPS_RESET);
  BOOST_TEST(ibv_destroy_qp(other) == 0);
}

// librdmacm asks and sets the options of enhanced connection establishment for each connection.
BOOST_AUTO_TEST_CASE(options_for_the_peer_are_set_on_the_device_where_they_change) {
  struct Step {
    ibv_ece ece;
    int error;
    unsigned requests;  // to the device
    std::uint32_t options_then;
  };
  constexpr std::uint32_t kAll = abi::kEceSelectiveAcknowledgement;
  ibv_qp* other = create(IBV_QPT_RC);
  const unsigned before = device.requests(abi::ControlOpcode::set_ece);
  unsigned requests = 0;
  for (const Step& step :
       {Step{{FakeDevice::kVendorId, kAll, 0}, 0, 0, kAll}, Step{{FakeDevice::kVendorId, 0, 0}, 0, 1, 0},
        Step{{FakeDevice::kVendorId, 0, 0}, 0, 0, 0}, Step{{FakeDevice::kVendorId, kAll | 8, 0}, 0, 1, kAll},
        Step{{FakeDevice::kVendorId, kAll, 1}, EINVAL, 0, kAll},
        Step{{FakeDevice::kVendorId + 1, kAll, 0}, 0, 1, kAll}}) {
    ibv_ece ece = step.ece;
    BOOST_TEST(ibv_set_ece(other, &ece) == step.error);
    requests += step.requests;
    BOOST_TEST(device.requests(abi::ControlOpcode::set_ece) == before + requests);
    BOOST_TEST(ibv_query_ece(other, &ece) == 0);
    BOOST_TEST(ece.vendor_id == FakeDevice::kVendorId);
    BOOST_TEST(ece.options == step.options_then);
  }
  BOOST_TEST(device.requests(abi::ControlOpcode::query_ece) == 0u);
  device.refuse_next(abi::ControlOpcode::set_ece, EINVAL);
  ibv_ece none{FakeDevice::kVendorId, 0, 0};
  BOOST_TEST(ibv_set_ece(other, &none) == EINVAL);
  BOOST_TEST(ibv_query_ece(other, &none) == 0);
  BOOST_TEST(none.options == kAll);
  // From RTR on the device refuses.
  ibv_ece all{FakeDevice::kVendorId, kAll, 0};
  device.refuse_next(abi::ControlOpcode::set_ece, EINVAL);
  BOOST_TEST(ibv_set_ece(qp, &all) == EINVAL);
  BOOST_TEST(ibv_destroy_qp(other) == 0);
}

BOOST_AUTO_TEST_CASE(flags_of_creation_reach_the_device) {
  for (const std::uint32_t flags : {0u, std::uint32_t{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}}) {
    for (const bool says_so : {true, false}) {
      ibv_qp_init_attr_ex attributes{};
      attributes.send_cq = attributes.recv_cq = cq;
      attributes.qp_type = IBV_QPT_UD;
      attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
      if (says_so) attributes.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
      attributes.pd = pd;
      attributes.create_flags = flags;
      ibv_qp* const made = ibv_create_qp_ex(context, &attributes);
      BOOST_REQUIRE(made != nullptr);
      const std::uint32_t expected = says_so && flags != 0 ? std::uint32_t{abi::qp_block_self_multicast} : 0;
      BOOST_TEST(device.qp(made->qp_num).request.flags == expected);
      BOOST_TEST(ibv_destroy_qp(made) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(types_that_are_not_there_are_not_supported) {
  errno = 0;
  BOOST_CHECK(create(IBV_QPT_DRIVER) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
}

BOOST_AUTO_TEST_CASE(the_devices_refusal_is_the_callers_errno) {
  device.refuse_next(abi::ControlOpcode::create_qp, ENOMEM);
  errno = 0;
  BOOST_CHECK(create(IBV_QPT_RC) == nullptr);
  BOOST_TEST(errno == ENOMEM);
  device.refuse_next(abi::ControlOpcode::modify_qp, EINVAL);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  BOOST_TEST(ibv_modify_qp(qp, &attributes, IBV_QP_STATE) == EINVAL);
  BOOST_TEST(qp->state == IBV_QPS_RTS);
}

namespace {

// A change of a QP's state, and whether it goes to the device without an answer.
struct StateChange {
  ibv_qp_type type;
  ibv_qp_state before;
  ibv_qp_state wanted;
  int mask;
  bool unanswered;
  void (*spoil)(ibv_qp_attr&) = nullptr;
};

constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRtsOfUc = IBV_QP_STATE | IBV_QP_SQ_PSN;
constexpr int kRts =
    kRtsOfUc | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

ibv_qp_attr largest_values(ibv_qp_state wanted) {
  ibv_qp_attr attributes{};
  attributes.qp_state = wanted;
  attributes.port_num = 1;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ;
  attributes.sq_psn = 0xFFFFFF;
  attributes.timeout = 31;
  attributes.retry_cnt = attributes.rnr_retry = 7;
  attributes.max_rd_atomic = 16;
  return attributes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_the_device_does_not_refuse_has_no_answer) {
  const StateChange changes[] = {
      {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInit, true},
      {IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT, kInit, true},
      {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, kInit, false},
      {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_INIT, kInit, false},
      {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_RTR, kInit, false},
      {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInit & ~IBV_QP_PORT, false},
      {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInit | IBV_QP_QKEY, false},
      {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInit, false, [](ibv_qp_attr& a) { a.pkey_index = 1; }},
      {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kInit, false, [](ibv_qp_attr& a) { a.port_num = 2; }},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRts, true},
      {IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, kRtsOfUc, true},
      {IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, kRts, false},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRtsOfUc, false},
      {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, kRtsOfUc, false},
      {IBV_QPT_XRC_SEND, IBV_QPS_RTR, IBV_QPS_RTS, kRts, false},
      {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTS, kRts, false},
      {IBV_QPT_RC, IBV_QPS_ERR, IBV_QPS_RTS, kRts, false},
      {IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_RTS, kRts, false},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRts | IBV_QP_CUR_STATE, false},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRts & ~IBV_QP_TIMEOUT, false},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRts, false, [](ibv_qp_attr& a) { a.timeout = 32; }},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRts, false, [](ibv_qp_attr& a) { a.retry_cnt = 8; }},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRts, false, [](ibv_qp_attr& a) { a.rnr_retry = 8; }},
      {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, kRts, false, [](ibv_qp_attr& a) { a.max_rd_atomic = 17; }},
  };
  for (const StateChange& change : changes) {
    BOOST_TEST_INFO("change " << &change - changes);
    ibv_qp* other = create(change.type);
    BOOST_REQUIRE(other != nullptr);
    other->state = change.before;
    ibv_qp_attr attributes = largest_values(change.wanted);
    if (change.spoil != nullptr) change.spoil(attributes);
    const auto expected =
        change.unanswered ? abi::ControlOpcode::modify_qp_unanswered : abi::ControlOpcode::modify_qp;
    const unsigned before = device.requests(expected);
    BOOST_TEST(ibv_modify_qp(other, &attributes, change.mask) == 0);
    BOOST_TEST(other->state == change.wanted);
    const std::uint32_t handle = other->handle;
    BOOST_TEST(ibv_destroy_qp(other) == 0);  // after this the device has read both
    BOOST_TEST_INFO("change " << &change - changes);
    BOOST_TEST(device.requests(expected) == before + 1);
    const auto last = device.last_request<abi::ModifyQpRequest>(expected);
    BOOST_TEST(last.handle == handle);
    BOOST_TEST(last.mask == static_cast<std::uint32_t>(change.mask));
    BOOST_TEST(last.attributes.access_flags == std::uint32_t{IBV_ACCESS_REMOTE_READ});
    BOOST_TEST(last.attributes.send_psn == 0xFFFFFFu);
  }
}

namespace {

// A QP in INIT whose access flags the program changes to `flags`, and which is asked then.
struct Changed {
  FakeDevice& device;
  ibv_qp* qp;
  unsigned answered = device.requests(abi::ControlOpcode::modify_qp);
  unsigned unanswered = device.requests(abi::ControlOpcode::modify_qp_unanswered);

  int change(int mask, ibv_qp_state wanted, unsigned int flags) const {
    ibv_qp_attr attributes = largest_values(wanted);
    attributes.qp_access_flags = flags;
    return ibv_modify_qp(qp, &attributes, mask);
  }
  void keep(unsigned int flags) {
    qp->state = IBV_QPS_INIT;
    BOOST_TEST(change(kInit, IBV_QPS_INIT, flags) == 0);
    BOOST_TEST(qp->state == IBV_QPS_INIT);
    check(0, 0);
  }
  // What the device has read since the last call.
  void check(unsigned more_answered, unsigned more_unanswered) {
    answered += more_answered;
    unanswered += more_unanswered;
    BOOST_TEST(device.requests(abi::ControlOpcode::modify_qp) == answered);
    BOOST_TEST(device.requests(abi::ControlOpcode::modify_qp_unanswered) == unanswered);
  }
  void check_last(abi::ControlOpcode opcode, int mask, unsigned int flags) const {
    const auto last = device.last_request<abi::ModifyQpRequest>(opcode);
    BOOST_TEST(last.handle == qp->handle);
    BOOST_TEST(last.mask == static_cast<std::uint32_t>(mask));
    BOOST_TEST(last.attributes.access_flags == flags);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(access_flags_that_change_in_init_go_to_the_device_with_the_next_request) {
  constexpr auto kAnswered = abi::ControlOpcode::modify_qp;
  constexpr auto kUnanswered = abi::ControlOpcode::modify_qp_unanswered;
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC}) {
    Changed changed{device, create(type)};
    BOOST_REQUIRE(changed.qp != nullptr);
    changed.keep(IBV_ACCESS_REMOTE_READ);
    changed.keep(IBV_ACCESS_REMOTE_WRITE);
    device.refuse_next(kAnswered, ETIMEDOUT);
    for (const int error : {ETIMEDOUT, 0}) {
      BOOST_TEST(changed.change(kRtr, IBV_QPS_RTR, 0) == error);
      changed.check(1, 0);
      changed.check_last(kAnswered, kRtr | IBV_QP_ACCESS_FLAGS, IBV_ACCESS_REMOTE_WRITE);
    }
    changed.qp->state = IBV_QPS_INIT;
    BOOST_TEST(changed.change(kRtr, IBV_QPS_RTR, 0) == 0);
    changed.check(1, 0);
    changed.check_last(kAnswered, kRtr, 0);

    changed.keep(IBV_ACCESS_REMOTE_READ);
    BOOST_TEST(changed.change(kRtr | IBV_QP_ACCESS_FLAGS, IBV_QPS_RTR, IBV_ACCESS_REMOTE_WRITE) == 0);
    changed.check(1, 0);
    changed.check_last(kAnswered, kRtr | IBV_QP_ACCESS_FLAGS, IBV_ACCESS_REMOTE_WRITE);

    ibv_qp_attr queried{};
    ibv_qp_init_attr init{};
    changed.keep(IBV_ACCESS_REMOTE_READ);
    for (const unsigned more : {1u, 0u}) {
      BOOST_TEST(ibv_query_qp(changed.qp, &queried, IBV_QP_ACCESS_FLAGS, &init) == 0);
      changed.check(0, more);
      changed.check_last(kUnanswered, kInit, IBV_ACCESS_REMOTE_READ);
    }
    changed.keep(IBV_ACCESS_REMOTE_WRITE);
    BOOST_TEST(changed.change(IBV_QP_STATE, IBV_QPS_ERR, 0) == 0);
    changed.check(1, 1);
    changed.check_last(kUnanswered, kInit, IBV_ACCESS_REMOTE_WRITE);
    BOOST_TEST(ibv_destroy_qp(changed.qp) == 0);
  }
}

// What the device does for its messages depends on the state.
BOOST_AUTO_TEST_CASE(a_qp_with_tag_matching_is_in_rts_when_the_program_is_told) {
  provider::Srq srq{};
  for (const bool matches : {false, true}) {
    ibv_qp* other = create(IBV_QPT_RC);
    BOOST_REQUIRE(other != nullptr);
    srq.tags = matches ? reinterpret_cast<provider::TagMatching*>(&srq) : nullptr;
    other->srq = reinterpret_cast<ibv_srq*>(&srq);
    other->state = IBV_QPS_RTR;
    ibv_qp_attr attributes = largest_values(IBV_QPS_RTS);
    const unsigned answered = device.requests(abi::ControlOpcode::modify_qp);
    BOOST_TEST(ibv_modify_qp(other, &attributes, kRts) == 0);
    BOOST_TEST(device.requests(abi::ControlOpcode::modify_qp) == answered + (matches ? 1 : 0));
    other->srq = nullptr;
    BOOST_TEST(ibv_destroy_qp(other) == 0);
  }
}

BOOST_AUTO_TEST_CASE(attributes_go_to_the_device_and_come_back) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = 0x123456;
  attributes.rq_psn = 0x654321;
  attributes.timeout = 14;
  attributes.retry_cnt = 7;
  attributes.rnr_retry = 6;
  attributes.min_rnr_timer = 12;
  attributes.max_rd_atomic = 4;
  attributes.dest_qp_num = 99;
  attributes.path_mtu = IBV_MTU_2048;
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = 1;
  attributes.ah_attr.grh.sgid_index = 1;
  attributes.ah_attr.grh.hop_limit = 64;
  attributes.ah_attr.grh.traffic_class = 8;
  attributes.ah_attr.grh.flow_label = 5;
  std::memset(attributes.ah_attr.grh.dgid.raw, 0xAB, 16);
  BOOST_REQUIRE_EQUAL(ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
  const auto request = device.last_request<abi::ModifyQpRequest>(abi::ControlOpcode::modify_qp);
  BOOST_TEST(request.mask == std::uint32_t{IBV_QP_STATE | IBV_QP_SQ_PSN});
  BOOST_TEST(request.attributes.retry_count == 7);
  ibv_qp_attr queried{};
  ibv_qp_init_attr init{};
  BOOST_REQUIRE_EQUAL(ibv_query_qp(qp, &queried, IBV_QP_STATE, &init), 0);
  BOOST_TEST(queried.cap.max_send_wr == FakeDevice::kSendSlots);
  queried.cap = {};
  queried.cur_qp_state = attributes.cur_qp_state;
  BOOST_TEST(std::memcmp(&queried, &attributes, sizeof queried) == 0);
  BOOST_CHECK(init.send_cq == cq);
  BOOST_TEST(init.sq_sig_all == 1);
}

BOOST_AUTO_TEST_CASE(reset_begins_the_queues_anew_and_takes_the_completions) {
  post_sends(3, 10);
  post_receives(2, 20);
  device.complete_send(*fake, 0);
  device.complete_receive(*fake, 0);
  modify(IBV_QPS_RESET);
  BOOST_TEST(fake->indices->send_producer.load() == 0u);
  BOOST_TEST(fake->indices->receive_producer.load() == 0u);
  BOOST_TEST(poll().size() == 0u);
  for (const auto state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) modify(state);
  post_sends(FakeDevice::kSendSlots, 30);
  device.complete_send(*fake, 0);
  const auto completions = poll();
  BOOST_REQUIRE(completions.size() == 1u);
  BOOST_TEST(completions[0].wr_id == 30u);
}

BOOST_AUTO_TEST_CASE(destruction_takes_the_completions_and_leaves_those_of_others) {
  ibv_qp* other = create(IBV_QPT_RC);
  BOOST_REQUIRE(other != nullptr);
  post_sends(3, 10);
  FakeQp& fake_other = device.qp(other->qp_num);
  device.complete_receive(fake_other, 0);
  device.complete_send(*fake, 0);
  device.complete_receive(fake_other, 1);
  device.complete_send(*fake, 1);
  BOOST_TEST(ibv_destroy_qp(other) == 0);
  const auto completions = poll();
  BOOST_REQUIRE(completions.size() == 2u);
  BOOST_TEST(completions[0].wr_id == 10u);
  BOOST_TEST(completions[1].wr_id == 11u);
}

BOOST_AUTO_TEST_CASE(a_number_given_again_does_not_bring_old_completions) {
  ibv_qp* other = create(IBV_QPT_RC);
  BOOST_REQUIRE(other != nullptr);
  const std::uint32_t number = other->qp_num;
  device.complete_receive(device.qp(number), 0);
  BOOST_TEST(ibv_destroy_qp(other) == 0);
  device.give_next(number);
  ibv_qp* same_number = create(IBV_QPT_RC);
  BOOST_REQUIRE(same_number != nullptr);
  BOOST_TEST(poll().empty());
  BOOST_TEST(ibv_destroy_qp(same_number) == 0);
}

BOOST_AUTO_TEST_CASE(a_queue_in_use_cannot_be_destroyed) { BOOST_TEST(ibv_destroy_cq(cq) == EBUSY); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
