// Shared receive queues: which QP gets which receive, events, resizing, limits and what is refused.
#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/apps/programs/async_events.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

using SrqOwner = std::unique_ptr<ibv_srq, Destroyer<ibv_destroy_srq>>;

constexpr std::size_t kPart = 4096;
constexpr std::uint32_t kReceives = 8;

SrqOwner create_srq(const Device& device, std::uint32_t max_wr, std::uint32_t max_sge = 1) {
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = max_wr;
  attributes.attr.max_sge = max_sge;
  return SrqOwner(ibv_create_srq(device.pd(), &attributes));
}

EndpointOptions on(ibv_srq* srq) {
  EndpointOptions options;
  options.srq = srq;
  return options;
}

// Two connections from the left, whose right ends share their receives.
struct Bench {
  Device left_device{device_names().first};
  Device right_device{device_names().second};
  SrqOwner srq = create_srq(right_device, kReceives);
  Endpoint left[2]{{left_device, {}}, {left_device, {}}};
  Endpoint right[2]{{right_device, on(srq.get())}, {right_device, on(srq.get())}};
  Memory from{left_device.pd(), kPart};
  Memory to{right_device.pd(), 64 * kPart};

  Bench() {
    for (int i = 0; i < 2; ++i) {
      left[i].connect(right[i].address());
      right[i].connect(left[i].address());
    }
  }
  int post(std::uint64_t id) {
    ibv_sge segment = to.segment(id * kPart, kPart);
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    const int error = ibv_post_srq_recv(srq.get(), &request, &bad);
    BOOST_TEST((error == 0 || bad == &request));
    return error;
  }
  // From one of the left ends; returns the wr_id of the receive it went to.
  std::uint64_t send(int which, std::size_t length) {
    const std::uint64_t seed = ++sent_;
    fill(from.bytes(0, length), seed);
    ibv_sge segment = from.segment(0, length);
    left[which].post(send_request(segment));
    BOOST_TEST(left[which].wait_send().status == IBV_WC_SUCCESS);
    const ibv_wc received = right[which].wait_receive();
    BOOST_TEST(received.status == IBV_WC_SUCCESS);
    BOOST_TEST(received.qp_num == right[which].qp()->qp_num);
    BOOST_TEST(received.byte_len == length);
    BOOST_TEST(!difference(to.bytes(received.wr_id * kPart, length), seed));
    return received.wr_id;
  }
  int modify(int mask, std::uint32_t max_wr, std::uint32_t limit) {
    ibv_srq_attr attributes{max_wr, 0, limit};
    return ibv_modify_srq(srq.get(), &attributes, mask);
  }
  ibv_srq_attr query() {
    ibv_srq_attr attributes{};
    BOOST_TEST(ibv_query_srq(srq.get(), &attributes) == 0);
    return attributes;
  }
  std::uint64_t sent_ = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_receive, Bench)

BOOST_AUTO_TEST_CASE(receives_go_to_whoever_needs_them_in_the_order_of_posting) {
  for (const std::size_t length : {1u, 8u, 32u, 33u, 1024u, 4096u}) {
    for (std::uint64_t id = 0; id < kReceives; ++id) BOOST_TEST(post(id) == 0);
    for (std::uint64_t id = 0; id < kReceives; ++id)
      BOOST_TEST(send(static_cast<int>(id % 3 % 2), length) == id);
  }
}

// libmlx5 makes an SRQ larger than the program asks for, and no device that it knows resizes one.
boost::test_tools::assertion_result sizes_are_as_asked_for(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!is_driven_by_libmlx5());
  result.message() << "libmlx5 chooses sizes of SRQs";
  return result;
}

