// A program that guesses a QPN and a PSN injects nothing into a connection of others.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/transport/unreliable/raw_packet.hpp"
#include "tests/unit/engine/program.hpp"
#include "tests/unit/engine/raw_frames.hpp"
#include "tests/unit/engine/test_srq.hpp"
#include "tests/unit/engine/two_engines.hpp"
#include "wire/congestion_notification.hpp"
#include "wire/frame.hpp"

namespace urnic::engine::test {
namespace {

using transport::QpService;
using transport::QpState;
using wire::Operation;

constexpr std::size_t kForged = 64 * 1024;  // where forged frames lie in the stranger's memory

void to_rts(Engine& engine, TestQp& qp) {
  transport::QpParameters parameters;
  parameters.path_mtu = 4096 + transport::kRawFrameHeader;
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts})
    engine.execute([&] { qp.device_end().modify(state, parameters, std::nullopt); });
}

// The headers of a WRITE of 64 bytes to the start of `target`'s memory, with the PSN that its QP expects.
wire::TransportHeaders write_to(const Program& target, wire::Qpn to, wire::Service service) {
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(service, Operation::write_only);
  headers.bth.destination = to;
  headers.bth.psn = wire::Psn(0xFFFFF0);
  headers.reth = {target.address(0), wire::Rkey{target.key.value}, 64};
  return headers;
}

FrameBytes forge(const wire::NetworkHeaders& network, const wire::TransportHeaders& headers,
                 std::size_t length) {
  const FrameBytes payload(length, std::byte{0x5A});
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, payload, storage);
  FrameBytes bytes;
  for (const auto piece : {frame.headers, frame.payload, frame.trailer})
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

void post(TestQp& raw, Program& stranger, const FrameBytes& frame) {
  std::memcpy(stranger.bytes.data() + kForged, frame.data(), frame.size());
  const abi::ScatterGather from[] = {stranger.sge(kForged, static_cast<std::uint32_t>(frame.size()))};
  raw.post_send(wqe(abi::SendOpcode::send), from);
}

bool was_written(const Program& program) { return program.bytes[0] == std::byte{0x5A}; }

abi::SendWqe write_wqe(const Program& target, std::size_t offset) {
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = target.address(offset);
  head.rkey = target.key.value;
  return head;
}

QpLayout raw_packets() { return {.send_slot_size = 1024, .service = QpService::raw_packet}; }

// Raw packet QPs of strangers on both devices.
struct Injection : Fabric {
  TestQp raw0{program0, 10, raw_packets()};
  TestQp raw1{program1, 10, raw_packets()};

  Injection() {
    to_rts(engine, raw0);
    to_rts(engine, raw1);
  }
  void check_write(TestQp& from, std::uint8_t seed, std::uint32_t srq = 0) {
    program0.fill(0, 3000, seed);
    const abi::ScatterGather sges[] = {program0.sge(0, 3000)};
    abi::SendWqe head = write_wqe(program1, 8192);
    head.remote_srq = srq;
    from.post_send(head, sges);
    run();
    const auto entry = from.send_cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == 0);
    BOOST_TEST(program1.holds(8192, 3000, seed));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(injection, Injection)

BOOST_AUTO_TEST_CASE(a_forged_request_of_a_raw_packet_qp_is_refused) {
  for (const QpService service : {QpService::rc, QpService::uc}) {
    TestQp qp0(program0, 0, {.service = service});
    TestQp qp1(program1, 0, {.service = service});
    connect(qp0, qp1);
    const auto packets = service == QpService::rc ? wire::Service::rc : wire::Service::uc;
    const std::uint64_t before = device1.port_counters().wrong_origin;
    // From the peer's device, and from the victim's own.
    for (auto* const from : {&raw0, &raw1}) {
      Program& stranger = from == &raw0 ? program0 : program1;
      post(*from, stranger, forge(path(device0, device1), write_to(program1, qp1.qpn(), packets), 64));
      run();
    }
    BOOST_TEST(!was_written(program1));
    BOOST_TEST(device1.port_counters().wrong_origin - before == 2u);
    check_write(qp0, 3);
  }
}

// A program slows nobody down: neither the peer of a connection nor the victim's own device has sent it.
BOOST_AUTO_TEST_CASE(a_forged_congestion_notification_is_refused) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  connect(qp0, qp1);
  engine.execute(
      [&] { qp1.device_end().set_congestion({.algorithm = transport::CongestionAlgorithm::dcqcn}); });
  for (auto* const from : {&raw0, &raw1}) {
    Program& stranger = from == &raw0 ? program0 : program1;
    post(*from, stranger,
         forge(path(device0, device1), wire::congestion_notification(wire::Pkey{0xFFFF}, qp1.qpn()),
               wire::kNotificationPayload.size()));
    run();
  }
  BOOST_TEST(device1.port_counters().wrong_origin == 2u);
  BOOST_TEST(device1.counters().notifications_handled == 0u);
}

