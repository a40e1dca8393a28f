// Events: completion channels, solicited ones, what is left in a channel when its queue goes, asynchronous
// events, and the draining of a send queue.
#include <fcntl.h>

#include <boost/test/unit_test.hpp>

#include "tests/apps/programs/async_events.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/threads.hpp"

namespace urnic::apps {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSoon{10'000};
constexpr milliseconds kNever{100};  // how long a test waits for what must not come

EndpointOptions sleeping() {
  EndpointOptions options;
  options.sleeps = true;
  return options;
}

struct EventBench {
  Pair pair{sleeping()};
  Memory source{pair.left_device.pd(), 4096};
  Memory target{pair.right_device.pd(), 4096};
  ibv_sge segment = source.segment(0, 64);

  void send(bool solicited = false) {
    pair.right.post_receive(1, {target.segment(0, 64)});
    ibv_send_wr request = send_request(segment);
    if (solicited) request.send_flags |= IBV_SEND_SOLICITED;
    pair.left.post(request);
    BOOST_REQUIRE_EQUAL(pair.left.wait_send().status, IBV_WC_SUCCESS);
  }
  bool has_event(milliseconds time = kSoon) { return becomes_readable(pair.right.channel()->fd, time); }
  void take_event() {
    ibv_cq* cq = nullptr;
    void* context = nullptr;
    BOOST_REQUIRE_EQUAL(ibv_get_cq_event(pair.right.channel(), &cq, &context), 0);
    BOOST_TEST(cq == pair.right.receive_cq());
    ibv_ack_cq_events(cq, 1);
  }
};

BOOST_FIXTURE_TEST_CASE(one_event_for_each_request, EventBench) {
  send();
  BOOST_TEST(!has_event(kNever));  // nobody asked
  BOOST_TEST(pair.right.wait_receive().status == IBV_WC_SUCCESS);
  for (int round = 0; round < 10; ++round) {
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 0), 0);
    send();
    send();
    BOOST_REQUIRE(has_event());
    take_event();
    BOOST_TEST(!has_event(kNever));  // one request, one event, though two came
    BOOST_TEST(pair.right.wait_receive().status == IBV_WC_SUCCESS);
    BOOST_TEST(pair.right.wait_receive().status == IBV_WC_SUCCESS);
  }
}

BOOST_FIXTURE_TEST_CASE(solicited_only, EventBench) {
  BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 1), 0);
  send();
  BOOST_TEST(!has_event(kNever));
  send(true);
  BOOST_REQUIRE(has_event());
  take_event();
  // An unsuccessful completion is an event too, solicited or not (IBTA 11.4.2.2).
  BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 1), 0);
  pair.right.post_receive(9, {target.segment(0, 64)});
  BOOST_REQUIRE_EQUAL(pair.right.to_state(IBV_QPS_ERR), 0);
  BOOST_TEST(has_event());
  take_event();
}

// A request for the next completion is not weakened by one for solicited completions (ibv_req_notify_cq(3)),
// whether the device sleeps when they are made or has just done something.
BOOST_FIXTURE_TEST_CASE(next_beats_solicited, EventBench) {
  for (int round = 0; round < 200; ++round) {
    if (round % 2 == 0) std::this_thread::sleep_for(milliseconds(1));
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 0), 0);
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 1), 0);
    send();
    BOOST_REQUIRE(has_event());
    take_event();
    BOOST_TEST(pair.right.wait_receive().status == IBV_WC_SUCCESS);
  }
}

// The library turns an event back into a pointer: events of a queue that is gone must be gone too.
BOOST_AUTO_TEST_CASE(unread_events_go_with_their_queue) {
  const DeviceNames names = device_names();
  const Device left_device(names.first), right_device(names.second);
  const ChannelOwner channel(ibv_create_comp_channel(right_device.context()));
  BOOST_REQUIRE(channel != nullptr);
  const Memory source(left_device.pd(), 64), target(right_device.pd(), 64);
  const CqOwner kept(ibv_create_cq(right_device.context(), 64, nullptr, channel.get(), 0));
  const auto send_to = [&](ibv_cq* cq) {
    Endpoint left(left_device, {}), right(right_device, {}, cq, cq);
    left.connect(right.address());
    right.connect(left.address());
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(cq, 0), 0);
    right.post_receive(1, {target.segment(0, 64)});
    ibv_sge segment = source.segment(0, 64);
    left.post(send_request(segment));
    BOOST_REQUIRE_EQUAL(wait_completion(cq).status, IBV_WC_SUCCESS);
  };
  for (int round = 0; round < 20; ++round) {
    const CqOwner gone(ibv_create_cq(right_device.context(), 64, nullptr, channel.get(), 0));
    if (round == 10) send_to(kept.get());
    send_to(gone.get());
    BOOST_TEST(becomes_readable(channel->fd, kSoon));
  }
  // Only the event of the queue that still exists is left.
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  BOOST_REQUIRE_EQUAL(ibv_get_cq_event(channel.get(), &cq, &context), 0);
  BOOST_TEST(cq == kept.get());
  ibv_ack_cq_events(cq, 1);
  BOOST_TEST(!becomes_readable(channel->fd, kNever));
}

