#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

BOOST_FIXTURE_TEST_SUITE(post_receive, Rig)

BOOST_AUTO_TEST_CASE(a_receive_has_its_segments_without_empty_ones) {
  ibv_sge segments[] = {{0x1000, 10, 7}, {0x2000, 0, 8}, {0x3000, 30, 9}};
  BOOST_REQUIRE_EQUAL(Rig::post_receive(segments), 0);
  BOOST_TEST(fake->indices->receive_producer.load() == 1u);
  BOOST_TEST(fake->receive_wqe(0).sge_count == 2u);
  BOOST_TEST(fake->receive_segments(0)[0].address == 0x1000u);
  BOOST_TEST(fake->receive_segments(0)[1].lkey == 9u);
}

BOOST_AUTO_TEST_CASE(too_many_segments_and_a_full_queue_are_refused) {
  ibv_recv_wr request{};
  request.num_sge = FakeDevice::kMaxSge + 1;
  ibv_recv_wr* bad = nullptr;
  BOOST_TEST(Rig::post_receive(request, &bad) == EINVAL);
  BOOST_CHECK(bad == &request);
  post_receives(FakeDevice::kReceiveSlots, 0);
  request.num_sge = 0;
  BOOST_TEST(Rig::post_receive(request, &bad) == ENOMEM);
  device.complete_receive(*fake, 0);
  BOOST_TEST(poll().size() == 1u);
  BOOST_TEST(Rig::post_receive(request) == 0);
}

BOOST_AUTO_TEST_CASE(receives_may_be_posted_in_every_state_but_reset) {
  ibv_recv_wr request{};
  modify(IBV_QPS_RESET);
  BOOST_TEST(Rig::post_receive(request) == EINVAL);
  modify(IBV_QPS_INIT);
  BOOST_TEST(Rig::post_receive(request) == 0);
  modify(IBV_QPS_ERR);
  BOOST_TEST(Rig::post_receive(request) == 0);
}

BOOST_AUTO_TEST_CASE(the_doorbell_rings_only_in_the_error_state) {
  device.take_doorbell(fake->reply.doorbell);
  post_receives(1, 0);
  BOOST_CHECK(!device.take_doorbell(fake->reply.doorbell));
  fake->indices->in_error = 1;
  post_receives(1, 0);
  BOOST_CHECK(device.take_doorbell(fake->reply.doorbell));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
