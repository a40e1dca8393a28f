// What ends a connection, and the completion status that each end sees (IBTA 9.9.2, 9.9.3, 10.10.3).
#include <sys/mman.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/apps/programs/async_events.hpp"
#include "tests/apps/programs/requests.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 10'000;

EndpointOptions impatient() {
  EndpointOptions options;
  options.timeout = 8;  // 1 ms
  options.retry_count = 2;
  options.rnr_retry = 2;
  return options;
}

struct ErrorBench {
  Pair pair{impatient()};
  Memory left{pair.left_device.pd(), kLength};
  Memory right{pair.right_device.pd(), kLength};
  ibv_sge segment = left.segment(0, 100);

  ibv_send_wr write_to(std::uint64_t address, std::uint32_t rkey) {
    return rdma_request(IBV_WR_RDMA_WRITE, segment, address, rkey);
  }

  // Posts `request` and one behind it: the first ends with `status`, the second is flushed, and the QP is in
  // error.
  void expect_failure(const ibv_send_wr& request, ibv_wc_status status) {
    pair.left.post(request);
    const ibv_wc failed = pair.left.wait_send();
    BOOST_TEST(failed.status == status, "the request ended with " << ibv_wc_status_str(failed.status)
                                                                  << " instead of "
                                                                  << ibv_wc_status_str(status));
    BOOST_TEST(failed.wr_id == request.wr_id);
    BOOST_TEST(failed.qp_num == pair.left.qp()->qp_num);
    ibv_sge later = left.segment(0, 1);
    pair.left.post(send_request(later, 4711));
    const ibv_wc flushed = pair.left.wait_send();
    BOOST_TEST(flushed.status == IBV_WC_WR_FLUSH_ERR);
    BOOST_TEST(flushed.wr_id == 4711);
    BOOST_TEST(pair.left.state() == IBV_QPS_ERR);
  }

  // The responder's QP fails too, and says why.
  void expect_peer_event(ibv_event_type event) {
    const auto seen = wait_async_event(pair.right_device.context());
    BOOST_REQUIRE_MESSAGE(seen, "no asynchronous event came");
    BOOST_TEST(seen->event_type == event, ibv_event_type_str(seen->event_type));
    BOOST_TEST(seen->element.qp == pair.right.qp());
    BOOST_TEST(pair.right.state() == IBV_QPS_ERR);
  }
};

BOOST_FIXTURE_TEST_CASE(unknown_rkey, ErrorBench) {
  expect_failure(write_to(right.address(), right.rkey() ^ 0x40), IBV_WC_REM_ACCESS_ERR);
  expect_peer_event(IBV_EVENT_QP_ACCESS_ERR);
}

BOOST_FIXTURE_TEST_CASE(rkey_of_the_past, ErrorBench) {
  std::uint32_t old_key = 0;
  {
    const Memory gone(pair.right_device.pd(), kLength);
    old_key = gone.rkey();
  }
  expect_failure(write_to(right.address(), old_key), IBV_WC_REM_ACCESS_ERR);
}

BOOST_FIXTURE_TEST_CASE(one_byte_beyond_the_region, ErrorBench) {
  fill(right.bytes(0, kLength), 3);
  expect_failure(write_to(right.address(kLength - 99), right.rkey()), IBV_WC_REM_ACCESS_ERR);
  const auto wrong = difference(right.bytes(0, kLength), 3);
  BOOST_TEST(!wrong, wrong.value_or(""));
  expect_peer_event(IBV_EVENT_QP_ACCESS_ERR);
}

BOOST_FIXTURE_TEST_CASE(one_byte_before_the_region, ErrorBench) {
  expect_failure(write_to(right.address() - 1, right.rkey()), IBV_WC_REM_ACCESS_ERR);
}

BOOST_FIXTURE_TEST_CASE(end_of_the_address_space, ErrorBench) {
  expect_failure(write_to(~std::uint64_t{0} - 10, right.rkey()), IBV_WC_REM_ACCESS_ERR);
}

BOOST_FIXTURE_TEST_CASE(region_of_another_domain, ErrorBench) {
  const PdOwner other(ibv_alloc_pd(pair.right_device.context()));
  const Memory foreign(other.get(), kLength);
  expect_failure(write_to(foreign.address(), foreign.rkey()), IBV_WC_REM_ACCESS_ERR);
  expect_peer_event(IBV_EVENT_QP_ACCESS_ERR);
}

