// InfiniBand ports through the engine: connections and datagrams by LID, with and without a GRH, groups.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <ostream>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/link/fault_hook.hpp"
#include "device_model/link/subnet_links/timed_subnet.hpp"
#include "tests/unit/engine/infiniband_ports.hpp"
#include "tests/unit/engine/managed.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {
namespace {

// Sees every packet, and drops some.
struct Onlooker final : link::FrameObserver {
  std::uint32_t packets = 0;
  std::uint32_t right = 0;      // of InfiniBand, with a right ICRC
  std::uint32_t in_lane_2 = 0;  // behind the link
  void observe(const link::Observation& observation) override {
    wire::ParsedFrame parsed;
    ++packets;
    in_lane_2 += observation.point == link::CapturePoint::after_link &&
                 wire::infiniband::decode_local_route(observation.frame.headers.data()).virtual_lane == 2;
    right += observation.frame.link_layer == wire::LinkLayer::infiniband &&
             wire::parse(observation.frame, parsed) == wire::ParseError::none && parsed.network.local;
  }
};

// Two ports of a switch on lines of SDR 1x. SL 0 has VL 2.
struct TimedSubnet : Subnet {
  static constexpr std::uint32_t kBytes = 300'000;
  static constexpr transport::Nanoseconds kPerByte{4};

  TimedSubnet() : inside({.buffer_bytes = 8192}, frame_switch.lid_routes(), frame_switch.lid_exit()) {
    frame_switch.set_lid_fabric(inside);
    for (const std::uint32_t number : {1u, 2u, 0u}) {
      link::LidNode node = frame_switch.lid_routes().node(number);
      link::LidOutput output{.megabits_per_second = 2000, .lanes = 4, .head_of_queue_life = 20};
      output.lane_of.assign(3, link::LaneOfServiceLevel{2});
      node.outputs.assign(node.ports.size(), output);
      node.life_time = 20;
      frame_switch.set_lid_node(number, node, engine.now());
    }
    begun = engine.now();
  }
  // Until nothing is under way.
  void pass_time() {
    for (run(); frame_switch.next_due(); run())
      engine.data_path().set_now(std::max(engine.now(), engine.data_path().wake_at().value()));
  }

