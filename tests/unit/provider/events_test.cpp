#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

namespace {

struct Events : Rig {
  ibv_cq* read_event() {
    ibv_cq* from = nullptr;
    void* unused;
    BOOST_REQUIRE_EQUAL(ibv_get_cq_event(channel, &from, &unused), 0);
    return from;
  }
  std::uint32_t arm_word() { return device.cq(cq->handle).indices->arm.load(); }
};

// Checks that `destroy`, on a thread of its own, waits for `acknowledge` and then succeeds.
void check_waits_for(const std::function<int()>& destroy, const std::function<void()>& acknowledge) {
  int error = -1;
  std::atomic<bool> destroyed{false};
  std::thread thread([&] {
    error = destroy();
    destroyed = true;
  });
  // Time for a wrong `destroy` to return. A right one still waits, however long this takes.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  BOOST_CHECK(!destroyed);
  acknowledge();
  thread.join();
  BOOST_CHECK_EQUAL(error, 0);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(events, Events)

BOOST_AUTO_TEST_CASE(arming_counts_requests_and_says_which_completions) {
  BOOST_TEST(ibv_req_notify_cq(cq, 1) == 0);
  BOOST_TEST(arm_word() == (1u << 2 | 1u));
  BOOST_TEST(ibv_req_notify_cq(cq, 0) == 0);
  BOOST_TEST(arm_word() == (2u << 2 | 2u));
  BOOST_TEST(ibv_req_notify_cq(cq, 1) == 0);
  BOOST_TEST(arm_word() == (3u << 2 | 2u));
}

BOOST_AUTO_TEST_CASE(an_event_names_its_queue) {
  BOOST_TEST(ibv_req_notify_cq(cq, 0) == 0);
  post_sends(1, 1);
  device.complete_send(*fake, 0);
  BOOST_CHECK(read_event() == cq);
  ibv_ack_cq_events(cq, 1);
}

BOOST_AUTO_TEST_CASE(a_queue_is_destroyed_when_its_events_are_acknowledged) {
  BOOST_TEST(ibv_req_notify_cq(cq, 0) == 0);
  post_sends(1, 1);
  device.complete_send(*fake, 0);
  read_event();
  BOOST_REQUIRE_EQUAL(ibv_destroy_qp(qp), 0);
  check_waits_for([&] { return ibv_destroy_cq(cq); }, [&] { ibv_ack_cq_events(cq, 1); });
  qp = nullptr;
  cq = nullptr;
}

BOOST_AUTO_TEST_CASE(a_queue_pair_is_destroyed_when_its_events_are_acknowledged) {
  device.raise_async_event(fake->request.user_handle, IBV_EVENT_QP_ACCESS_ERR);
  ibv_async_event event{};
  BOOST_REQUIRE_EQUAL(ibv_get_async_event(context, &event), 0);
  BOOST_TEST(event.event_type == IBV_EVENT_QP_ACCESS_ERR);
  BOOST_CHECK(event.element.qp == qp);
  check_waits_for([&] { return ibv_destroy_qp(qp); }, [&] { ibv_ack_async_event(&event); });
  qp = nullptr;
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
