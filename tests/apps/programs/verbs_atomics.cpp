// Atomic operations: values, what lies beside them, and that none is lost or done twice when several come at
// once. Remote invalidation, which needs a window to invalidate, is here too.
#include <boost/test/unit_test.hpp>
#include <thread>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t word(const Memory& memory, std::size_t index) {
  return reinterpret_cast<const volatile std::uint64_t*>(memory.data())[index];
}
void set_word(const Memory& memory, std::size_t index, std::uint64_t value) {
  reinterpret_cast<volatile std::uint64_t*>(memory.data())[index] = value;
}

// Where the old value goes and which word is changed.
struct Place {
  const Memory& result;
  std::size_t result_index;
  const Memory& target;
  std::size_t target_index;
};

void post_atomic(Endpoint& endpoint, ibv_wr_opcode opcode, const Place& place, std::uint64_t compare_add,
                 std::uint64_t swap, unsigned flags = IBV_SEND_SIGNALED) {
  ibv_sge segment = place.result.segment(place.result_index * kWord, kWord);
  ibv_send_wr request{};
  request.wr_id = place.result_index;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = flags;
  request.wr.atomic.remote_addr = place.target.address(place.target_index * kWord);
  request.wr.atomic.rkey = place.target.rkey();
  request.wr.atomic.compare_add = compare_add;
  request.wr.atomic.swap = swap;
  endpoint.post(request);
}

struct AtomicBench {
  Pair pair;
  Memory result{pair.left_device.pd(), 4096};
  Memory target{pair.right_device.pd(), 4096};
};

BOOST_FIXTURE_TEST_CASE(fetch_and_add, AtomicBench) {
  constexpr std::uint64_t start = 0xFFFFFFFFFFFFFF00, step = 0x0123456789ABCDEF;
  set_word(target, 0, 0x1111111111111111);
  set_word(target, 1, start);
  set_word(target, 2, 0x2222222222222222);
  for (std::uint64_t i = 0; i < 100; ++i) {
    set_word(result, 0, 0xAAAAAAAAAAAAAAAA);
    set_word(result, 2, 0xBBBBBBBBBBBBBBBB);
    post_atomic(pair.left, IBV_WR_ATOMIC_FETCH_AND_ADD, {result, 1, target, 1}, step, 0);
    const ibv_wc completion = pair.left.wait_send();
    BOOST_REQUIRE_EQUAL(completion.status, IBV_WC_SUCCESS);
    BOOST_TEST(completion.opcode == IBV_WC_FETCH_ADD);
    BOOST_TEST(completion.byte_len == kWord);
    BOOST_TEST(word(result, 1) == start + i * step);
    BOOST_TEST(word(target, 1) == start + (i + 1) * step);
    BOOST_TEST(word(result, 0) == 0xAAAAAAAAAAAAAAAA);
    BOOST_TEST(word(result, 2) == 0xBBBBBBBBBBBBBBBB);
  }
  BOOST_TEST(word(target, 0) == 0x1111111111111111);
  BOOST_TEST(word(target, 2) == 0x2222222222222222);
}

BOOST_FIXTURE_TEST_CASE(compare_and_swap, AtomicBench) {
  set_word(target, 5, 7);
  post_atomic(pair.left, IBV_WR_ATOMIC_CMP_AND_SWP, {result, 0, target, 5}, 7, 0xFEDCBA9876543210);
  const ibv_wc swapped = pair.left.wait_send();
  BOOST_REQUIRE_EQUAL(swapped.status, IBV_WC_SUCCESS);
  BOOST_TEST(swapped.opcode == IBV_WC_COMP_SWAP);
  BOOST_TEST(word(result, 0) == 7);
  BOOST_TEST(word(target, 5) == 0xFEDCBA9876543210);

  post_atomic(pair.left, IBV_WR_ATOMIC_CMP_AND_SWP, {result, 1, target, 5}, 7, 1);
  BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  BOOST_TEST(word(result, 1) == 0xFEDCBA9876543210);
  BOOST_TEST(word(target, 5) == 0xFEDCBA9876543210);
}

// More than the responder answers at once, and writes and reads of the same word in between: each must see
// what those before it did.
BOOST_FIXTURE_TEST_CASE(many_in_order, AtomicBench) {
  set_word(target, 0, 0);
  constexpr std::uint64_t count = 120;
  for (std::uint64_t i = 0; i < count; ++i) {
    const unsigned flags = i + 1 == count ? IBV_SEND_SIGNALED : 0;
    post_atomic(pair.left, IBV_WR_ATOMIC_FETCH_AND_ADD, {result, i, target, 0}, 1 + i, 0, flags);
  }
  BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  for (std::uint64_t i = 0; i < count; ++i) BOOST_TEST(word(result, i) == i * (i + 1) / 2);
  BOOST_TEST(word(target, 0) == count * (count + 1) / 2);
}