// Destroying waits until every event that was read is acknowledged (ibv_destroy_cq(3)).
BOOST_FIXTURE_TEST_CASE(destroying_waits_for_acknowledgement, EventBench) {
  const ChannelOwner channel(ibv_create_comp_channel(pair.right_device.context()));
  ibv_cq* cq = ibv_create_cq(pair.right_device.context(), 64, nullptr, channel.get(), 0);
  BOOST_REQUIRE(cq != nullptr);
  {
    Endpoint left(pair.left_device, {}), right(pair.right_device, {}, cq, cq);
    left.connect(right.address());
    right.connect(left.address());
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(cq, 0), 0);
    right.post_receive(1, {target.segment(0, 64)});
    left.post(send_request(segment));
    BOOST_REQUIRE_EQUAL(left.wait_send().status, IBV_WC_SUCCESS);
    BOOST_REQUIRE(becomes_readable(channel->fd, kSoon));
  }
  ibv_cq* named = nullptr;
  void* context = nullptr;
  BOOST_REQUIRE_EQUAL(ibv_get_cq_event(channel.get(), &named, &context), 0);
  std::atomic<bool> destroyed{false};
  Threads threads;
  threads.start([&] {
    ibv_destroy_cq(cq);
    destroyed = true;
  });
  std::this_thread::sleep_for(kNever);
  BOOST_TEST(!destroyed);
  ibv_ack_cq_events(cq, 1);
  threads.join();
}

BOOST_FIXTURE_TEST_CASE(channel_that_does_not_block, EventBench) {
  const int fd = pair.right.channel()->fd;
  BOOST_REQUIRE_EQUAL(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  BOOST_TEST(ibv_get_cq_event(pair.right.channel(), &cq, &context) == -1);
  BOOST_TEST(errno == EAGAIN);
  BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 0), 0);
  send();
  BOOST_REQUIRE(has_event());
  take_event();
}

// More completions than the queue holds (IBTA 11.6.3.1): the queue is in error, and so are its QPs.
BOOST_AUTO_TEST_CASE(completion_queue_overrun) {
  const DeviceNames names = device_names();
  const Device left_device(names.first), right_device(names.second);
  const CqOwner small(ibv_create_cq(left_device.context(), 4, nullptr, nullptr, 0));
  BOOST_REQUIRE(small != nullptr);
  Endpoint left(left_device, {}, small.get(), small.get()), right(right_device, {});
  left.connect(right.address());
  right.connect(left.address());
  const Memory source(left_device.pd(), 64), target(right_device.pd(), 64);
  ibv_sge segment = source.segment(0, 8);
  const auto entries = static_cast<std::uint64_t>(small->cqe);
  for (std::uint64_t i = 0; i < entries + 2 && i < left.capacity().max_send_wr; ++i) {
    left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey(), i));
  }
  const auto event = wait_async_event(left_device.context(), kSoon);
  BOOST_REQUIRE(event);
  BOOST_TEST(event->event_type == IBV_EVENT_CQ_ERR, ibv_event_type_str(event->event_type));
  BOOST_TEST(event->element.cq == small.get());
}

// IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN: no event, no error; the newest completions are lost.
BOOST_AUTO_TEST_CASE(completion_queue_overrun_that_is_ignored) {
  const DeviceNames names = device_names();
  const Device left_device(names.first), right_device(names.second);
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = 4;
  attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  attributes.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  const CqOwner small(ibv_cq_ex_to_cq(ibv_create_cq_ex(left_device.context(), &attributes)));
  const CqOwner roomy(ibv_create_cq(left_device.context(), 64, nullptr, nullptr, 0));
  BOOST_REQUIRE(small != nullptr);
  Endpoint left(left_device, {}, roomy.get(), small.get()), right(right_device, {});
  left.connect(right.address());
  right.connect(left.address());
  const Memory source(right_device.pd(), 4096), target(left_device.pd(), 4096);
  const auto entries = static_cast<std::uint32_t>(small->cqe);
  const std::uint32_t sent = 3 * entries;
  // Short messages, whose data would travel in a CQE if CQEs could not be lost.
  fill(source.bytes(0, 8 * sent), 3);
  for (std::uint32_t i = 0; i < sent; ++i) {
    left.post_receive(i, {target.segment(8 * i, 8)});
    ibv_sge segment = source.segment(8 * i, 8);
    right.post(send_request(segment));
    BOOST_TEST(right.wait_send().status == IBV_WC_SUCCESS);
  }
  BOOST_TEST(!wait_async_event(left_device.context(), kNever).has_value());
  BOOST_TEST(left.state() == IBV_QPS_RTS);
  BOOST_TEST(!difference(target.bytes(0, 8 * sent), 3));
  // A queue may have room for one more than it says: libmlx5's rings have a power of two of entries.
  std::uint32_t found = 0;
  for (ibv_wc received{}; ibv_poll_cq(small.get(), 1, &received) == 1; ++found) {
    BOOST_TEST(received.wr_id == found);
  }
  BOOST_TEST(found >= entries);
  BOOST_TEST(found <= entries + 1);
  // The queue works on, and so does the pair. libmlx5 knows by counting CQEs which receive one is of.
  left.post_receive(99, {target.segment(0, 8)});
  ibv_sge segment = source.segment(0, 8);
  right.post(send_request(segment));
  BOOST_TEST(left.wait_receive().wr_id == (is_driven_by_libmlx5() ? found : 99u));
}