  link::TimedSubnet inside;
  transport::Time begun{};
};

struct Dropper final : link::FaultHook {
  std::uint32_t seen = 0;
  void judge(const link::PacketAtLink&, transport::Time, link::Verdict& verdict) override {
    if (++seen % 7 != 3) return;
    verdict.touched = verdict.drop = true;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(infiniband_connections, Subnet)

BOOST_AUTO_TEST_CASE(data_goes_by_lid) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  Onlooker onlooker;
  frame_switch.add_observer(onlooker);
  connect(qp0, qp1);
  program0.fill(0, 100'001, 3);
  post_write(qp0, program0, program1, 100'001);
  run();
  BOOST_TEST(qp0.send_cq.poll()->status == 0);
  BOOST_TEST(program1.holds(0, 100'001, 3));
  BOOST_TEST(onlooker.packets > 2 * 98u);
  BOOST_TEST(onlooker.right == onlooker.packets);
  BOOST_TEST(frame_switch.lid_routes().counters(0, 2).transmitted_packets >= 98u);
  frame_switch.remove_observer(onlooker);
}

BOOST_AUTO_TEST_CASE(lost_packets_come_again) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  Dropper dropper;
  for (const std::uint32_t port : {0u, 1u}) frame_switch.link(port).set_faults(&dropper);
  connect(qp0, qp1);
  program0.fill(0, 50'000, 5);
  post_write(qp0, program0, program1, 50'000);
  for (int turn = 0; turn < 100 && !program1.holds(0, 50'000, 5); ++turn)
    advance(transport::Nanoseconds(100'000'000));
  BOOST_TEST(program1.holds(0, 50'000, 5));
  BOOST_TEST(dropper.seen > 49u);
  for (const std::uint32_t port : {0u, 1u}) frame_switch.link(port).set_faults(nullptr);
}

// Inside the subnet packets take time and wait for credits: more data than all buffers hold arrives, in
// order, at the rate of the line, and nothing of it comes twice.
BOOST_FIXTURE_TEST_CASE(data_passes_a_subnet_in_which_it_takes_time, TimedSubnet) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  connect(qp0, qp1);
  program0.fill(0, kBytes, 3);
  post_write(qp0, program0, program1, kBytes);
  pass_time();
  BOOST_TEST(qp0.send_cq.poll()->status == 0);
  BOOST_TEST(program1.holds(0, kBytes, 3));
  const auto took = engine.now() - begun;
  BOOST_TEST((took > kBytes * kPerByte));
  BOOST_TEST((took < kBytes * kPerByte * 5 / 4));
  BOOST_TEST(device0.counters().retransmitted_packets == 0u);
  BOOST_TEST(inside.packets() == 0u);
  BOOST_TEST(frame_switch.count() == 0u);
}

// The receiver's own link is slower than the subnet: its rate counts, and its queue drops nothing.
BOOST_FIXTURE_TEST_CASE(a_slow_receiver_holds_the_sender_back, TimedSubnet) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  frame_switch.link(1).configure(link::Direction::receive, {.rate_gbps = 0.5, .queue_packets = 1});
  connect(qp0, qp1);
  program0.fill(0, kBytes, 5);
  post_write(qp0, program0, program1, kBytes);
  pass_time();
  BOOST_TEST(qp0.send_cq.poll()->status == 0);
  BOOST_TEST(program1.holds(0, kBytes, 5));
  BOOST_TEST((engine.now() - begun > kBytes * 4 * kPerByte));
  BOOST_TEST(device0.counters().retransmitted_packets == 0u);
  BOOST_TEST(frame_switch.lid_routes().counters(0, 2).transmit_wait > 0u);
}

// As on a link that takes none.
BOOST_FIXTURE_TEST_CASE(packets_lost_before_the_subnet_come_again, TimedSubnet) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  Dropper dropper;
  for (const std::uint32_t port : {0u, 1u}) frame_switch.link(port).set_faults(&dropper);
  connect(qp0, qp1);
  program0.fill(0, 50'000, 7);
  post_write(qp0, program0, program1, 50'000);
  for (int turn = 0; turn < 100 && !program1.holds(0, 50'000, 7); ++turn) {
    pass_time();
    advance(transport::Nanoseconds(100'000'000));
  }
  pass_time();
  BOOST_TEST(program1.holds(0, 50'000, 7));
  BOOST_TEST(dropper.seen > 49u);
  BOOST_TEST(inside.packets() == 0u);
  for (const std::uint32_t port : {0u, 1u}) frame_switch.link(port).set_faults(nullptr);
}

// Captures see the lane in which it came.
BOOST_FIXTURE_TEST_CASE(what_arrives_has_the_lane_of_its_last_link, TimedSubnet) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  Onlooker onlooker;
  frame_switch.add_observer(onlooker);
  connect(qp0, qp1);
  program0.fill(0, 5000, 7);
  post_write(qp0, program0, program1, 5000);
  pass_time();
  BOOST_TEST(onlooker.packets >= 12u);
  BOOST_TEST(onlooker.right == onlooker.packets);
  BOOST_TEST(onlooker.in_lane_2 == onlooker.packets / 2);
  frame_switch.remove_observer(onlooker);
}

// A device takes part in its own subnet: packets to its own LID come back without the switch.
BOOST_AUTO_TEST_CASE(two_queue_pairs_of_one_port) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program0, 1, {});
  connect(qp0, qp1);
  program0.fill(0, 3000, 4);
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = program0.address(8192);
  head.rkey = program0.key.value;
  const abi::ScatterGather from[] = {program0.sge(0, 3000)};
  qp0.post_send(head, from);
  run();
  BOOST_TEST(program0.holds(8192, 3000, 4));
  BOOST_TEST(frame_switch.lid_routes().counters(1, 1).transmitted_packets == 0u);
}

// IBTA 9.6.1.2: a connection's packets come from its peer's LID, to its own, and have a GRH if its path has
// one.
BOOST_AUTO_TEST_CASE(packets_of_another_path_are_not_taken) {
  struct Case {
    const char* what;
    bool arrives;
    void (*change)(wire::NetworkHeaders&);
  };
  constexpr Case kCases[] = {
      {"nothing", true, [](wire::NetworkHeaders&) {}},
      {"another service level", true, [](wire::NetworkHeaders& path) { path.local->service_level = 9; }},
      {"another sender", false, [](wire::NetworkHeaders& path) { path.local->source.value ^= 1; }},
      {"a GRH", false, [](wire::NetworkHeaders& path) { path.local->with_grh = true; }},
  };
  std::uint8_t doorbell = 0;
  for (const Case& each : kCases) {
    TestQp qp0(program0, doorbell, {.service = transport::QpService::uc});
    TestQp qp1(program1, doorbell++, {.service = transport::QpService::uc});
    connect(qp0, qp1);
    wire::NetworkHeaders changed = path(device0, device1);
    each.change(changed);
    engine.execute([&] {
      const transport::QpParameters now = qp0.device_end().parameters();
      qp0.device_end().modify(transport::QpState::reset, {}, std::nullopt);
      qp0.device_end().modify(transport::QpState::init, now, std::nullopt);
      qp0.device_end().modify(transport::QpState::rtr, now, changed);
      qp0.device_end().modify(transport::QpState::rts, now, std::nullopt);
    });
    program0.fill(0, 64, doorbell);
    const std::uint64_t before = refused();
    post_write(qp0, program0, program1, 64);
    run();
    BOOST_TEST(program1.holds(0, 64, doorbell) == each.arrives, each.what);
    BOOST_TEST((refused() == before) == each.arrives, each.what);
  }
}

BOOST_AUTO_TEST_CASE(a_port_whose_lid_is_another_now_takes_nothing) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  connect(qp0, qp1);
  engine.execute([&] { device1.set_lids({{0x77}, 0}); });
  post_write(qp0, program0, program1, 64);
  run();
  BOOST_TEST(!qp0.send_cq.poll().has_value());
  BOOST_TEST(refused() == 1u);
}

BOOST_AUTO_TEST_CASE(a_connection_across_partitions_has_no_data) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  connect(qp0, qp1);
  const std::uint16_t pkeys[] = {0x8007};
  engine.execute([&] { device1.set_pkeys(pkeys); });
  program0.fill(0, 64, 7);
  post_write(qp0, program0, program1, 64);
  run();
  BOOST_TEST(!program1.holds(0, 64, 7));
  BOOST_TEST(device1.counters().pkey_violations == 1u);
}

// Its packets come from the new LID, which the peer's path does not know.
BOOST_AUTO_TEST_CASE(a_connection_begins_at_the_ports_new_lid) {
  TestQp qp0(program0, 0, {.service = transport::QpService::uc});
  TestQp qp1(program1, 0, {.service = transport::QpService::uc});
  connect(qp0, qp1);
  const LocalLids before = device0.lids();
  program0.fill(0, 64, 7);
  engine.execute([&] { device0.set_lids({{0x70}, 0}); });
  post_write(qp0, program0, program1, 64);
  run();
  BOOST_TEST(!program1.holds(0, 64, 7));
  BOOST_TEST(refused() == 1u);
  engine.execute([&] { device0.set_lids(before); });
  post_write(qp0, program0, program1, 64);
  run();
  BOOST_TEST(program1.holds(0, 64, 7));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(infiniband_datagrams, Datagrams)

// IBTA 7.11.1: the path bits stay.
BOOST_AUTO_TEST_CASE(an_address_handle_begins_at_the_ports_new_lids) {
  wire::NetworkHeaders to = path(device0, device1);
  to.local->source.value = 0x13;
  AddressHandleTable table(4);
  const std::uint32_t number = table.add(std::make_unique<AddressHandle>(program0.pd, to)).value();
  table.follow_lids({{0x40}, 2});
  BOOST_TEST(table.find(number)->frames.source().value == 0x43u);
  table.follow_lids({{0x50}, 0});
  BOOST_TEST(table.find(number)->frames.source().value == 0x50u);
}

// IBTA 10.9.3: of the same partition, and at least one of the two a full member.
BOOST_AUTO_TEST_CASE(queue_pairs_follow_the_ports_partitions) {
  struct Case {
    std::uint16_t sender;
    std::uint16_t receiver;
    bool arrives;
  };
  constexpr Case kCases[] = {{0xFFFF, 0xFFFF, true}, {0x8007, 0xFFFF, false}, {0x8007, 0x8007, true},
                             {0x0007, 0x8007, true}, {0x8007, 0x0007, true},  {0x0007, 0x0007, false},
                             {0x0000, 0x8007, false}};
  std::uint64_t violations = 0;
  for (const Case& each : kCases) {
    const std::uint16_t senders[] = {each.sender};
    const std::uint16_t receivers[] = {each.receiver};
    engine.execute([&] {
      device0.set_pkeys(senders);
      device1.set_pkeys(receivers);
    });
    post_receive(qp1, program1);
    send(path(device0, device1), qp1.qpn(), 8);
    BOOST_TEST(qp1.receive_cq.poll().has_value() == each.arrives, each.sender << " to " << each.receiver);
    violations += each.arrives ? 0 : 1;
    BOOST_TEST(device1.counters().pkey_violations == violations);
  }
}

BOOST_AUTO_TEST_CASE(the_last_violation_is_known) {
  const std::uint16_t pkeys[] = {0x8007};
  engine.execute([&] { device0.set_pkeys(pkeys); });
  send(path_with_grh(device0, device1), qp1.qpn(), 8);
  KeyViolation violation = device1.last_violation();
  BOOST_TEST(!violation.is_qkey);
  BOOST_TEST(violation.key == 0x8007u);
  BOOST_TEST(violation.source.value == lid_of(device0).value);
  BOOST_TEST(violation.destination.value == lid_of(device1).value);
  BOOST_TEST(violation.service_level == kServiceLevel);
  BOOST_TEST(violation.source_qpn.value == qp0.qpn().value);
  BOOST_TEST(violation.destination_qpn.value == qp1.qpn().value);
  BOOST_TEST((violation.source_gid == device0.config().gids[0].gid));
  engine.execute([&] {
    device1.set_pkeys(pkeys);
    transport::QpParameters other = qp1.device_end().parameters();
    other.qkey = kQkey + 1;
    qp1.device_end().modify(transport::QpState::rts, other, std::nullopt);
  });
  send(path(device0, device1), qp1.qpn(), 8);
  violation = device1.last_violation();
  BOOST_TEST(violation.is_qkey);
  BOOST_TEST(violation.key == kQkey);
  BOOST_TEST((violation.source_gid == wire::Gid{}));
}

BOOST_AUTO_TEST_CASE(without_a_grh_the_place_for_it_is_empty) {
  program0.fill(0, 100, 3);
  post_receive(qp1, program1);
  send(path(device0, device1), qp1.qpn(), 100);
  const auto received = qp1.receive_cq.poll();
  BOOST_REQUIRE(received.has_value());
  BOOST_TEST(received->byte_length == kGrh + 100);
  BOOST_TEST((received->flags & abi::cqe_grh) == 0);
  BOOST_TEST(abi::source_lid_of(received->error_or_route) == lid_of(device0).value);
  BOOST_TEST(program1.holds(kReceived + kGrh, 100, 3));
  for (std::size_t i = 0; i < kGrh; ++i) BOOST_CHECK(program1.bytes[kReceived + i] == std::byte{0});
}

BOOST_AUTO_TEST_CASE(a_grh_lies_in_front_of_the_data) {
  program0.fill(0, 100, 3);
  post_receive(qp1, program1);
  send(path_with_grh(device0, device1), qp1.qpn(), 100);
  const auto received = qp1.receive_cq.poll();
  BOOST_REQUIRE(received.has_value());
  BOOST_TEST(received->byte_length == kGrh + 100);
  BOOST_TEST((received->flags & abi::cqe_grh) != 0);
  BOOST_TEST(abi::service_level_of(received->error_or_route) == kServiceLevel);
  BOOST_TEST(program1.holds(kReceived + kGrh, 100, 3));
  const std::byte* const grh = &program1.bytes[kReceived];
  BOOST_CHECK(grh[0] == std::byte{0x60} && grh[6] == std::byte{0x1B});
  BOOST_CHECK(std::memcmp(grh + 8, device0.config().gids[0].gid.bytes.data(), 16) == 0);
  BOOST_CHECK(std::memcmp(grh + 24, device1.config().gids[0].gid.bytes.data(), 16) == 0);
}

BOOST_AUTO_TEST_CASE(a_completion_says_to_which_lid_it_was_sent) {
  engine.execute([&] {
    device1.set_lids({lid_of(device1), 2});
    link::LidNode adapter{
        .device = 1, .lid = lid_of(device1), .lmc = 2, .ports = std::vector<link::LidPort>(2)};
    adapter.ports[1] = {0, 2, true};
    link::LidNode hub{.ports = {{}, {1, 1, true}, {2, 1, true}},
                      .linear = std::vector<std::uint8_t>(0x40, 2)};
    frame_switch.lid_routes().set_node(2, adapter);
    frame_switch.lid_routes().set_node(0, hub);
  });
  for (const unsigned bits : {0u, 1u, 3u}) {
    wire::NetworkHeaders to = path(device0, device1);
    to.local->destination.value = static_cast<std::uint16_t>(lid_of(device1).value + bits);
    post_receive(qp1, program1);
    send(to, qp1.qpn(), 8);
    const auto received = qp1.receive_cq.poll();
    BOOST_REQUIRE(received.has_value());
    BOOST_TEST(abi::path_bits_of(received->error_or_route) == bits);
  }
}

BOOST_AUTO_TEST_CASE(a_gid_of_another_port_is_refused) {
  post_receive(qp1, program1);
  wire::NetworkHeaders to = path_with_grh(device0, device1);
  to.destination.bytes[15] = 0x40;
  send(to, qp1.qpn(), 8);
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  BOOST_TEST(refused() == 1u);
}

BOOST_AUTO_TEST_CASE(nobody_takes_datagrams_to_queue_pair_1) {
  send(path(device0, device1), wire::Qpn{1}, 256);
  BOOST_TEST(device1.port_counters().unknown_qp == 1u);
}

BOOST_AUTO_TEST_CASE(a_group_is_reached_by_its_lid_and_known_by_its_gid) {
  post_receive(qp1, program1);
  send(to_group(), kGroupQpn, 8);
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  engine.execute([&] {
    device0.multicast_groups().attach(group_gid(), qp0.device_end());
    device1.multicast_groups().attach(group_gid(), qp1.device_end());
  });
  post_receive(qp0, program0);
  program0.fill(0, 8, 6);
  send(to_group(), kGroupQpn, 8);
  BOOST_TEST(qp0.receive_cq.poll().has_value());  // its own, too (IBTA 10.5.2)
  const auto received = qp1.receive_cq.poll();
  BOOST_REQUIRE(received.has_value());
  BOOST_TEST((received->flags & abi::cqe_grh) != 0);
  BOOST_TEST(program1.holds(kReceived + kGrh, 8, 6));
  BOOST_TEST(device1.port_counters().received_multicast == 2u);
}

BOOST_AUTO_TEST_CASE(a_group_whose_lid_is_a_ports_is_refused) {
  engine.execute([&] { device1.multicast_groups().attach(group_gid(), qp1.device_end()); });
  post_receive(qp1, program1);
  wire::NetworkHeaders to = to_group();
  to.local->destination = lid_of(device1);
  send(to, kGroupQpn, 8);
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  BOOST_TEST(refused() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

struct ManagedByLid : Managed {
  ManagedByLid() : Managed(wire::LinkLayer::infiniband) {}
  void run_all() {
    do {
      if (traffic.has_to_send(engine.now())) traffic.send();
      run();
    } while (traffic.has_to_send(engine.now()));
  }
};

BOOST_FIXTURE_TEST_SUITE(infiniband_management, ManagedByLid)

BOOST_AUTO_TEST_CASE(a_mad_comes_with_the_lid_and_the_service_level_of_its_packet) {
  wire::NetworkHeaders network = path(device0, device1);
  network.local->service_level = kServiceLevel;
  BOOST_REQUIRE(qp0.post(network, kGeneralServicesQpn, wire::Pkey{}, mad_of(3)));
  run_all();
  const ArrivedDatagram* const arrived = traffic.next_arrival();
  BOOST_REQUIRE(arrived);
  BOOST_TEST(arrived->queue_pair == &qp1);
  BOOST_TEST((arrived->mad == mad_of(3)));
  BOOST_TEST(arrived->peer_lid == lid_of(device0).value);
  BOOST_TEST(arrived->service_level == kServiceLevel);
  BOOST_TEST(arrived->peer_qpn == 1u);
  BOOST_TEST((arrived->peer == wire::Gid{}.bytes));
}

BOOST_AUTO_TEST_CASE(a_mad_to_the_port_itself_does_not_leave_it) {
  BOOST_REQUIRE(qp0.post(path(device0, device0), kGeneralServicesQpn, wire::Pkey{}, mad_of(1)));
  run_all();
  BOOST_REQUIRE(traffic.next_arrival());
  BOOST_TEST(traffic.next_arrival()->queue_pair == &qp0);
  BOOST_TEST(frame_switch.lid_routes().counters(1, 1).transmitted_packets == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
