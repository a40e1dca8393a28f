// Queues that share the memory of a switch, in virtual time.
#include "device_model/link/shared_buffer.hpp"

#include <boost/test/unit_test.hpp>
#include <deque>

#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {

namespace {

using transport::Nanoseconds;

// Lines of a byte a nanosecond with queues in one memory; 24 bytes of each packet's time are Ethernet's.
struct Queues {
  transport::Time now{Nanoseconds(1'000'000)};
  SharedBuffer buffer;
  std::deque<EgressQueue> queues;

  Queues(int count, const SharedBufferSettings& settings) {
    buffer.configure(settings);
    for (int i = 0; i < count; ++i)
      buffer.add(queues.emplace_back(LinkSettings{.rate_gbps = 8, .queue_packets = 65536}));
  }
  // False: the memory has no more for the queue.
  bool put(std::size_t queue, std::uint32_t bytes = 976) {
    if (!buffer.has_room(queues[queue], now, bytes)) return false;
    queues[queue].accept(now, bytes);
    return true;
  }
  std::uint64_t fill(std::size_t queue) {
    while (put(queue)) {
    }
    return queues[queue].bytes(now);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_buffers)

// alpha / (1 + alpha) of 9,760 bytes, in packets of 976 bytes.
BOOST_AUTO_TEST_CASE(a_queue_alone_gets_what_alpha_says) {
  BOOST_TEST(Queues(1, {.bytes = 9760, .alpha = 1}).fill(0) == 5 * 976);
  BOOST_TEST(Queues(1, {.bytes = 9760, .alpha = 4}).fill(0) == 8 * 976);
  BOOST_TEST(Queues(1, {.bytes = 9760, .alpha = 0.25}).fill(0) == 2 * 976);
  BOOST_TEST(Queues(1, {.bytes = 9760, .alpha = 1000}).fill(0) == 9 * 976);
}

// The first leaves half of the memory, and the next ones half of what they find.
BOOST_AUTO_TEST_CASE(every_queue_leaves_something_for_the_next) {
  Queues many(3, {.bytes = 16 * 976, .alpha = 1});
  BOOST_TEST(many.fill(0) == 8 * 976);
  BOOST_TEST(many.fill(1) == 4 * 976);
  BOOST_TEST(many.fill(2) == 2 * 976);
  BOOST_TEST(many.buffer.used(many.now) == 14 * 976);
}

// The threshold of all falls when another queue grows: a queue above it takes nothing until it has shrunk.
BOOST_AUTO_TEST_CASE(queues_that_stay_full_share_evenly) {
  Queues both(2, {.bytes = 15 * 976, .alpha = 1});
  both.fill(0);
  both.fill(1);
  for (int i = 0; i < 20; ++i) {
    both.now += Nanoseconds(1000);
    both.fill(1);
    both.fill(0);
  }
  BOOST_TEST(both.queues[0].bytes(both.now) == 5 * 976);
  BOOST_TEST(both.queues[1].bytes(both.now) == 5 * 976);
}

BOOST_AUTO_TEST_CASE(what_has_left_makes_room_also_for_others) {
  Queues both(2, {.bytes = 8 * 976, .alpha = 1000});
  BOOST_TEST(both.fill(0) == 7 * 976);
  BOOST_TEST(!both.put(1));
  both.now += Nanoseconds(999);
  BOOST_TEST(!both.put(1));
  both.now += Nanoseconds(1);
  BOOST_TEST(both.put(1));
}

BOOST_FIXTURE_TEST_CASE(ports_share_the_switchs_memory, TwoPorts) {
  const std::size_t frame = SampleFrame().frame().size();
  frame_switch.link(0).configure(Direction::receive, {.rate_gbps = 1});
  frame_switch.buffer().configure({.bytes = 8 * frame, .alpha = 1});
  frame_switch.link(1).configure(Direction::receive, {.rate_gbps = 1});
  for (std::uint32_t psn = 100; psn < 106; ++psn) send({.psn = psn});
  for (std::uint32_t psn = 200; psn < 206; ++psn) send({.psn = psn, .from = 1, .to = 0});
  const auto drops = [&](std::uint32_t port) {
    return frame_switch.link(port)
        .channel(Direction::receive)
        .counters()
        .drops(DropCause::shared_buffer_full);
  };
  BOOST_TEST(drops(1) == 2);
  BOOST_TEST(drops(0) == 4);
  BOOST_TEST(observer.last(CapturePoint::dropped)->remarks ==
             "urnic0 rx: dropped, the switch's memory has no more for the queue");
  advance(1'000'000);
  BOOST_TEST(receivers[1].psns() == "100 101 102 103 ");
  BOOST_TEST(receivers[0].psns() == "200 201 ");
  send_psn(106);
  BOOST_TEST(drops(1) == 2);
}

// What a device sends waits in its own memory.
BOOST_FIXTURE_TEST_CASE(queues_towards_the_switch_take_none_of_its_memory, TwoPorts) {
  frame_switch.buffer().configure({.bytes = 1, .alpha = 1});
  frame_switch.link(0).configure(Direction::transmit, {.rate_gbps = 1});
  for (std::uint32_t psn = 100; psn < 103; ++psn) send_psn(psn);
  advance(1'000'000);
  BOOST_TEST(receivers[1].psns() == "100 101 102 ");
}

BOOST_FIXTURE_TEST_CASE(without_a_size_the_memory_has_no_end, TwoPorts) {
  frame_switch.link(1).configure(Direction::receive, {.rate_gbps = 1, .queue_packets = 1000});
  for (std::uint32_t psn = 0; psn < 1000; ++psn) send_psn(psn);
  BOOST_TEST(
      frame_switch.link(1).channel(Direction::receive).counters().drops(DropCause::shared_buffer_full) == 0);
  advance(10'000'000);
  BOOST_TEST(receivers[1].arrivals.size() == 1000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
