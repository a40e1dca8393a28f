// Transfers over links with character: frames arrive in their own time, and a device waits for its line.
#include <boost/test/unit_test.hpp>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace {

using link::Direction;
using transport::Nanoseconds;

struct Linked : Fabric {
  TestQp qp0{program0, 3, {}};
  TestQp qp1{program1, 70, {}};

  link::LinkChannel& channel(std::uint32_t device, Direction direction) {
    return frame_switch.link(device).channel(direction);
  }
  void write(std::uint32_t length) { post_write(qp0, program0, program1, length); }
  // Moves the clock from one thing that is due to the next until the send queue has an entry; how long that
  // took.
  Nanoseconds until_complete() {
    const transport::Time start = engine.now();
    run();
    for (int i = 0; i < 100'000; ++i) {
      if (const auto entry = qp0.send_cq.poll()) {
        BOOST_TEST(entry->status == 0);
        return engine.now() - start;
      }
      const auto next = engine.data_path().wake_at();
      BOOST_REQUIRE(next);
      advance(std::max(*next - engine.now(), Nanoseconds(0)));
    }
    BOOST_FAIL("it never completes");
    return {};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(linked, Linked)

BOOST_AUTO_TEST_CASE(a_write_takes_a_round_trip_over_delayed_links) {
  connect(qp0, qp1);
  frame_switch.link(0).configure(Direction::transmit, {.delay = Nanoseconds(5000)});
  frame_switch.link(0).configure(Direction::receive, {.delay = Nanoseconds(3000)});
  program0.fill(0, 10'000, 5);
  write(10'000);
  BOOST_TEST(until_complete().count() == 8000);
  BOOST_TEST(program1.holds(0, 10'000, 5));
}

// Until its time comes there is nothing else that would wake the engine.
BOOST_AUTO_TEST_CASE(contexts_are_told_when_the_port_goes_down_and_when_it_is_up_again) {
  TestPipe listener{16};
  device0.events().add(listener.device_end());
  frame_switch.link(0).cut(engine.now() + Nanoseconds(5000));
  frame_switch.link(0).cut(engine.now() + Nanoseconds(6000));
  const auto down = listener.read();
  BOOST_REQUIRE(down);
  BOOST_TEST(down->element == 1u);  // the port
  BOOST_TEST(down->type == 10u);    // IBV_EVENT_PORT_ERR
  BOOST_TEST(!listener.read());
  BOOST_TEST(device0.port_counters().link_downed == 1u);
  const auto next = engine.data_path().wake_at();
  BOOST_REQUIRE(next);
  BOOST_TEST((*next - engine.now()).count() == 6000);
  advance(*next - engine.now());
  const auto up = listener.read();
  BOOST_REQUIRE(up);
  BOOST_TEST(up->type == 9u);  // IBV_EVENT_PORT_ACTIVE
  BOOST_TEST(!engine.data_path().wake_at());
  device0.events().remove(listener.device_end());
  frame_switch.link(0).cut(transport::Time::max());
  BOOST_TEST(!listener.read());
}

BOOST_AUTO_TEST_CASE(a_moderated_event_comes_by_itself) {
  connect(qp0, qp1);
  TestPipe channel{8};
  TestCq cq{8, &channel.device_end(), nullptr, 5};
  cq.device_end->moderate({100, Nanoseconds(4000)});
  cq.arm(abi::ArmKind::next);
  engine.data_path().notifications().complete(*cq.device_end, {});
  run();
  BOOST_TEST(!channel.read());
  const auto next = engine.data_path().wake_at();
  BOOST_REQUIRE(next);
  BOOST_TEST((*next - engine.now()).count() == 4000);
  advance(Nanoseconds(4000));
  BOOST_TEST(channel.read().has_value());
}

// A byte takes 1,000 ns at 8,000 kbit/s.
BOOST_AUTO_TEST_CASE(a_queue_pair_with_a_rate_sends_no_faster) {
  connect(qp0, qp1);
  program0.fill(0, 4096, 9);
  write(4096);
  const Nanoseconds alone = until_complete();
  qp0.device_end().limit_rate(8'000, 0);
  write(4096);
  const Nanoseconds paced = until_complete();
  // All but the last packet's time is waited for, in four packets of 1,024 bytes.
  BOOST_TEST((paced - alone).count() >= 3 * 1'024'000);
  BOOST_TEST((paced - alone).count() <= 3 * 1'200'000);
  qp0.device_end().limit_rate(0, 0);
  advance(Nanoseconds(10'000'000));
  write(4096);
  BOOST_TEST(until_complete() == alone);
}

// The path's static rate, and what the program allows: the slower one counts (IBTA 9.11).
BOOST_AUTO_TEST_CASE(a_path_with_a_rate_is_used_no_faster) {
  connect(qp0, qp1);
  write(4096);
  const Nanoseconds alone = until_complete();
  for (const std::uint32_t of_program : {0u, 80'000u}) {
    qp0.device_end().limit_rate(of_program, 0);
    qp0.device_end().limit_path(8'000);
    write(4096);
    const Nanoseconds paced = until_complete();
    BOOST_TEST((paced - alone).count() >= 3 * 1'024'000);
    BOOST_TEST((paced - alone).count() <= 3 * 1'200'000);
    advance(Nanoseconds(10'000'000));
  }
  qp0.device_end().limit_path(80'000);
  qp0.device_end().limit_rate(8'000, 0);
  write(4096);
  BOOST_TEST((until_complete() - alone).count() >= 3 * 1'024'000);
  qp0.device_end().limit_rate(0, 0);
  qp0.device_end().limit_path(0);
  advance(Nanoseconds(10'000'000));
  write(4096);
  BOOST_TEST(until_complete() == alone);
}

BOOST_AUTO_TEST_CASE(acknowledgements_do_not_wait_for_the_rate_of_requests) {
  connect(qp0, qp1);
  write(1024);
  const Nanoseconds alone = until_complete();
  qp1.device_end().limit_rate(8'000, 0);
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = program0.address(0);
  head.rkey = program0.key.value;
  const abi::ScatterGather from[] = {program1.sge(0, 4096)};
  qp1.post_send(head, from);
  run();
  write(1024);
  BOOST_TEST(until_complete() == alone);
  BOOST_TEST(!qp1.send_cq.poll());
}

// 8 Gbit/s are a byte a nanosecond. What the program posts is far more than the queue holds.
BOOST_AUTO_TEST_CASE(a_device_waits_for_its_own_line) {
  connect(qp0, qp1, 4096);
  frame_switch.link(0).configure(Direction::transmit, {.rate_gbps = 8, .queue_packets = 16});
  program0.fill(0, 400'000, 6);
  write(400'000);
  const Nanoseconds taken = until_complete();
  BOOST_TEST(program1.holds(0, 400'000, 6));
  BOOST_TEST(channel(0, Direction::transmit).counters().drops(link::DropCause::queue_full) == 0);
  BOOST_TEST(device0.counters().retransmitted_packets == 0);
  BOOST_TEST(taken.count() > 400'000);
  BOOST_TEST(taken.count() < 440'000);  // headers, and nothing else, on a line that never stands idle
}

// Two devices share nothing but the engine: one whose line is slow does not hold up the other.
BOOST_AUTO_TEST_CASE(a_slow_line_holds_up_its_own_device_only) {
  TestQp back(program1, 5, {});
  TestQp forth(program0, 6, {});
  connect(qp0, qp1, 4096);
  connect(back, forth, 4096);
  frame_switch.link(0).configure(Direction::transmit, {.rate_gbps = 0.1});
  write(100'000);
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = program0.address(500'000);
  head.rkey = program0.key.value;
  const abi::ScatterGather from[] = {program1.sge(500'000, 100'000)};
  back.post_send(head, from);
  run();
  BOOST_TEST(!qp0.send_cq.poll());
  // The data are there; the acknowledgement waits for the slow line.
  BOOST_TEST(device0.counters().received_write_requests == 1);
}

BOOST_AUTO_TEST_CASE(incast_overflows_the_receivers_queue_and_is_repaired) {
  connect(qp0, qp1, 1024);
  frame_switch.link(1).configure(Direction::receive, {.rate_gbps = 8, .queue_packets = 8});
  program0.fill(0, 100'000, 7);
  write(100'000);
  until_complete();
  BOOST_TEST(program1.holds(0, 100'000, 7));
  BOOST_TEST(channel(1, Direction::receive).counters().drops(link::DropCause::queue_full) > 0);
  BOOST_TEST(device0.counters().retransmitted_packets > 0);
}

// The same queue overflows without pauses. The line that is paused has 20 us of packets under way.
BOOST_AUTO_TEST_CASE(pauses_keep_a_receivers_queue_from_overflowing) {
  connect(qp0, qp1, 1024);
  program0.fill(0, 400'000, 8);
  std::uint64_t dropped[2];
  for (const bool pfc : {false, true}) {
    const link::LinkSettings settings{
        .rate_gbps = 8, .queue_packets = 60, .pfc = pfc, .pfc_xoff_bytes = 20'000, .pfc_xon_bytes = 10'000};
    frame_switch.link(0).configure(Direction::transmit, settings);
    link::LinkSettings slow = settings;
    slow.rate_gbps = 4;
    frame_switch.link(1).configure(Direction::receive, slow);
    const std::uint64_t sent_again = device0.counters().retransmitted_packets;
    const std::uint64_t before = channel(1, Direction::receive).counters().drops(link::DropCause::queue_full);
    write(400'000);
    const Nanoseconds taken = until_complete();
    dropped[pfc] = channel(1, Direction::receive).counters().drops(link::DropCause::queue_full) - before;
    if (!pfc) continue;
    BOOST_TEST(device0.counters().retransmitted_packets == sent_again);
    BOOST_TEST(taken.count() > 800'000);
    BOOST_TEST(taken.count() < 900'000);  // the slow line is never idle
    BOOST_TEST(channel(0, Direction::receive).counters().pauses > 0);
    BOOST_TEST(channel(1, Direction::receive).counters().pauses_caused > 0);
  }
  BOOST_TEST(program1.holds(0, 400'000, 8));
  BOOST_TEST(dropped[0] > 0);
  BOOST_TEST(dropped[1] == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
