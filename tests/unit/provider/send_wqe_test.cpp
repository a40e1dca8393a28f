#define BOOST_TEST_DYN_LINK
#include "provider/plugin/queues/send_wqe.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>

namespace urnic::test {

namespace {

struct Slot {
  alignas(64) unsigned char bytes[256];
  Slot() { std::memset(bytes, 0xEE, sizeof bytes); }
  const abi::ScatterGather* segments() const {
    return reinterpret_cast<const abi::ScatterGather*>(bytes + sizeof(abi::SendWqe));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(send_wqe, Slot)

BOOST_AUTO_TEST_CASE(the_head_is_cleared_and_has_opcode_and_flags) {
  provider::begin_wqe(bytes, IBV_WR_RDMA_READ, IBV_SEND_FENCE | IBV_SEND_SOLICITED);
  abi::SendWqe expected{};
  expected.opcode = 4;
  expected.flags = 1 | 4;
  BOOST_TEST(std::memcmp(bytes, &expected, sizeof expected) == 0);
}

BOOST_AUTO_TEST_CASE(the_number_of_the_remote_srq_has_a_place_of_its_own) {
  abi::SendWqe& wqe = provider::begin_wqe(bytes, IBV_WR_SEND, 0);
  provider::set_remote_srq(wqe, 0x123456);
  abi::SendWqe expected{};
  expected.opcode = 2;
  expected.remote_srq = 0x123456;
  BOOST_TEST(std::memcmp(bytes, &expected, sizeof expected) == 0);
}

BOOST_AUTO_TEST_CASE(only_flags_of_the_queue_format_go_in) {
  const abi::SendWqe& wqe = provider::begin_wqe(bytes, IBV_WR_SEND, ~0u);
  BOOST_TEST(wqe.flags == (abi::send_fence | abi::send_signaled | abi::send_solicited));
}

BOOST_AUTO_TEST_CASE(opcodes_are_those_of_verbs) {
  using Op = abi::SendOpcode;
  BOOST_TEST(static_cast<int>(Op::rdma_write_with_immediate) == static_cast<int>(IBV_WR_RDMA_WRITE_WITH_IMM));
  BOOST_TEST(static_cast<int>(Op::send_with_immediate) == static_cast<int>(IBV_WR_SEND_WITH_IMM));
  BOOST_TEST(static_cast<int>(Op::rdma_read) == static_cast<int>(IBV_WR_RDMA_READ));
  BOOST_TEST(static_cast<int>(Op::atomic_compare_swap) == static_cast<int>(IBV_WR_ATOMIC_CMP_AND_SWP));
  BOOST_TEST(static_cast<int>(Op::atomic_fetch_add) == static_cast<int>(IBV_WR_ATOMIC_FETCH_AND_ADD));
  BOOST_TEST(static_cast<int>(Op::local_invalidate) == static_cast<int>(IBV_WR_LOCAL_INV));
  BOOST_TEST(static_cast<int>(Op::bind_memory_window) == static_cast<int>(IBV_WR_BIND_MW));
  BOOST_TEST(static_cast<int>(Op::send_with_invalidate) == static_cast<int>(IBV_WR_SEND_WITH_INV));
}

BOOST_AUTO_TEST_CASE(segments_follow_the_head_and_empty_ones_are_left_out) {
  abi::SendWqe& wqe = provider::begin_wqe(bytes, IBV_WR_SEND, 0);
  provider::add_segment(wqe, {0x1000, 10, 7});
  provider::add_segment(wqe, {0x2000, 0, 8});
  provider::add_segment(wqe, {0x3000, 30, 9});
  BOOST_TEST(wqe.sge_count == 2);
  BOOST_TEST(segments()[0].address == 0x1000u);
  BOOST_TEST(segments()[0].lkey == 7u);
  BOOST_TEST(segments()[1].address == 0x3000u);
  BOOST_TEST(segments()[1].length == 30u);
}

BOOST_AUTO_TEST_CASE(inline_data_follows_the_head_up_to_the_limit) {
  abi::SendWqe& wqe = provider::begin_wqe(bytes, IBV_WR_SEND, 0);
  BOOST_CHECK(provider::add_inline_data(wqe, "abc", 3, 8));
  BOOST_CHECK(provider::add_inline_data(wqe, "defgh", 5, 8));
  BOOST_TEST(wqe.inline_length == 8u);
  BOOST_TEST(std::memcmp(segments(), "abcdefgh", 8) == 0);
  BOOST_CHECK(!provider::add_inline_data(wqe, "x", 1, 8));
  BOOST_TEST(bytes[sizeof(abi::SendWqe) + 8] == 0xEE);
}

BOOST_AUTO_TEST_CASE(a_huge_inline_length_does_not_wrap) {
  abi::SendWqe& wqe = provider::begin_wqe(bytes, IBV_WR_SEND, 0);
  BOOST_CHECK(provider::add_inline_data(wqe, "abcd", 4, 8));
  // `volatile` hides the length from the compiler, which would warn of the copy that is never made.
  for (const volatile std::size_t length : {SIZE_MAX - 2, std::size_t{UINT32_MAX}}) {
    BOOST_CHECK(!provider::add_inline_data(wqe, bytes, length, 8));
  }
}

BOOST_AUTO_TEST_CASE(binding_names_range_rights_and_keys) {
  abi::SendWqe& wqe = provider::begin_wqe(bytes, IBV_WR_BIND_MW, 0);
  ibv_mw window{};
  window.rkey = 0x11;
  ibv_mr region{};
  region.lkey = 0x22;
  provider::set_bind(wqe, window, 0x12,
                     {&region, 0x5000, 64, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE});
  BOOST_TEST(wqe.rkey == 0x11u);
  BOOST_TEST(wqe.immediate_or_rkey == 0x12u);
  BOOST_TEST(wqe.bind_lkey == 0x22u);
  BOOST_TEST(wqe.remote_address == 0x5000u);
  BOOST_TEST(wqe.compare_add == 64u);
  BOOST_TEST(wqe.swap == std::uint64_t{IBV_ACCESS_REMOTE_READ});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
