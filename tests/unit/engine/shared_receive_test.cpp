// Shared receive queues: which QP gets which WQE, what becomes of it, and programs that write nonsense.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/test_srq.hpp"

namespace urnic::engine::test {

namespace shared_receive {

constexpr std::uint8_t kLocalProtectionError = 4;
constexpr std::uint32_t kEventQpFatal = 1;
constexpr std::uint32_t kEventSrqError = 14;
constexpr std::uint32_t kEventLimitReached = 15;
constexpr std::uint32_t kEventLastWqeReached = 16;
constexpr std::size_t kSource = 512 * 1024;
constexpr std::uint8_t kSeed = 9;

QpLayout on(const TestSrq& srq) { return {.receive_slots = 0, .srq = srq.device_end.get()}; }

// Two QPs of program 1 on one SRQ, each with a peer.
struct Shared : Fabric {
  TestSrq srq{program1, 8};
  TestQp peer0{program0, 0, {}};
  TestQp peer1{program0, 1, {}};
  TestQp qp0{program1, 2, on(srq)};
  TestQp qp1{program1, 3, on(srq)};
  Shared() {
    connect(peer0, qp0);
    connect(peer1, qp1);
    program0.fill(kSource, 64 * 1024, kSeed);
    while (program1.async_events.read()) {
    }
  }

  void post(std::uint32_t slot, std::uint32_t length = 8192) {
    const abi::ScatterGather to[] = {program1.sge(slot * 8192, length)};
    srq.post(slot, to);
  }
  void send(TestQp& from, std::uint32_t length) {
    const abi::ScatterGather sges[] = {program0.sge(kSource, length)};
    from.post_send(wqe(abi::SendOpcode::send), sges);
    run();
  }
  static void check_received(TestQp& qp, std::uint32_t slot) {
    const auto entry = qp.receive_cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == 0);
    BOOST_TEST(entry->wqe_index == slot);
    BOOST_TEST((entry->flags & abi::cqe_shared_receive) != 0);
  }
  std::vector<std::uint32_t> events() {
    std::vector<std::uint32_t> types;
    while (const auto event = program1.async_events.read()) types.push_back(event->type);
    return types;
  }
};

}  // namespace shared_receive

BOOST_FIXTURE_TEST_SUITE(shared_receive, Shared)

BOOST_AUTO_TEST_CASE(queue_pairs_take_in_the_order_of_posting_whatever_the_slots) {
  for (const std::uint32_t slot : {5u, 0u, 3u}) post(slot);
  send(peer0, 4000);
  send(peer1, 4000);
  send(peer0, 4000);
  check_received(qp0, 5);
  check_received(qp0, 3);
  check_received(qp1, 0);
  BOOST_TEST(program1.holds(5 * 8192, 4000, kSeed));
  BOOST_TEST(program1.holds(0, 4000, kSeed));
  BOOST_TEST(program1.holds(3 * 8192, 4000, kSeed));
}

BOOST_AUTO_TEST_CASE(a_long_message_keeps_its_wqe_while_others_come) {
  post(0);
  post(1);
  const abi::ScatterGather sges[] = {program0.sge(kSource, 8000)};
  peer0.post_send(wqe(abi::SendOpcode::send), sges);
  peer1.post_send(wqe(abi::SendOpcode::send), sges);
  run();
  BOOST_TEST(qp0.receive_cq.poll().value().wqe_index + qp1.receive_cq.poll().value().wqe_index == 1u);
  BOOST_TEST(program1.holds(0, 8000, kSeed));
  BOOST_TEST(program1.holds(8192, 8000, kSeed));
}

BOOST_AUTO_TEST_CASE(a_slot_goes_round_many_times) {
  for (int i = 0; i < 5000; ++i) {
    post(static_cast<std::uint32_t>(i % 3));
    send(i % 2 == 0 ? peer0 : peer1, 100);
    check_received(i % 2 == 0 ? qp0 : qp1, static_cast<std::uint32_t>(i % 3));
    (i % 2 == 0 ? peer0 : peer1).send_cq.poll();
  }
}

BOOST_AUTO_TEST_CASE(small_messages_travel_in_the_cqe_here_too) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 64)};
  srq.post(4, to);
  send(peer0, 16);
  const auto entry = qp0.receive_cq.poll();
  BOOST_REQUIRE(entry);
  BOOST_TEST((entry->flags & abi::cqe_inline) != 0);
  BOOST_TEST(entry->wqe_index == 4u);
  BOOST_TEST(std::memcmp(entry->inline_data.data(), &program0.bytes[kSource], 16) == 0);
}

