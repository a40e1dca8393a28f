// Cases that once stopped the engine for ever: the payload of dropped packets stayed in the staging arena,
// because only an action released it.
#include <boost/test/unit_test.hpp>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/fault/fault_plan.hpp"
#include "device_model/fault/plan_file.hpp"
#include "device_model/transport/unreliable/unreliable_datagram.hpp"
#include "tests/unit/engine/program.hpp"
#include "tests/unit/storm/weather.hpp"

namespace urnic::engine::storm {

namespace {

using link::Direction;
using test::TestQp;
using transport::Nanoseconds;

struct Stuck : test::Fabric {
  void delay_both_links(std::int64_t nanoseconds) {
    for (std::uint32_t device = 0; device < 2; ++device) {
      for (const Direction direction : {Direction::transmit, Direction::receive})
        frame_switch.link(device).configure(direction, {.delay = Nanoseconds(nanoseconds)});
    }
  }
  // Moves the clock to the next due event, for at most `longest`, until `queue_pair` has a send completion.
  std::optional<test::Polled> completion(TestQp& queue_pair, Nanoseconds longest) {
    const transport::Time end = engine.now() + longest;
    run();
    while (true) {
      if (auto polled = queue_pair.send_cq.poll()) return polled;
      const auto next = engine.data_path().wake_at();
      if (!next || *next > end) return std::nullopt;
      advance(std::max(*next - engine.now(), Nanoseconds(0)));
    }
  }
  void drain_links() {
    while (const auto next = engine.data_path().wake_at()) advance(*next - engine.now());
  }
  // Brings both to RTS. Returns the number of an address handle for datagrams to `other`.
  std::uint32_t bring_up_datagrams(TestQp& one, TestQp& other) {
    transport::QpParameters parameters;
    parameters.path_mtu = 1024;
    for (TestQp* queue_pair : {&one, &other}) {
      for (const auto state : {transport::QpState::init, transport::QpState::rtr, transport::QpState::rts})
        engine.execute([&] { queue_pair->device_end().modify(state, parameters, std::nullopt); });
    }
    return device0.address_handles()
        .add(std::make_unique<AddressHandle>(program0.pd, path(device0, device1)))
        .value();
  }
  static void send_datagram(TestQp& from, TestQp& to, std::uint32_t handle) {
    abi::SendWqe head = test::wqe(abi::SendOpcode::send, 0);
    head.address_handle = handle;
    head.remote_qpn = to.qpn().value;
    from.post_send(head, {});
  }
  void check_that_data_moves() {
    TestQp from(program0, 100, {});
    TestQp to(program1, 100, {});
    connect(from, to);
    program0.fill(0, 50'000, 3);
    abi::SendWqe head = test::wqe(abi::SendOpcode::rdma_write);
    head.remote_address = program1.address(0);
    head.rkey = program1.key.value;
    const abi::ScatterGather source[] = {program0.sge(0, 50'000)};
    from.post_send(head, source);
    const auto polled = completion(from, Nanoseconds(1'000'000'000));
    BOOST_REQUIRE(polled);
    BOOST_TEST(polled->status == 0);
    BOOST_TEST(program1.holds(0, 50'000, 3));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stuck, Stuck)

// A responder that goes back N drops everything behind the lost packet: 100 writes of 16 packets are more
// than an arena holds.
BOOST_AUTO_TEST_CASE(packets_dropped_behind_a_hole_on_a_link_with_delay) {
  fault::FaultPlan plan(fault::parse_plan(
      "[[fault]]\nrelative_psn = 3\ntransmission = 1\naction = \"drop\"\n", "plan", kDevices));
  TestQp one(program0, 0, {.send_slots = 128});
  TestQp other(program1, 0, {});
  connect(one, other, 4096);
  for (TestQp* queue_pair : {&one, &other})
    queue_pair->device_end().set_recovery({.mode = transport::RecoveryMode::gbn});
  delay_both_links(1'000'000);
  for (std::uint32_t device = 0; device < 2; ++device) frame_switch.link(device).set_faults(&plan);
  abi::SendWqe head = test::wqe(abi::SendOpcode::rdma_write, 0);
  head.remote_address = program1.address(0);
  head.rkey = program1.key.value;
  const abi::ScatterGather source[] = {program0.sge(0, 65536)};
  for (int i = 0; i < 100; ++i) {
    if (i == 99) head.flags = abi::send_signaled;
    one.post_send(head, source);
  }
  const auto polled = completion(one, Nanoseconds(10'000'000'000));
  BOOST_REQUIRE(polled);
  BOOST_TEST(polled->status == 0);
  check_that_data_moves();
}

// Messages without a receive leave nothing behind, nor do their GRHs.
BOOST_AUTO_TEST_CASE(messages_without_receives_on_a_link_with_delay) {
  TestQp one(program0, 0, {.send_slots = 64, .service = transport::QpService::uc});
  TestQp other(program1, 0, {.service = transport::QpService::uc});
  connect(one, other, 4096);
  delay_both_links(5'000'000);
  const abi::ScatterGather source[] = {program0.sge(0, 4096)};
  for (int i = 0; i < 1000; ++i) {
    one.post_send(test::wqe(abi::SendOpcode::send, 0), source);
    if (i % 32 == 31) run();
  }
  drain_links();
  check_that_data_moves();
  BOOST_TEST(device1.port_counters().buffer_overruns == 0u);
}

BOOST_AUTO_TEST_CASE(datagrams_without_receives_on_a_link_with_delay) {
  TestQp one(program0, 0, {.service = transport::QpService::ud});
  TestQp other(program1, 0, {.service = transport::QpService::ud});
  const std::uint32_t handle = bring_up_datagrams(one, other);
  delay_both_links(1'000'000'000);
  // The GRHs of this many datagrams fill more than one arena, and nothing else happens when they arrive.
  constexpr std::uint32_t kDatagrams = StagingArena::kBytes / transport::kGrhBytes + 1;
  static_assert(kDatagrams < link::FramesInFlight::kFrames / 2);
  for (std::uint32_t i = 0; i < kDatagrams; ++i) {
    send_datagram(one, other, handle);
    if (i % 32 == 31) run();
  }
  run();
  drain_links();
  BOOST_TEST(device1.counters().messages_without_receive == kDatagrams);
  BOOST_TEST(device1.port_counters().buffer_overruns == 0u);
  delay_both_links(0);
  check_that_data_moves();
}

BOOST_AUTO_TEST_CASE(a_datagram_without_receive_leaves_nothing_in_the_staging_arena) {
  TestQp one(program0, 0, {.service = transport::QpService::ud});
  TestQp other(program1, 0, {.service = transport::QpService::ud});
  const std::uint32_t handle = bring_up_datagrams(one, other);
  send_datagram(one, other, handle);
  run();
  BOOST_TEST(device1.counters().messages_without_receive == 1u);
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

// A port that is full because its link is slow sends as soon as the link is faster.
BOOST_AUTO_TEST_CASE(a_link_that_is_made_faster_is_used_at_once) {
  frame_switch.link(0).configure(Direction::transmit, {.rate_gbps = 0.001});
  TestQp one(program0, 0, {});
  TestQp other(program1, 0, {});
  connect(one, other, 4096);
  abi::SendWqe head = test::wqe(abi::SendOpcode::rdma_write, 0);
  head.remote_address = program1.address(0);
  head.rkey = program1.key.value;
  const abi::ScatterGather source[] = {program0.sge(0, 500'000)};
  one.post_send(head, source);
  run();
  engine.execute([&] { frame_switch.link(0).configure(Direction::transmit, {}); });
  engine.data_path().ports_changed();
  run();
  check_that_data_moves();
  BOOST_TEST(device1.counters().received_write_requests == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::storm