struct Denied {
  const char* name;
  int region_access;
  std::function<ibv_send_wr(ErrorBench&, const Memory&)> request;
};
std::ostream& operator<<(std::ostream& out, const Denied& denied) { return out << denied.name; }

const std::array kDenied{
    Denied{"write", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
           [](ErrorBench& b, const Memory& m) { return b.write_to(m.address(), m.rkey()); }},
    Denied{"read", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
           [](ErrorBench& b, const Memory& m) {
             return rdma_request(IBV_WR_RDMA_READ, b.segment, m.address(), m.rkey());
           }},
    Denied{"atomic", IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
           [](ErrorBench& b, const Memory& m) {
             b.segment.length = 8;
             return fetch_add_request(b.segment, m.address(), m.rkey());
           }},
};

BOOST_DATA_TEST_CASE(region_without_the_right, boost::unit_test::data::make(kDenied), denied) {
  ErrorBench bench;
  const Memory region(bench.pair.right_device.pd(), kLength, denied.region_access);
  bench.expect_failure(denied.request(bench, region), IBV_WC_REM_ACCESS_ERR);
  bench.expect_peer_event(IBV_EVENT_QP_ACCESS_ERR);
}

// IBTA 9.7.5.2.3: a QP on which the operation is not enabled answers that the request is invalid.
BOOST_DATA_TEST_CASE(queue_pair_without_the_right, boost::unit_test::data::make(kDenied), denied) {
  EndpointOptions closed = impatient();
  closed.access = denied.region_access;
  Pair pair(impatient(), closed);
  ErrorBench bench{};
  const Memory source(pair.left_device.pd(), kLength), region(pair.right_device.pd(), kLength);
  bench.segment = source.segment(0, 100);
  pair.left.post(denied.request(bench, region));
  BOOST_TEST(pair.left.wait_send().status == IBV_WC_REM_INV_REQ_ERR);
  BOOST_TEST(pair.right.state() == IBV_QPS_ERR);
}

BOOST_FIXTURE_TEST_CASE(atomic_off_alignment, ErrorBench) {
  segment.length = 8;
  expect_failure(fetch_add_request(segment, right.address(4), right.rkey()), IBV_WC_REM_INV_REQ_ERR);
}

BOOST_FIXTURE_TEST_CASE(message_longer_than_the_receive, ErrorBench) {
  fill(right.bytes(0, kLength), 3);
  pair.right.post_receive(1, {right.segment(0, 99)});
  pair.right.post_receive(2, {right.segment(0, 99)});
  expect_failure(send_request(segment, 8), IBV_WC_REM_INV_REQ_ERR);
  const ibv_wc failed = pair.right.wait_receive();
  BOOST_TEST(failed.status == IBV_WC_LOC_LEN_ERR);
  BOOST_TEST(failed.wr_id == 1);
  const ibv_wc flushed = pair.right.wait_receive();
  BOOST_TEST(flushed.status == IBV_WC_WR_FLUSH_ERR);
  BOOST_TEST(flushed.wr_id == 2);
  BOOST_TEST(pair.right.state() == IBV_QPS_ERR);
  const auto wrong = difference(right.bytes(99, kLength - 99), 3, 99);
  BOOST_TEST(!wrong, wrong.value_or(""));
}

BOOST_FIXTURE_TEST_CASE(no_receive_at_all, ErrorBench) {
  expect_failure(send_request(segment, 8), IBV_WC_RNR_RETRY_EXC_ERR);
  BOOST_TEST(pair.right.state() == IBV_QPS_RTS);  // it has done nothing wrong
}

BOOST_AUTO_TEST_CASE(peer_that_is_gone) {
  const DeviceNames names = device_names();
  const Device left_device(names.first), right_device(names.second);
  Endpoint left(left_device, impatient());
  const Memory source(left_device.pd(), kLength);
  {
    Endpoint right(right_device, impatient());
    left.connect(right.address());
    right.connect(left.address());
  }
  ibv_sge segment = source.segment(0, kLength);
  left.post(send_request(segment, 8));
  const ibv_wc failed = left.wait_send();
  BOOST_TEST(failed.status == IBV_WC_RETRY_EXC_ERR);
  BOOST_TEST(failed.wr_id == 8);
  BOOST_TEST(left.state() == IBV_QPS_ERR);
}

