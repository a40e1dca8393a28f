// ibv_cq_ex and ibv_qp_ex.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

namespace {

struct Builder : Rig {
  ibv_qp_ex* extended = ibv_qp_to_qp_ex(qp);

  Builder() : Rig(true) { BOOST_REQUIRE(extended != nullptr); }
  std::uint32_t produced() const { return fake->indices->send_producer.load(); }
};

struct Extended : Rig {
  ibv_cq_ex* extended = nullptr;
  ibv_qp* pair = nullptr;

  explicit Extended(std::uint32_t flags = 0) {
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = 8;
    attributes.wc_flags = IBV_WC_STANDARD_FLAGS;
    attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attributes.flags = flags;
    extended = ibv_create_cq_ex(context, &attributes);
    BOOST_REQUIRE(extended != nullptr);
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(extended);
    init.qp_type = IBV_QPT_RC;
    pair = ibv_create_qp(pd, &init);
    BOOST_REQUIRE(pair != nullptr);
  }
  ~Extended() {
    BOOST_CHECK_EQUAL(ibv_destroy_qp(pair), 0);
    BOOST_CHECK_EQUAL(ibv_destroy_cq(ibv_cq_ex_to_cq(extended)), 0);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(wr_builders, Builder)

BOOST_AUTO_TEST_CASE(requests_are_handed_over_when_complete) {
  ibv_wr_start(extended);
  extended->wr_id = 71;
  extended->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write_imm(extended, 0x77, 0xABC000, 0x01020304);
  ibv_wr_set_sge(extended, 9, 0x1000, 10);
  extended->wr_id = 72;
  ibv_wr_send(extended);
  ibv_data_buf buffers[] = {{const_cast<char*>("ab"), 2}, {const_cast<char*>("cde"), 3}};
  ibv_wr_set_inline_data_list(extended, 2, buffers);
  BOOST_TEST(produced() == 0u);
  BOOST_TEST(ibv_wr_complete(extended) == 0);
  BOOST_TEST(produced() == 2u);
  BOOST_CHECK(device.take_doorbell(fake->reply.doorbell));
  const abi::SendWqe& write = fake->send_wqe(0);
  BOOST_TEST(int{write.opcode} == static_cast<int>(IBV_WR_RDMA_WRITE_WITH_IMM));
  BOOST_TEST(write.remote_address == 0xABC000u);
  BOOST_TEST(write.rkey == 0x77u);
  BOOST_TEST(write.immediate_or_rkey == 0x01020304u);
  BOOST_TEST(write.sge_count == 1);
  BOOST_TEST(fake->send_segments(0)[0].lkey == 9u);
  BOOST_TEST(fake->send_wqe(1).flags == (abi::send_signaled | abi::send_inline));
  BOOST_TEST(fake->send_wqe(1).inline_length == 5u);
  BOOST_TEST(std::memcmp(fake->send_segments(1), "abcde", 5) == 0);
  device.complete_send(*fake, 1);
  BOOST_TEST(poll().at(0).wr_id == 72u);
}

BOOST_AUTO_TEST_CASE(atomics_reads_and_keys_are_as_in_post_send) {
  ibv_wr_start(extended);
  ibv_wr_atomic_cmp_swp(extended, 1, 0x1000, 11, 22);
  ibv_wr_atomic_fetch_add(extended, 2, 0x2000, 33);
  ibv_wr_rdma_read(extended, 3, 0x3000);
  ibv_wr_send_inv(extended, 0x55);
  ibv_wr_local_inv(extended, 0x66);
  BOOST_TEST(ibv_wr_complete(extended) == 0);
  BOOST_TEST(fake->send_wqe(0).compare_add == 11u);
  BOOST_TEST(fake->send_wqe(0).swap == 22u);
  BOOST_TEST(fake->send_wqe(1).compare_add == 33u);
  BOOST_TEST(int{fake->send_wqe(2).opcode} == static_cast<int>(IBV_WR_RDMA_READ));
  BOOST_TEST(fake->send_wqe(2).rkey == 3u);
  BOOST_TEST(fake->send_wqe(3).immediate_or_rkey == 0x55u);
  BOOST_TEST(int{fake->send_wqe(4).opcode} == static_cast<int>(IBV_WR_LOCAL_INV));
}

BOOST_AUTO_TEST_CASE(one_error_discards_everything_since_start) {
  ibv_wr_start(extended);
  ibv_wr_send(extended);
  ibv_wr_send(extended);
  char data[FakeDevice::kMaxInline + 1] = {};
  ibv_wr_set_inline_data(extended, data, sizeof data);
  ibv_wr_send(extended);
  BOOST_TEST(ibv_wr_complete(extended) == EINVAL);
  BOOST_TEST(produced() == 0u);
  ibv_wr_start(extended);
  for (std::uint32_t i = 0; i <= FakeDevice::kSendSlots; ++i) ibv_wr_send(extended);
  BOOST_TEST(ibv_wr_complete(extended) == ENOMEM);
  BOOST_TEST(produced() == 0u);
}

BOOST_AUTO_TEST_CASE(abort_discards_and_gives_the_queue_back) {
  ibv_wr_start(extended);
  ibv_wr_send(extended);
  ibv_wr_abort(extended);
  BOOST_TEST(produced() == 0u);
  post_sends(1, 5);
  BOOST_TEST(produced() == 1u);
}

BOOST_AUTO_TEST_CASE(operations_that_are_not_there_are_refused_at_creation) {
  ibv_qp_init_attr_ex attributes{};
  attributes.send_cq = attributes.recv_cq = cq;
  attributes.qp_type = IBV_QPT_RC;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attributes.pd = pd;
  attributes.send_ops_flags = IBV_QP_EX_WITH_TSO;
  errno = 0;
  BOOST_CHECK(ibv_create_qp_ex(context, &attributes) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_plain_qp_has_no_builders) {
  Rig rig;
  BOOST_CHECK(ibv_qp_to_qp_ex(rig.qp) == nullptr);
}

BOOST_FIXTURE_TEST_SUITE(extended_cq, Extended)

BOOST_AUTO_TEST_CASE(the_iterator_goes_through_all_completions) {
  FakeQp& fake_pair = device.qp(pair->qp_num);
  device.complete_receive(fake_pair, 0, [](abi::Cqe& cqe) {
    cqe.byte_length = 12;
    cqe.flags |= abi::cqe_with_immediate;
    cqe.immediate_or_rkey = 0x0A0B0C0D;
    cqe.source_qpn = 44;
  });
  device.complete_receive(fake_pair, 1, [](abi::Cqe& cqe) {
    cqe.status = IBV_WC_LOC_LEN_ERR;
    cqe.error_or_route = 3;
  });
  ibv_poll_cq_attr attributes{};
  BOOST_REQUIRE_EQUAL(ibv_start_poll(extended, &attributes), 0);
  BOOST_TEST(extended->status == IBV_WC_SUCCESS);
  BOOST_TEST(ibv_wc_read_opcode(extended) == IBV_WC_RECV);
  BOOST_TEST(ibv_wc_read_byte_len(extended) == 12u);
  BOOST_TEST(ibv_wc_read_imm_data(extended) == 0x0A0B0C0Du);
  BOOST_TEST(ibv_wc_read_wc_flags(extended) == unsigned{IBV_WC_WITH_IMM});
  BOOST_TEST(ibv_wc_read_qp_num(extended) == pair->qp_num);
  BOOST_TEST(ibv_wc_read_src_qp(extended) == 44u);
  BOOST_REQUIRE_EQUAL(ibv_next_poll(extended), 0);
  BOOST_TEST(extended->status == IBV_WC_LOC_LEN_ERR);
  BOOST_TEST(ibv_wc_read_vendor_err(extended) == 3u);
  BOOST_TEST(ibv_next_poll(extended) == ENOENT);
  ibv_end_poll(extended);
  BOOST_TEST(device.cq(extended->handle).indices->consumer.load() == 2u);
  BOOST_TEST(ibv_start_poll(extended, &attributes) == ENOENT);
  BOOST_TEST(ibv_start_poll(extended, &attributes) == ENOENT);  // the first call has released the lock
}

BOOST_AUTO_TEST_CASE(received_data_is_in_place_when_the_iterator_is_at_its_completion) {
  FakeQp& fake_pair = device.qp(pair->qp_num);
  ibv_qp_attr to_init{};
  to_init.qp_state = IBV_QPS_INIT;
  BOOST_REQUIRE_EQUAL(ibv_modify_qp(pair, &to_init, IBV_QP_STATE), 0);
  char target[2][8] = {};
  for (std::uint32_t i = 0; i < 2; ++i) {
    ibv_sge segment{reinterpret_cast<std::uintptr_t>(target[i]), 8, 1};
    ibv_recv_wr request{};
    ibv_recv_wr* bad = nullptr;
    request.sg_list = &segment;
    request.num_sge = 1;
    BOOST_REQUIRE_EQUAL(ibv_post_recv(pair, &request, &bad), 0);
    device.complete_receive(fake_pair, i, [i](abi::Cqe& cqe) {
      cqe.flags |= abi::cqe_inline;
      cqe.byte_length = 8;
      std::memset(cqe.inline_data, static_cast<int>('a' + i), 8);
    });
  }
  ibv_poll_cq_attr attributes{};
  BOOST_REQUIRE_EQUAL(ibv_start_poll(extended, &attributes), 0);
  BOOST_TEST(std::memcmp(target[0], "aaaaaaaa", 8) == 0);
  BOOST_TEST(target[1][0] == 0);
  BOOST_REQUIRE_EQUAL(ibv_next_poll(extended), 0);
  BOOST_TEST(std::memcmp(target[1], "bbbbbbbb", 8) == 0);
  ibv_end_poll(extended);
}

BOOST_AUTO_TEST_CASE(completions_say_when_they_were_made_if_asked_for) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = 8;
  attributes.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  ibv_cq_ex* stamped = ibv_create_cq_ex(context, &attributes);
  BOOST_REQUIRE(stamped != nullptr);
  BOOST_TEST(device.last_request<abi::CreateCqRequest>(abi::ControlOpcode::create_cq).flags ==
             std::uint32_t{abi::cq_timestamps});
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = ibv_cq_ex_to_cq(stamped);
  init.qp_type = IBV_QPT_RC;
  ibv_qp* other = ibv_create_qp(pd, &init);
  BOOST_REQUIRE(other != nullptr);

  const auto nanoseconds = [](clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  };
  constexpr std::uint64_t kAgo = 3'000'000'000;
  const std::uint64_t time = nanoseconds(CLOCK_MONOTONIC) - kAgo;
  const std::uint64_t wall = nanoseconds(CLOCK_REALTIME) - kAgo;
  device.complete_send(device.qp(other->qp_num), 0, [time](abi::Cqe& cqe) {
    cqe.flags |= abi::cqe_timestamp;
    std::memcpy(cqe.inline_data, &time, sizeof time);
  });
  ibv_poll_cq_attr poll_attributes{};
  BOOST_REQUIRE_EQUAL(ibv_start_poll(stamped, &poll_attributes), 0);
  BOOST_TEST(ibv_wc_read_completion_ts(stamped) == time);
  const std::uint64_t told = ibv_wc_read_completion_wallclock_ns(stamped);
  BOOST_TEST(told + 1'000'000 > wall);  // the two clocks are not read at the same moment
  BOOST_TEST(told < wall + kAgo);
  ibv_end_poll(stamped);
  BOOST_TEST(ibv_destroy_qp(other) == 0);
  BOOST_TEST(ibv_destroy_cq(ibv_cq_ex_to_cq(stamped)) == 0);
}

BOOST_AUTO_TEST_CASE(flags_of_creation_reach_the_device) {
  struct Row {
    std::uint32_t flags;
    std::uint64_t fields;
    std::uint32_t device_flags;
  };
  constexpr std::uint32_t kAlone = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
                          kIgnore = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  for (const auto& [flags, fields, device_flags] :
       {Row{0, 0, 0}, Row{kAlone, 0, 0}, Row{kIgnore, 0, abi::cq_ignore_overrun},
        Row{kAlone | kIgnore, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
            abi::cq_ignore_overrun | abi::cq_timestamps}}) {
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = 8;
    attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attributes.flags = flags;
    attributes.wc_flags = fields;
    ibv_cq_ex* const made = ibv_create_cq_ex(context, &attributes);
    BOOST_REQUIRE(made != nullptr);
    BOOST_TEST(device.cq(made->handle).flags == device_flags);
    BOOST_TEST(ibv_destroy_cq(ibv_cq_ex_to_cq(made)) == 0);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_supported_says_so) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = 8;
  attributes.wc_flags = IBV_WC_EX_WITH_CVLAN;
  errno = 0;
  BOOST_CHECK(ibv_create_cq_ex(context, &attributes) == nullptr);
  BOOST_TEST(errno == EOPNOTSUPP);
  ibv_poll_cq_attr poll_attributes{1};
  BOOST_TEST(ibv_start_poll(extended, &poll_attributes) == EINVAL);
}

BOOST_AUTO_TEST_CASE(bad_sizes_and_vectors_are_refused) {
  for (const auto& [entries, vector] :
       {std::pair{0, 0}, std::pair{-1, 0}, std::pair{1, 2}, std::pair{1, -1}}) {
    errno = 0;
    BOOST_CHECK(ibv_create_cq(context, entries, nullptr, nullptr, vector) == nullptr);
    BOOST_TEST(errno == EINVAL);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
