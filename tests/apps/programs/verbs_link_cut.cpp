// A link that is cut for longer than a connection's retries last, and then is whole again. The program says
// "connected" when the link may be cut, "ended" when it may be whole again. Somebody else does both.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "tests/apps/programs/requests.hpp"

namespace urnic::apps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLength = 20'011;
constexpr std::uint64_t kUnderWay = 6;
constexpr auto kTimeLimit = std::chrono::seconds(30);
// retry_cnt + 1 times the timeout of 4.096 us * 2^14 without progress (IBTA 9.7.6.1.3). The program may have
// been told late of the last progress, so that it asks for half of that.
constexpr std::chrono::microseconds kAllRetries{8 * 67'108};

void say(const char* what) {
  fmt::print("{}\n", what);
  std::fflush(stdout);
}

struct CutBench {
  Pair pair;
  Memory source{pair.left_device.pd(), kLength};
  Memory target{pair.right_device.pd(), kLength};

  void post_write(std::uint64_t id) {
    ibv_sge segment = source.segment(0, kLength);
    pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey(), id));
  }
  void post_send(std::uint64_t id) {
    ibv_sge segment = source.segment(0, kLength);
    pair.left.post(send_request(segment, id));
  }

  void transfer(std::uint64_t seed) {
    fill(source.bytes(0, kLength), seed);
    post_write(seed);
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    const auto written = difference(target.bytes(0, kLength), seed);
    BOOST_TEST(!written, written.value_or(""));
    fill(source.bytes(0, kLength), ~seed);
    pair.right.post_receive(seed, {target.segment(0, kLength)});
    post_send(seed);
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(pair.right.wait_receive().status, IBV_WC_SUCCESS);
    const auto received = difference(target.bytes(0, kLength), ~seed);
    BOOST_TEST(!received, received.value_or(""));
  }

  // Writes, several under way at a time, until one of them fails. Returns its completion; how long nothing
  // had completed before it is in `silence`.
  ibv_wc write_until_failure(Clock::duration& silence) {
    const auto limit = Clock::now() + kTimeLimit;
    for (std::uint64_t id = 0; id < kUnderWay; ++id) post_write(id);
    auto last_success = Clock::now();
    for (std::uint64_t expected = 0; Clock::now() < limit; ++expected) {
      const ibv_wc completion = pair.left.wait_send();
      BOOST_REQUIRE_EQUAL(completion.wr_id, expected);
      silence = Clock::now() - last_success;
      if (completion.status != IBV_WC_SUCCESS) return completion;
      post_write(expected + kUnderWay);
      last_success = Clock::now();
    }
    BOOST_FAIL("the link was not cut");
    return {};
  }

  void connect_again() {
    BOOST_REQUIRE_EQUAL(pair.left.to_state(IBV_QPS_RESET), 0);
    BOOST_REQUIRE_EQUAL(pair.right.to_state(IBV_QPS_RESET), 0);
    pair.left.connect(pair.right.address());
    pair.right.connect(pair.left.address());
  }
};

BOOST_FIXTURE_TEST_CASE(cut_and_whole_again, CutBench) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) transfer(seed);
  for (std::uint64_t id = 0; id < 3; ++id) pair.right.post_receive(100 + id, {target.segment(0, kLength)});
  say("connected");

  // The oldest request fails with the reason, those behind it are flushed, in order (IBTA 10.8.5, 9.9.2.4.2).
  Clock::duration silence{};
  const ibv_wc failed = write_until_failure(silence);
  BOOST_TEST(failed.status == IBV_WC_RETRY_EXC_ERR, ibv_wc_status_str(failed.status));
  BOOST_TEST((silence >= kAllRetries / 2), "it gave up before all retries were made");
  for (std::uint64_t behind = 1; behind < kUnderWay; ++behind) {
    const ibv_wc flushed = pair.left.wait_send();
    BOOST_TEST(flushed.wr_id == failed.wr_id + behind);
    BOOST_TEST(flushed.status == IBV_WC_WR_FLUSH_ERR, ibv_wc_status_str(flushed.status));
  }
  BOOST_TEST(pair.left.state() == IBV_QPS_ERR);
  // What is posted from now on is flushed as well.
  post_write(7777);
  const ibv_wc late = pair.left.wait_send();
  BOOST_TEST(late.wr_id == 7777u);
  BOOST_TEST(late.status == IBV_WC_WR_FLUSH_ERR, ibv_wc_status_str(late.status));

  // The other end has noticed nothing; its receives are flushed when its program gives up too.
  BOOST_TEST(pair.right.state() == IBV_QPS_RTS);
  BOOST_REQUIRE_EQUAL(pair.right.to_state(IBV_QPS_ERR), 0);
  for (std::uint64_t id = 0; id < 3; ++id) {
    const ibv_wc flushed = pair.right.wait_receive();
    BOOST_TEST(flushed.wr_id == 100 + id);
    BOOST_TEST(flushed.status == IBV_WC_WR_FLUSH_ERR, ibv_wc_status_str(flushed.status));
  }
  say("ended");

  // The same queue pairs, reset. The link may still be cut at the first attempts.
  const auto limit = Clock::now() + kTimeLimit;
  ibv_wc_status status = IBV_WC_RETRY_EXC_ERR;
  while (status != IBV_WC_SUCCESS) {
    BOOST_REQUIRE(Clock::now() < limit);
    connect_again();
    post_write(1);
    status = pair.left.wait_send().status;
    BOOST_REQUIRE((status == IBV_WC_SUCCESS || status == IBV_WC_RETRY_EXC_ERR));
  }
  for (std::uint64_t seed = 1001; seed <= 1100; ++seed) transfer(seed);
  ibv_wc completion{};
  BOOST_TEST(ibv_poll_cq(pair.left.send_cq(), 1, &completion) == 0);
  BOOST_TEST(ibv_poll_cq(pair.right.receive_cq(), 1, &completion) == 0);
}

}  // namespace
}  // namespace urnic::apps