BOOST_AUTO_TEST_CASE(peer_in_error) {
  Pair pair(impatient());
  const Memory source(pair.left_device.pd(), kLength);
  BOOST_REQUIRE_EQUAL(pair.right.to_state(IBV_QPS_ERR), 0);
  ibv_sge segment = source.segment(0, kLength);
  pair.left.post(send_request(segment));
  BOOST_TEST(pair.left.wait_send().status == IBV_WC_RETRY_EXC_ERR);
}

BOOST_FIXTURE_TEST_CASE(unknown_lkey_at_the_sender, ErrorBench) {
  segment.lkey ^= 0x40;
  expect_failure(send_request(segment, 8), IBV_WC_LOC_PROT_ERR);
  BOOST_TEST(pair.right.state() == IBV_QPS_RTS);
}

BOOST_FIXTURE_TEST_CASE(segment_beyond_the_region_at_the_sender, ErrorBench) {
  segment = left.segment(kLength - 50, 51);
  expect_failure(write_to(right.address(), right.rkey()), IBV_WC_LOC_PROT_ERR);
}

BOOST_FIXTURE_TEST_CASE(read_into_memory_without_local_write, ErrorBench) {
  const Memory read_only(pair.left_device.pd(), kLength, 0);
  ibv_sge into = read_only.segment(0, 100);
  expect_failure(rdma_request(IBV_WR_RDMA_READ, into, right.address(), right.rkey()), IBV_WC_LOC_PROT_ERR);
}

BOOST_FIXTURE_TEST_CASE(unknown_lkey_at_the_receiver, ErrorBench) {
  ibv_sge bad = right.segment(0, 100);
  bad.lkey ^= 0x40;
  pair.right.post_receive(1, {bad});
  expect_failure(send_request(segment, 8), IBV_WC_REM_OP_ERR);
  const ibv_wc failed = pair.right.wait_receive();
  BOOST_TEST(failed.status == IBV_WC_LOC_PROT_ERR);
  BOOST_TEST(failed.wr_id == 1);
}

BOOST_FIXTURE_TEST_CASE(receive_without_local_write, ErrorBench) {
  const Memory read_only(pair.right_device.pd(), kLength, 0);
  pair.right.post_receive(1, {read_only.segment(0, 100)});
  expect_failure(send_request(segment, 8), IBV_WC_REM_OP_ERR);
  BOOST_TEST(pair.right.wait_receive().status == IBV_WC_LOC_PROT_ERR);
}

// Memory that is not there any more. A NIC has the pages pinned, and so has the device process those that it
// shares with the program; these stay the program's own, because shared memory is not zeroed in a child. Who
// unmaps them finds an error here, and only it.
class Unmapped {
 public:
  explicit Unmapped(ibv_pd* pd) : pages_(kLength) {
    BOOST_REQUIRE(madvise(pages_.data(), kLength, MADV_WIPEONFORK) == 0);
    mr_.reset(ibv_reg_mr(pd, pages_.data(), kLength, kAllAccess));
    BOOST_REQUIRE(mr_ != nullptr);
    munmap(pages_.data(), kLength);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(pages_.data()); }
  std::uint32_t rkey() const { return mr_->rkey; }
  ibv_sge segment() const { return {address(), kLength, mr_->lkey}; }

 private:
  Pages pages_;
  MrOwner mr_;
};

BOOST_FIXTURE_TEST_CASE(memory_that_was_unmapped_at_the_sender, ErrorBench) {
  const Unmapped gone(pair.left_device.pd());
  segment = gone.segment();
  expect_failure(write_to(right.address(), right.rkey()), IBV_WC_LOC_PROT_ERR);
}

BOOST_FIXTURE_TEST_CASE(memory_that_was_unmapped_at_the_receiver, ErrorBench) {
  const Unmapped gone(pair.right_device.pd());
  pair.right.post_receive(1, {gone.segment()});
  expect_failure(send_request(segment, 8), IBV_WC_REM_OP_ERR);
  BOOST_TEST(pair.right.wait_receive().status == IBV_WC_LOC_PROT_ERR);
}