// What the QP does not take at all (IBTA 9.7.5.2.3, 11.6.3): no receive could tell it.
BOOST_AUTO_TEST_CASE(request_that_the_attributes_do_not_allow) {
  EndpointOptions without_reads;
  without_reads.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  Pair pair({}, without_reads);
  const Memory target(pair.left_device.pd(), 64), source(pair.right_device.pd(), 64);
  ibv_sge segment = target.segment(0, 8);
  pair.left.post(rdma_request(IBV_WR_RDMA_READ, segment, source.address(), source.rkey()));
  BOOST_TEST(pair.left.wait_send().status == IBV_WC_REM_INV_REQ_ERR);
  const auto event = wait_async_event(pair.right_device.context(), kSoon);
  BOOST_REQUIRE(event);
  BOOST_TEST(event->event_type == IBV_EVENT_QP_REQ_ERR, ibv_event_type_str(event->event_type));
  BOOST_TEST(event->element.qp == pair.right.qp());
}

// Several completions share an event, or one gets its own a while later (ibv_modify_cq(3)).
BOOST_FIXTURE_TEST_CASE(moderated_events, EventBench) {
  ibv_device_attr_ex device{};
  BOOST_REQUIRE_EQUAL(ibv_query_device_ex(pair.right_device.context(), nullptr, &device), 0);
  BOOST_TEST(device.cq_mod_caps.max_cq_count > 0);
  ibv_modify_cq_attr moderation{IBV_CQ_ATTR_MODERATE, {device.cq_mod_caps.max_cq_count, 20'000}};
  BOOST_REQUIRE_EQUAL(ibv_modify_cq(pair.right.receive_cq(), &moderation), 0);
  BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 0), 0);
  send();
  BOOST_REQUIRE(has_event());  // by time alone, with nothing else to wake the device
  take_event();
  moderation.moderate = {3, device.cq_mod_caps.max_cq_period};
  BOOST_REQUIRE_EQUAL(ibv_modify_cq(pair.right.receive_cq(), &moderation), 0);
  for (int round = 0; round < 10; ++round) {
    BOOST_REQUIRE_EQUAL(ibv_req_notify_cq(pair.right.receive_cq(), 0), 0);
    for (int i = 0; i < 3; ++i) send();
    BOOST_REQUIRE(has_event());
    take_event();
  }
  moderation.attr_mask |= 1u << 5;
  BOOST_TEST(ibv_modify_cq(pair.right.receive_cq(), &moderation) == EINVAL);
}

// The peer learns that the connection is used although it has not been told so (IBTA 11.6.3.1).
BOOST_AUTO_TEST_CASE(communication_established) {
  const DeviceNames names = device_names();
  const Device left_device(names.first), right_device(names.second);
  Endpoint left(left_device, {}), right(right_device, {});
  left.connect(right.address());
  BOOST_REQUIRE_EQUAL(right.to_init(), 0);
  BOOST_REQUIRE_EQUAL(right.to_rtr(left.address()), 0);
  const Memory source(left_device.pd(), 64), target(right_device.pd(), 64);
  ibv_sge segment = source.segment(0, 8);
  left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey()));
  BOOST_REQUIRE_EQUAL(left.wait_send().status, IBV_WC_SUCCESS);
  BOOST_REQUIRE(becomes_readable(right_device.context()->async_fd, kSoon));
  ibv_async_event event{};
  BOOST_REQUIRE_EQUAL(ibv_get_async_event(right_device.context(), &event), 0);
  BOOST_TEST(event.event_type == IBV_EVENT_COMM_EST);
  BOOST_TEST(event.element.qp == right.qp());
  ibv_ack_async_event(&event);
}