BOOST_AUTO_TEST_CASE(it_is_full_until_completions_are_polled,
                     *boost::unit_test::precondition(sizes_are_as_asked_for)) {
  for (std::uint64_t id = 0; id < kReceives; ++id) BOOST_TEST(post(id) == 0);
  BOOST_TEST(post(9) == ENOMEM);
  send(0, 100);
  BOOST_TEST(post(9) == 0);
  BOOST_TEST(post(10) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(the_limit_event_comes_once) {
  for (std::uint64_t id = 0; id < 4; ++id) BOOST_TEST(post(id) == 0);
  BOOST_TEST(modify(IBV_SRQ_LIMIT, 0, 3) == 0);
  BOOST_TEST(query().srq_limit == 3u);
  send(0, 10);
  send(1, 10);
  const auto event = wait_async_event(right_device.context());
  BOOST_REQUIRE(event);
  BOOST_TEST(event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
  BOOST_TEST(event->element.srq == srq.get());
  BOOST_TEST(query().srq_limit == 0u);
  send(0, 10);
  BOOST_TEST(!wait_async_event(right_device.context(), std::chrono::milliseconds(50)));
  BOOST_TEST(modify(IBV_SRQ_LIMIT, 0, query().max_wr + 1) == EINVAL);
}

BOOST_AUTO_TEST_CASE(it_can_be_resized_with_receives_in_it,
                     *boost::unit_test::precondition(sizes_are_as_asked_for)) {
  for (std::uint64_t id = 0; id < kReceives; ++id) BOOST_TEST(post(id) == 0);
  BOOST_TEST(modify(IBV_SRQ_MAX_WR, kReceives - 1, 0) == EINVAL);
  BOOST_TEST(modify(IBV_SRQ_MAX_WR, 4 * kReceives, 0) == 0);
  BOOST_TEST(query().max_wr == 4 * kReceives);
  for (std::uint64_t id = kReceives; id < 4 * kReceives; ++id) BOOST_TEST(post(id) == 0);
  BOOST_TEST(post(40) == ENOMEM);
  for (std::uint64_t id = 0; id < 3 * kReceives + 4; ++id) {
    BOOST_TEST(send(static_cast<int>(id % 2), id % 2 == 0 ? 8 : 3000) == id);
  }
  BOOST_TEST(modify(IBV_SRQ_MAX_WR, 4, 0) == 0);
  BOOST_TEST(post(40) == ENOMEM);
  for (std::uint64_t id = 3 * kReceives + 4; id < 4 * kReceives; ++id) BOOST_TEST(send(0, 64) == id);
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_ends_leaves_the_rest_to_the_other) {
  for (std::uint64_t id = 0; id < kReceives; ++id) BOOST_TEST(post(id) == 0);
  // A completion that nobody polls any more gives its receive's place back all the same.
  ibv_sge segment = from.segment(0, 10);
  left[0].post(send_request(segment));
  left[0].wait_send();
  BOOST_TEST(right[0].to_state(IBV_QPS_ERR) == 0);
  const auto event = wait_async_event(right_device.context());
  BOOST_REQUIRE(event);
  BOOST_TEST(event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED);
  BOOST_TEST(event->element.qp == right[0].qp());
  BOOST_TEST(right[0].to_state(IBV_QPS_RESET) == 0);
  BOOST_TEST(!poll_for(right[0].receive_cq(), std::chrono::milliseconds(0)));
  BOOST_TEST(post(9) == 0);
  for (std::uint64_t id = 1; id < kReceives; ++id) BOOST_TEST(send(1, 100) == id);
  BOOST_TEST(send(1, 100) == 9u);
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
  const ibv_device_attr device = right_device.attributes();
  const auto max_wr = static_cast<std::uint32_t>(device.max_srq_wr);
  const auto max_sge = static_cast<std::uint32_t>(device.max_srq_sge);
  BOOST_TEST((create_srq(right_device, max_wr, max_sge) != nullptr));
  BOOST_TEST((create_srq(right_device, max_wr + 1) == nullptr));
  BOOST_TEST(errno == EINVAL);
  // libmlx5 counts as many segments as fit into a WQE of a power of two of bytes.
  BOOST_TEST((create_srq(right_device, 1, is_driven_by_libmlx5() ? 32 : max_sge + 1) == nullptr));
  BOOST_TEST(errno == EINVAL);
  BOOST_TEST(ibv_destroy_srq(srq.get()) == EBUSY);
  ibv_sge segments[2] = {to.segment(0, 1), to.segment(1, 1)};
  ibv_recv_wr request{};
  request.sg_list = segments;
  request.num_sge = 2;
  ibv_recv_wr* bad = nullptr;
  BOOST_TEST(ibv_post_srq_recv(srq.get(), &request, &bad) == EINVAL);
  request.num_sge = 1;
  BOOST_TEST(ibv_post_recv(right[0].qp(), &request, &bad) == (is_driven_by_libmlx5() ? ENOMEM : EINVAL));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::apps
