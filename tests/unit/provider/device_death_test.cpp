#define BOOST_TEST_DYN_LINK
#include <poll.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

namespace {

// A rig whose device dies in the test.
struct Doomed : Rig {
  ~Doomed() {
    // Afterwards the base class destroys all objects: that must work on a dead device too.
    replace_fake_device();
  }
  static bool is_readable(int descriptor) {
    pollfd entry{descriptor, POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
  }
  void wait_for_fatal_event() {
    ibv_async_event event{};
    BOOST_REQUIRE_EQUAL(ibv_get_async_event(context, &event), 0);
    BOOST_TEST(event.event_type == IBV_EVENT_DEVICE_FATAL);
    ibv_ack_async_event(&event);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(device_death, Doomed)

BOOST_AUTO_TEST_CASE(is_reported_as_an_asynchronous_event) {
  device.die();
  wait_for_fatal_event();
}

BOOST_AUTO_TEST_CASE(flushes_what_is_outstanding_once_each) {
  post_sends(3, 10);
  post_receives(2, 20);
  device.complete_send(*fake, 0);
  device.die();
  wait_for_fatal_event();
  const auto completions = poll();
  BOOST_REQUIRE(completions.size() == 5u);
  BOOST_TEST(completions[0].wr_id == 10u);
  BOOST_TEST(completions[0].status == IBV_WC_SUCCESS);
  const std::vector<std::uint64_t> flushed = {11, 12, 20, 21};
  for (std::size_t i = 0; i < flushed.size(); ++i) {
    BOOST_TEST(completions[i + 1].wr_id == flushed[i]);
    BOOST_TEST(completions[i + 1].status == IBV_WC_WR_FLUSH_ERR);
    BOOST_TEST(completions[i + 1].qp_num == qp->qp_num);
  }
  BOOST_TEST(poll().empty());
}

BOOST_AUTO_TEST_CASE(wakes_who_sleeps_on_a_completion_channel) {
  post_sends(1, 10);
  BOOST_TEST(ibv_req_notify_cq(cq, 0) == 0);
  device.die();
  ibv_cq* from = nullptr;
  void* unused;
  BOOST_REQUIRE_EQUAL(ibv_get_cq_event(channel, &from, &unused), 0);
  BOOST_CHECK(from == cq);
  ibv_ack_cq_events(cq, 1);
  BOOST_TEST(poll().size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_armed_queue_with_something_to_flush_has_an_event_at_once) {
  post_sends(1, 10);
  device.die();
  ibv_cq* from = nullptr;
  void* unused;
  for (int i = 0; i < 2; ++i) {
    BOOST_REQUIRE_EQUAL(ibv_get_cq_event(channel, &from, &unused), 0);
    BOOST_TEST(ibv_req_notify_cq(cq, 0) == 0);
  }
  ibv_ack_cq_events(cq, 2);
}

BOOST_AUTO_TEST_CASE(requests_and_posts_fail_and_unread_events_go_with_their_objects) {
  device.die();
  wait_for_fatal_event();
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  BOOST_TEST(post_send(send) == EIO);
  ibv_recv_wr receive{};
  BOOST_TEST(post_receive(receive) == EIO);
  ibv_qp_attr attributes{};
  BOOST_TEST(ibv_modify_qp(qp, &attributes, IBV_QP_STATE) == EIO);
  errno = 0;
  BOOST_CHECK(ibv_alloc_pd(context) == nullptr);
  BOOST_TEST(errno == EIO);
  // The channel holds the event that reported the death. Destroying the CQ removes the event.
  while (!is_readable(channel->fd)) std::this_thread::yield();
  BOOST_REQUIRE_EQUAL(ibv_destroy_qp(qp), 0);
  BOOST_REQUIRE_EQUAL(ibv_destroy_cq(cq), 0);
  BOOST_TEST(!is_readable(channel->fd));
  qp = nullptr;
  cq = nullptr;
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