// SQD: what is under way ends, what is posted later waits for RTS (IBTA 10.3.1.5).
BOOST_FIXTURE_TEST_CASE(draining, EventBench) {
  const auto drain = [&] {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_SQD;
    attributes.en_sqd_async_notify = 1;
    return ibv_modify_qp(pair.left.qp(), &attributes, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
  };
  for (std::uint64_t round = 0; round < 10; ++round) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey(), i));
    }
    BOOST_REQUIRE_EQUAL(drain(), 0);
    const auto event = wait_async_event(pair.left_device.context(), kSoon);
    BOOST_REQUIRE(event);
    BOOST_TEST(event->event_type == IBV_EVENT_SQ_DRAINED);
    BOOST_TEST(event->element.qp == pair.left.qp());
    BOOST_TEST(pair.left.state() == IBV_QPS_SQD);
    // Not one request is half done: those that came through are complete, the others wait.
    std::uint64_t done = 0;
    while (poll_for(pair.left.send_cq(), kNever)) ++done;
    pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey(), 20));
    BOOST_TEST(!poll_for(pair.left.send_cq(), kNever));
    BOOST_REQUIRE_EQUAL(pair.left.to_state(IBV_QPS_RTS), 0);
    for (; done < 21; ++done) {
      const ibv_wc sent = pair.left.wait_send();
      BOOST_TEST(sent.status == IBV_WC_SUCCESS);
      BOOST_TEST(sent.wr_id == done);
    }
  }
}

// Unread asynchronous events of a QP go with it; those of another stay.
BOOST_AUTO_TEST_CASE(unread_async_events_go_with_their_qp) {
  const DeviceNames names = device_names();
  const Device left_device(names.first), right_device(names.second);
  const Memory source(left_device.pd(), 64);
  for (int round = 0; round < 10; ++round) {
    Endpoint left(left_device, {}), right(right_device, {});
    left.connect(right.address());
    right.connect(left.address());
    ibv_sge segment = source.segment(0, 8);
    left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, 0, 0x12345600));
    BOOST_REQUIRE_EQUAL(left.wait_send().status, IBV_WC_REM_ACCESS_ERR);
    BOOST_TEST(becomes_readable(right_device.context()->async_fd, kSoon));
  }
  BOOST_TEST(!becomes_readable(right_device.context()->async_fd, kNever));
}

// A queue that grows and shrinks keeps what is in it.
BOOST_AUTO_TEST_CASE(resizing_a_full_queue) {
  Pair pair;
  const Memory source(pair.left_device.pd(), 64), target(pair.right_device.pd(), 64);
  ibv_sge segment = source.segment(0, 8);
  std::uint64_t posted = 0, done = 0;
  for (const int entries : {1000, 64, 4000, 200}) {
    for (int i = 0; i < 40; ++i) {
      pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey(), posted++));
    }
    BOOST_REQUIRE_EQUAL(ibv_resize_cq(pair.left.send_cq(), entries), 0);
    BOOST_TEST(pair.left.send_cq()->cqe >= entries);
    for (; done < posted; ++done) {
      const ibv_wc sent = pair.left.wait_send();
      BOOST_TEST(sent.status == IBV_WC_SUCCESS);
      BOOST_TEST(sent.wr_id == done);
    }
  }
}

// One that would be too small for what is in it stays as it was.
BOOST_AUTO_TEST_CASE(resizing_to_less_than_is_in_the_queue) {
  constexpr std::uint64_t kWrites = 40;
  Pair pair;
  const Memory source(pair.left_device.pd(), 64), target(pair.right_device.pd(), 64);
  source.data()[0] = std::byte{1};
  ibv_sge segment = source.segment(0, 8), answer = source.segment(8, 8);
  for (std::uint64_t i = 0; i < kWrites; ++i) {
    pair.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target.address(), target.rkey(), i));
  }
  // What a read brings says that all before it is done.
  pair.left.post(rdma_request(IBV_WR_RDMA_READ, answer, target.address(), target.rkey(), kWrites));
  const auto* const arrived = reinterpret_cast<const volatile char*>(source.data() + 8);
  while (*arrived == 0) std::this_thread::yield();
  const int before = pair.left.send_cq()->cqe;
  for (int i = 0; i < 3; ++i) BOOST_TEST(ibv_resize_cq(pair.left.send_cq(), 7) == EINVAL);
  BOOST_TEST(pair.left.send_cq()->cqe == before);
  for (std::uint64_t i = 0; i <= kWrites; ++i) {
    const ibv_wc done = pair.left.wait_send();
    BOOST_TEST(done.status == IBV_WC_SUCCESS);
    BOOST_TEST(done.wr_id == i);
  }
}

}  // namespace
}  // namespace urnic::apps
