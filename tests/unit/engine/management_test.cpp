// Queue pair 1 of a device: management datagrams between the wire and the control thread, which the test
// plays.
#include "tests/unit/engine/managed.hpp"

namespace urnic::engine::test {

namespace {

using transport::Nanoseconds;

struct ManagedByHand : Managed {
  // As the engine's loop.
  void run_all() {
    do {
      if (traffic.has_to_send(engine.now())) traffic.send();
      run();
    } while (traffic.has_to_send(engine.now()));
  }
  // A frame to the second device's queue pair 1, by hand.
  void inject(const wire::TransportHeaders& headers, std::size_t bytes) {
    const std::vector<std::byte> payload(bytes, std::byte{1});
    wire::FrameStorage storage;
    const wire::Frame frame = wire::encode(path(device0, device1), headers, payload, storage);
    device0.resources().port.transmit(frame, {.device = device0.config().mac}, engine.now());
    run();
  }
  static wire::TransportHeaders right_headers() {
    wire::TransportHeaders headers;
    headers.bth.opcode = wire::Opcode(wire::Service::ud, wire::Operation::send_only);
    headers.bth.destination = kGeneralServicesQpn;
    headers.deth = {.qkey = kManagementQkey, .source = wire::Qpn{77}};
    return headers;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(management, ManagedByHand)

BOOST_AUTO_TEST_CASE(a_mad_goes_out_of_one_device_and_into_the_other) {
  post(3);
  BOOST_TEST(traffic.has_to_send(engine.now()));
  run_all();
  BOOST_TEST(readable(traffic.arrival_descriptor()));
  traffic.expect_arrivals();
  BOOST_TEST(!readable(traffic.arrival_descriptor()));
  const ArrivedDatagram* const arrived = traffic.next_arrival();
  BOOST_REQUIRE(arrived);
  BOOST_TEST(arrived->queue_pair == &qp1);
  BOOST_TEST((arrived->mad == mad_of(3)));
  const wire::NetworkHeaders there = path(device0, device1);
  BOOST_TEST((arrived->own == there.destination.bytes));
  BOOST_TEST((arrived->peer == there.source.bytes));
  BOOST_TEST((arrived->peer_mac == there.source_mac.bytes));
  BOOST_TEST(arrived->peer_qpn == 1u);
  BOOST_TEST(arrived->hop_limit == 64);
  traffic.taken();
  BOOST_TEST(!traffic.next_arrival());
  BOOST_TEST(qp0.counters().sent == 1u);
  BOOST_TEST(qp1.counters().received == 1u);
  BOOST_TEST(device0.port_counters().transmitted_packets == 1u);
  BOOST_TEST(device1.port_counters().received_packets == 1u);
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

// To itself, and to a program's QP, which needs the Q_Key.
BOOST_AUTO_TEST_CASE(a_mad_may_go_anywhere) {
  BOOST_REQUIRE(qp0.post(path(device0, device0), kGeneralServicesQpn, wire::Pkey{}, mad_of(1)));
  run_all();
  BOOST_REQUIRE(traffic.next_arrival());
  BOOST_TEST(traffic.next_arrival()->queue_pair == &qp0);

  TestQp qp(program1, 0, {.service = transport::QpService::ud});
  transport::QpParameters parameters;
  parameters.path_mtu = 1024;
  parameters.qkey = kManagementQkey;
  for (const auto state : {transport::QpState::init, transport::QpState::rtr, transport::QpState::rts}) {
    engine.execute([&] { qp.device_end().modify(state, parameters, std::nullopt); });
  }
  const abi::ScatterGather to[] = {program1.sge(4096, 1024)};
  qp.post_receive(to);
  BOOST_REQUIRE(qp0.post(path(device0, device1), qp.qpn(), wire::Pkey{}, mad_of(5)));
  run_all();
  const auto received = qp.receive_cq.poll();
  BOOST_REQUIRE(received);
  BOOST_TEST(received->source_qpn == 1u);
  BOOST_TEST(received->byte_length == 40 + kMadBytes);
}

BOOST_AUTO_TEST_CASE(sequence_numbers_count_up_over_all_peers) {
  struct Tap final : ManagementReceiver {
    void receive(const transport::InboundPacket& packet, const wire::NetworkHeaders&) override {
      numbers.push_back(packet.headers.bth.psn.value());
      qkey = packet.headers.deth.qkey;
    }
    std::vector<std::uint32_t> numbers;
    std::uint32_t qkey = 0;
  } tap;
  device0.set_management_receiver(kGeneralServicesQpn, &tap);
  device1.set_management_receiver(kGeneralServicesQpn, &tap);
  post(1);
  BOOST_REQUIRE(qp0.post(path(device0, device0), kGeneralServicesQpn, wire::Pkey{}, mad_of(1)));
  post(2);
  run_all();
  BOOST_TEST(tap.numbers == (std::vector<std::uint32_t>{0, 1, 2}), boost::test_tools::per_element());
  BOOST_TEST(tap.qkey == 0x80010000u);
}

BOOST_AUTO_TEST_CASE(what_is_no_mad_is_dropped_and_counted) {
  inject(right_headers(), kMadBytes);
  BOOST_TEST(qp1.counters().received == 1u);

  auto headers = right_headers();
  headers.deth.qkey = 0x11111111;
  inject(headers, kMadBytes);
  BOOST_TEST(device1.counters().qkey_violations == 1u);

  headers = right_headers();
  headers.bth.pkey = wire::Pkey{0x8001};
  inject(headers, kMadBytes);
  BOOST_TEST(device1.counters().pkey_violations == 1u);
  BOOST_TEST(qp1.counters().malformed == 0u);

  for (const std::size_t bytes : {0, 24, 255, 257, 1024}) inject(right_headers(), bytes);
  BOOST_TEST(qp1.counters().malformed == 5u);

  headers = right_headers();
  headers.bth.opcode = wire::Opcode(wire::Service::ud, wire::Operation::send_only_immediate);
  inject(headers, kMadBytes);
  BOOST_TEST(qp1.counters().malformed == 6u);

  headers = right_headers();
  headers.bth.pkey = wire::Pkey{0x7FFF};  // a limited member of the same partition
  inject(headers, kMadBytes);
  BOOST_TEST(qp1.counters().received == 2u);
  BOOST_TEST(take_all() == 2u);
}

// Any of the port's keys will do; the answer has the one that did.
BOOST_AUTO_TEST_CASE(a_mad_of_any_of_the_ports_partitions_arrives) {
  const std::uint16_t pkeys[] = {0x7FFF, 0, 0x8001};
  device1.set_pkeys(pkeys);
  auto headers = right_headers();
  for (const wire::Pkey pkey : std::initializer_list<wire::Pkey>{{0x8001}, {0x0001}, {0xFFFF}}) {
    headers.bth.pkey = pkey;
    inject(headers, kMadBytes);
  }
  BOOST_TEST(qp1.counters().received == 3u);
  traffic.expect_arrivals();
  for (const unsigned index : {2u, 2u, 0u}) {
    BOOST_REQUIRE(traffic.next_arrival());
    BOOST_TEST(unsigned{traffic.next_arrival()->pkey_index} == index);
    traffic.taken();
  }
  // Two limited members, another partition, and none.
  for (const wire::Pkey pkey : std::initializer_list<wire::Pkey>{{0x7FFF}, {0x8002}, {0x8000}}) {
    headers.bth.pkey = pkey;
    inject(headers, kMadBytes);
  }
  BOOST_TEST(qp1.counters().received == 3u);
  BOOST_TEST(device1.counters().pkey_violations == 3u);
}

// One device's share is half of what may wait; the other half is for the others.
BOOST_AUTO_TEST_CASE(a_flood_is_dropped_and_leaves_room_for_other_devices) {
  constexpr std::uint32_t kFlood = 3000;
  for (std::uint32_t i = 0; i < kFlood; ++i) inject(right_headers(), kMadBytes);
  BOOST_TEST(qp1.counters().received == ManagementTraffic::kArrivedOfDevice);
  BOOST_TEST(qp1.counters().no_room == kFlood - ManagementTraffic::kArrivedOfDevice);
  BOOST_REQUIRE(qp0.post(path(device0, device0), kGeneralServicesQpn, wire::Pkey{}, mad_of(1)));
  run_all();
  BOOST_TEST(qp0.counters().received == 1u);
  BOOST_TEST(take_all() == ManagementTraffic::kArrivedOfDevice + 1);
  inject(right_headers(), kMadBytes);
  BOOST_TEST(take_all() == 1u);
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

BOOST_AUTO_TEST_CASE(what_is_posted_is_bounded_too) {
  std::uint32_t posted = 0;
  while (posted < 10'000 && qp0.post(path(device0, device1), kGeneralServicesQpn, wire::Pkey{}, mad_of(1)))
    ++posted;
  BOOST_TEST(posted == 256u);
  run_all();
  BOOST_TEST(qp1.counters().received == posted);
  post(1);
}

// MADs wait for a line as other packets do, and none is lost for that.
BOOST_AUTO_TEST_CASE(a_slow_line_makes_mads_wait) {
  frame_switch.link(0).configure(link::Direction::transmit, {.rate_gbps = 0.001, .queue_packets = 2});
  for (std::uint8_t i = 0; i < 10; ++i) post(i);
  run_all();
  BOOST_TEST(qp0.counters().sent < 4u);
  for (int i = 0; i < 100 && qp0.counters().sent < 10; ++i) {
    BOOST_REQUIRE(traffic.room_at());
    advance(std::max(*traffic.room_at() - engine.now(), Nanoseconds(0)));
    run_all();
  }
  BOOST_TEST(qp0.counters().sent == 10u);
  BOOST_TEST(!traffic.room_at());
  advance(Nanoseconds(100'000'000));
  BOOST_TEST(qp1.counters().received == 10u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