// Two QPs from two devices on one word: no addition is lost, and all old values differ.
BOOST_AUTO_TEST_CASE(from_two_sides) {
  Pair one, two;
  const Memory target(one.right_device.pd(), 4096);
  // The second pair's right device is another context, so it registers the same pages for itself.
  const MrOwner second(ibv_reg_mr(two.right_device.pd(), target.data(), target.size(), kAllAccess));
  BOOST_REQUIRE(second != nullptr);
  const Memory one_result(one.left_device.pd(), 1 << 16), two_result(two.left_device.pd(), 1 << 16);
  set_word(target, 0, 0);
  constexpr std::uint64_t count = 5000;
  const auto add = [&](Pair& pair, const Memory& result, std::uint32_t rkey) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ibv_sge segment = result.segment(i * kWord, kWord);
      ibv_send_wr request = signaled_request(IBV_WR_ATOMIC_FETCH_AND_ADD, segment);
      request.wr.atomic = {target.address(), 1, 0, rkey};
      pair.left.post(request);
      const ibv_wc completion = pair.left.wait_send();
      require(completion.status == IBV_WC_SUCCESS, "{}", ibv_wc_status_str(completion.status));
    }
  };
  std::exception_ptr problem;
  std::thread other([&] {
    try {
      add(two, two_result, second->rkey);
    } catch (...) {
      problem = std::current_exception();
    }
  });
  add(one, one_result, target.rkey());
  other.join();
  if (problem) std::rethrow_exception(problem);
  BOOST_TEST(word(target, 0) == 2 * count);
  std::vector<bool> seen(2 * count, false);
  for (std::uint64_t i = 0; i < count; ++i) {
    for (const Memory* result : {&one_result, &two_result}) {
      const std::uint64_t old = word(*result, i);
      BOOST_REQUIRE_LT(old, 2 * count);
      BOOST_TEST(!seen[old], "two additions found the value " << old);
      seen[old] = true;
    }
  }
}

ibv_send_wr write_request(ibv_sge& segment, std::uint64_t address, std::uint32_t rkey) {
  ibv_send_wr request = signaled_request(IBV_WR_RDMA_WRITE, segment);
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = rkey;
  return request;
}

// A type 2 window takes writes until a send with invalidate takes it away.
BOOST_AUTO_TEST_CASE(send_with_invalidate) {
  Pair pair;
  const Memory source(pair.left_device.pd(), 4096);
  const Memory target(pair.right_device.pd(), 4096, kAllAccess | IBV_ACCESS_MW_BIND);
  const MwOwner window(ibv_alloc_mw(pair.right_device.pd(), IBV_MW_TYPE_2));
  BOOST_REQUIRE(window != nullptr);
  const std::uint32_t rkey = ibv_inc_rkey(window->rkey);
  ibv_send_wr bind{};
  bind.opcode = IBV_WR_BIND_MW;
  bind.send_flags = IBV_SEND_SIGNALED;
  bind.bind_mw.mw = window.get();
  bind.bind_mw.rkey = rkey;
  bind.bind_mw.bind_info = {target.mr(), target.address(100), 1000, IBV_ACCESS_REMOTE_WRITE};
  pair.right.post(bind);
  const ibv_wc bound = pair.right.wait_send();
  BOOST_REQUIRE_EQUAL(bound.status, IBV_WC_SUCCESS);
  BOOST_TEST(bound.opcode == IBV_WC_BIND_MW);

  fill(source.bytes(0, 1000), 1);
  ibv_sge segment = source.segment(0, 1000);
  pair.left.post(write_request(segment, target.address(100), rkey));
  BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  const auto wrong = difference(target.bytes(100, 1000), 1);
  BOOST_TEST(!wrong, wrong.value_or(""));
  BOOST_TEST(static_cast<int>(target.data()[99]) == 0);
  BOOST_TEST(static_cast<int>(target.data()[1100]) == 0);

  pair.right.post_receive(77, {target.segment(2000, 100)});
  ibv_sge small = source.segment(0, 10);
  ibv_send_wr send = signaled_request(IBV_WR_SEND_WITH_INV, small);
  send.invalidate_rkey = rkey;
  pair.left.post(send);
  BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  const ibv_wc received = pair.right.wait_receive();
  BOOST_REQUIRE_EQUAL(received.status, IBV_WC_SUCCESS);
  BOOST_TEST(received.wr_id == 77);
  BOOST_TEST((received.wc_flags & IBV_WC_WITH_INV) != 0);
  BOOST_TEST(received.invalidated_rkey == rkey);

  pair.left.post(write_request(segment, target.address(100), rkey));
  BOOST_TEST(pair.left.wait_send().status == IBV_WC_REM_ACCESS_ERR);
}

}  // namespace
}  // namespace urnic::apps