BOOST_AUTO_TEST_CASE(an_empty_queue_is_a_receiver_not_ready) {
  send(peer0, 100);
  BOOST_TEST(device1.counters().rnr_nak_sent > 0u);
  post(2);
  advance(transport::Nanoseconds(1'000'000'000));
  check_received(qp0, 2);
}

// With credits, the QP that had none posted could send one message at a time only, and would ask each time.
BOOST_AUTO_TEST_CASE(no_credits_are_given) {
  for (std::uint32_t slot = 0; slot < 8; ++slot) post(slot);
  send(peer0, 100);
  const std::uint64_t packets = device1.port_counters().received_packets;
  for (int i = 0; i < 5; ++i) {
    const abi::ScatterGather sges[] = {program0.sge(kSource, 100)};
    peer0.post_send(wqe(abi::SendOpcode::send), sges);
  }
  for (int rounds = 0; rounds < 3; ++rounds) {
    program0.doorbell_set.collect();
    engine.data_path().round();
  }
  BOOST_TEST(device1.port_counters().received_packets == packets + 5);
  run();
}

BOOST_AUTO_TEST_CASE(keys_are_checked_against_the_domain_of_the_queue) {
  TestSrq other(program1, 4, transport::PdId{99});
  TestQp qp(program1, 5, on(other));
  TestQp peer(program0, 4, {});
  connect(peer, qp);
  const abi::ScatterGather to[] = {program1.sge(0, 4096)};
  other.post(0, to);
  send(peer, 100);
  BOOST_TEST(qp.receive_cq.poll().value().status == kLocalProtectionError);
}

BOOST_AUTO_TEST_CASE(an_error_leaves_the_queue_to_the_others) {
  post(0);
  engine.execute([&] {
    qp0.device_end().modify(transport::QpState::error, qp0.device_end().parameters(), std::nullopt);
  });
  run();
  BOOST_TEST(!qp0.receive_cq.poll());
  BOOST_TEST(events() == std::vector<std::uint32_t>{kEventLastWqeReached}, boost::test_tools::per_element());
  send(peer1, 100);
  check_received(qp1, 0);
}

BOOST_AUTO_TEST_CASE(the_limit_is_reported_once) {
  for (std::uint32_t slot = 0; slot < 4; ++slot) post(slot);
  srq.arm(3);
  BOOST_TEST(events().empty());
  send(peer0, 100);  // three are left: not below
  BOOST_TEST(events().empty());
  send(peer0, 100);
  BOOST_TEST(events() == std::vector<std::uint32_t>{kEventLimitReached}, boost::test_tools::per_element());
  BOOST_TEST(srq.device_end->limit() == 0u);
  send(peer0, 100);
  BOOST_TEST(events().empty());
}

BOOST_AUTO_TEST_CASE(a_limit_that_is_passed_already_is_reported_at_once) {
  post(0);
  srq.arm(2);
  BOOST_TEST(events() == std::vector<std::uint32_t>{kEventLimitReached}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(growing_keeps_what_is_posted) {
  for (int i = 0; i < 5; ++i) {  // so that the ring has begun anew
    post(7);
    send(peer0, 10);
    check_received(qp0, 7);
  }
  for (const std::uint32_t slot : {6u, 1u, 2u, 4u}) post(slot);
  srq.grow(32);
  post(31);
  for (const std::uint32_t slot : {6u, 1u, 2u, 4u, 31u}) {
    send(peer1, 3000);
    check_received(qp1, slot);
    BOOST_TEST(program1.holds(slot * 8192, 3000, kSeed));
  }
}

BOOST_AUTO_TEST_CASE(what_a_reset_queue_pair_held_is_taken_next) {
  post(0);
  post(1);
  const std::vector<std::byte> half(1024);
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_first);
  headers.bth.destination = qp0.qpn();
  headers.bth.psn = qp0.device_end().parameters().receive_psn;
  engine.execute([&] { qp0.device_end().receive({.headers = headers, .payload = half}); });
  engine.execute([&] { qp0.device_end().modify(transport::QpState::reset, {}, std::nullopt); });
  BOOST_TEST(!qp0.receive_cq.poll());
  send(peer1, 200);
  check_received(qp1, 0);
  send(peer1, 200);
  check_received(qp1, 1);
}

BOOST_AUTO_TEST_CASE(a_number_of_no_slot_breaks_the_queue) {
  for (const std::uint32_t number : {8u, 0x80000000u, 0xFFFFFFFFu}) {
    TestSrq broken(program1, 8);
    TestQp qp(program1, 5, on(broken));
    TestQp peer(program0, 4, {});
    connect(peer, qp);
    events();
    broken.publish(number);
    send(peer, 100);
    BOOST_TEST((qp.device_end().state() == transport::QpState::error));
    BOOST_TEST(events() == (std::vector<std::uint32_t>{kEventSrqError, kEventLastWqeReached, kEventQpFatal}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_slot_that_is_in_use_is_not_taken_again) {
  const abi::ScatterGather to[] = {program1.sge(0, 65536)};
  srq.write(0, to);
  srq.publish(0);
  srq.publish(0);
  transport::ReceiveRequest request;
  std::uint32_t slot = 0;
  BOOST_TEST(srq.device_end->take(request, slot));
  BOOST_TEST(!srq.device_end->take(request, slot));
  BOOST_TEST(srq.device_end->broken());
  srq.device_end->release(0);
}

BOOST_AUTO_TEST_CASE(a_producer_beyond_the_ring_breaks_the_queue) {
  srq.indices.producer.store(9);
  send(peer0, 100);
  BOOST_TEST(srq.device_end->broken());
  BOOST_TEST((qp0.device_end().state() == transport::QpState::error));
  BOOST_TEST((qp1.device_end().state() == transport::QpState::rts));  // it has not needed it yet
}

BOOST_AUTO_TEST_CASE(any_garbage_is_survived) {
  std::mt19937 engine_of_chance(4711);
  const auto random = [&] { return static_cast<std::uint32_t>(engine_of_chance()); };
  for (int i = 0; i < 300; ++i) {
    TestSrq garbage(program1, 8);
    TestQp qp(program1, 5, on(garbage));
    TestQp peer(program0, 4, {});
    connect(peer, qp);
    for (auto& byte : garbage.slots) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    for (auto& number : garbage.posted) number = random() % 9;
    garbage.indices.producer.store(random() % 10);
    for (int sends = 0; sends < 4; ++sends) send(peer, random() % 5000);
    garbage.arm(random() % 10);
    garbage.grow(16);
    send(peer, random() % 5000);
  }
  while (events().size() == 64) {
  }
  post(0);
  send(peer1, 100);
  check_received(qp1, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