BOOST_AUTO_TEST_CASE(a_forged_request_to_an_xrc_target_is_refused) {
  XrcDomain domain{device1.shared_receive_queues()};
  TestQp initiator{program0, 0, {.receive_slots = 0, .service = QpService::xrc_initiator}};
  TestQp target{
      program1,
      0,
      {.send_slots = 0, .receive_slots = 0, .service = QpService::xrc_target, .xrc_domain = &domain}};
  TestCq cq(64, nullptr, &program1.async_events.device_end(), 9000);
  const TestSrq srq(program1, 8, program1.pd, &domain, cq.device_end.get());
  connect(initiator, target);
  wire::TransportHeaders headers = write_to(program1, target.qpn(), wire::Service::xrc);
  headers.xrceth.srq_number = srq.device_end->number();
  post(raw0, program0, forge(path(device0, device1), headers, 64));
  run();
  BOOST_TEST(!was_written(program1));
  BOOST_TEST(device1.port_counters().wrong_origin == 1u);
  check_write(initiator, 4, srq.device_end->number());
}

// The responses of a READ, and acknowledgements.
BOOST_AUTO_TEST_CASE(a_forged_response_is_refused) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  connect(qp0, qp1);
  frame_switch.link(0).configure(link::Direction::transmit, {.loss = 1});
  const abi::ScatterGather into[] = {program0.sge(0, 64)};
  abi::SendWqe read = write_wqe(program1, 0);
  read.opcode = static_cast<std::uint8_t>(abi::SendOpcode::rdma_read);
  qp0.post_send(read, into);
  run();
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, Operation::read_response_only);
  headers.bth.destination = qp0.qpn();
  headers.bth.psn = wire::Psn(0xFFFFF0);
  headers.aeth.syndrome = 31;  // an acknowledgement without a limit of credits
  post(raw1, program1, forge(path(device1, device0), headers, 64));
  run();
  BOOST_TEST(!was_written(program0));
  BOOST_TEST(!qp0.send_cq.poll().has_value());
  BOOST_TEST(device0.port_counters().wrong_origin == 1u);
}

// No headers are forged here: a QP may be connected to one that is connected to another.
BOOST_AUTO_TEST_CASE(a_qp_that_is_connected_to_one_of_others_is_refused) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  connect(qp0, qp1);
  TestQp third(program0, 1, {});
  third.connect_to(qp1, 1024);
  program0.bytes[0] = std::byte{0x5A};
  const abi::ScatterGather from[] = {program0.sge(0, 1)};
  third.post_send(write_wqe(program1, 0), from);
  run();
  BOOST_TEST(!was_written(program1));
  BOOST_TEST(!third.send_cq.poll().has_value());
  BOOST_TEST(device1.port_counters().wrong_origin == 1u);
  check_write(qp0, 5);
}

// Copies that links keep or make come from where the packet came from.
BOOST_AUTO_TEST_CASE(delayed_and_duplicated_packets_keep_their_origin) {
  TestQp qp0(program0, 0, {});
  TestQp qp1(program1, 0, {});
  connect(qp0, qp1);
  for (const std::uint32_t device : {0u, 1u}) {
    frame_switch.link(device).configure(link::Direction::transmit,
                                        {.delay = transport::Nanoseconds(1000), .duplicate = 1});
  }
  const abi::ScatterGather sges[] = {program0.sge(0, 3000)};
  qp0.post_send(write_wqe(program1, 8192), sges);
  run();
  for (int i = 0; i < 4; ++i) advance(transport::Nanoseconds(1000));
  BOOST_TEST(qp0.send_cq.poll().has_value());
  BOOST_TEST(device0.port_counters().wrong_origin == 0u);
  BOOST_TEST(device1.port_counters().wrong_origin == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_CASE(a_forged_request_from_another_engine_is_refused, TwoEngines) {
  TestQp qp0(program0, 3, {});
  TestQp qp1(program1, 70, {});
  Fabric::connect(qp0, qp1, 4096);
  TestQp raw(program0, 4, raw_packets());
  to_rts(engine0, raw);
  const wire::TransportHeaders headers = write_to(program1, qp1.qpn(), wire::Service::rc);
  post(raw, program0, forge(Fabric::path(device0, device1), headers, 64));
  run();
  BOOST_TEST(!was_written(program1));
  BOOST_TEST(device1.port_counters().wrong_origin == 1u);

  program0.fill(0, 3000, 6);
  const abi::ScatterGather sges[] = {program0.sge(0, 3000)};
  qp0.post_send(write_wqe(program1, 8192), sges);
  run();
  const auto entry = qp0.send_cq.poll();
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->status == 0);
  BOOST_TEST(program1.holds(8192, 3000, 6));
}

}  // namespace urnic::engine::test