BOOST_FIXTURE_TEST_CASE(memory_that_was_unmapped_at_the_target, ErrorBench) {
  const Unmapped gone(pair.right_device.pd());
  expect_failure(write_to(gone.address(), gone.rkey()), IBV_WC_REM_OP_ERR);
}

// All that was posted comes back, in order, at both queues.
BOOST_AUTO_TEST_CASE(flush) {
  Pair pair(impatient());
  const Memory memory(pair.left_device.pd(), kLength);
  for (std::uint64_t i = 0; i < 20; ++i) pair.left.post_receive(i, {memory.segment(0, 10)});
  BOOST_REQUIRE_EQUAL(pair.left.to_state(IBV_QPS_ERR), 0);
  ibv_sge segment = memory.segment(0, 10);
  for (std::uint64_t i = 0; i < 20; ++i) {
    ibv_send_wr request = send_request(segment, 100 + i);
    request.send_flags = 0;  // an error is always reported
    pair.left.post(request);
    pair.left.post_receive(20 + i, {memory.segment(0, 10)});
  }
  for (std::uint64_t i = 0; i < 40; ++i) {
    const ibv_wc received = pair.left.wait_receive();
    BOOST_TEST(received.status == IBV_WC_WR_FLUSH_ERR);
    BOOST_TEST(received.wr_id == i);
  }
  for (std::uint64_t i = 0; i < 20; ++i) {
    const ibv_wc sent = pair.left.wait_send();
    BOOST_TEST(sent.status == IBV_WC_WR_FLUSH_ERR);
    BOOST_TEST(sent.wr_id == 100 + i);
  }
}

// Requests before the failed one are good, that one says why, those behind it are flushed.
BOOST_FIXTURE_TEST_CASE(failure_in_the_middle, ErrorBench) {
  fill(left.bytes(0, 100), 5);
  for (std::uint64_t i = 0; i < 30; ++i) {
    ibv_send_wr request = write_to(right.address(i * 100), i == 17 ? right.rkey() ^ 0x40 : right.rkey());
    request.wr_id = i;
    pair.left.post(request);
  }
  for (std::uint64_t i = 0; i < 30; ++i) {
    const ibv_wc sent = pair.left.wait_send();
    BOOST_TEST(sent.wr_id == i);
    BOOST_TEST(sent.status == (i < 17    ? IBV_WC_SUCCESS
                               : i == 17 ? IBV_WC_REM_ACCESS_ERR
                                         : IBV_WC_WR_FLUSH_ERR));
    if (i >= 17) continue;
    const auto wrong = difference(right.bytes(i * 100, 100), 5);
    BOOST_TEST(!wrong, wrong.value_or(""));
  }
}

// After RESET a QP is as new, whatever ended its life before.
BOOST_FIXTURE_TEST_CASE(reset_and_reuse, ErrorBench) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    pair.right.post_receive(1, {right.segment(0, 100)});
    fill(left.bytes(0, 100), round);
    pair.left.post(send_request(segment, round));
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
    BOOST_REQUIRE_EQUAL(pair.right.wait_receive().status, IBV_WC_SUCCESS);
    const auto wrong = difference(right.bytes(0, 100), round);
    BOOST_TEST(!wrong, wrong.value_or(""));
    // Some rounds leave work behind: reset forgets it without completions (IBTA 11.2.5.2).
    if (round % 2 != 0) pair.right.post_receive(2, {right.segment(0, 100)});
    if (round % 3 == 0) BOOST_REQUIRE_EQUAL(pair.left.to_state(IBV_QPS_ERR), 0);
    BOOST_REQUIRE_EQUAL(pair.left.to_state(IBV_QPS_RESET), 0);
    BOOST_REQUIRE_EQUAL(pair.right.to_state(IBV_QPS_RESET), 0);
    ibv_wc completion{};
    BOOST_TEST(ibv_poll_cq(pair.right.receive_cq(), 1, &completion) == 0);
    pair.left.connect(pair.right.address());
    pair.right.connect(pair.left.address());
  }
}

}  // namespace
}  // namespace urnic::apps
