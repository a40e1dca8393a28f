// Two programs, each on a device of its own, exchange data: both as libmlx5 does, or one as urnic's own
// library.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/engine/mlx5_rings/shared_receive_ring.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/engine/steering/rss_table.hpp"
#include "tests/unit/engine/raw_frames.hpp"
#include "tests/unit/mlx5_rings/queue_pair_end.hpp"

namespace urnic::engine::mlx5::test {
namespace {

using engine::test::Fabric;
using transport::QpState;

transport::QpParameters usual_parameters() {
  transport::QpParameters made;
  made.access = {.remote_read = true, .remote_write = true, .remote_atomic = true};
  made.path_mtu = 1024;
  made.receive_psn = wire::Psn(0xFFFFF0);
  made.send_psn = wire::Psn(0xFFFFF0);
  made.max_destination_reads = 16;
  made.max_reads = 16;
  made.min_rnr_timer = 1;
  made.timeout = 14;
  made.retry_count = 7;
  made.rnr_retry = 7;
  return made;
}

transport::QpParameters with_long_packets() {
  transport::QpParameters made = usual_parameters();
  made.path_mtu = 4096;
  return made;
}

struct Pair : Fabric {
  QueuePairEnd qp0{program0, 3};
  QueuePairEnd qp1{program1, 70};

  Pair() {
    qp0.connect_to(qp1.qpn(), device1, usual_parameters());
    qp1.connect_to(qp0.qpn(), device0, usual_parameters());
  }
  Bytes from(std::size_t offset, std::uint32_t length) {
    return data(length, program0.key.value, program0.address(offset));
  }
  Bytes to(std::size_t offset, std::uint32_t length) {
    return data(length, program1.key.value, program1.address(offset));
  }
  Bytes at_peer(std::size_t offset) { return remote(program1.address(offset), program1.key.value); }
};

// Memory of this process, which the device can send from where it lies.
class MappedMemory final : public memory::ApplicationMemory {
 public:
  void read(std::span<memory::Transfer> batch) override {
    for (memory::Transfer& one : batch) {
      std::memcpy(one.local.data(), reinterpret_cast<const void*>(one.address), one.local.size());
      one.failed = false;
    }
  }
  void write(std::span<memory::Transfer>) override { BOOST_FAIL("nobody writes here"); }
  const std::byte* in_place(std::uint64_t address, std::uint32_t) override {
    ++sent_in_place;
    return reinterpret_cast<const std::byte*>(address);
  }
  std::uint64_t* word_in_place(std::uint64_t) override { return nullptr; }
  const char* way() const override { return "mapped"; }

  int sent_in_place = 0;
};

PolledCqe polled(CompletionEnd& end) {
  const std::optional<PolledCqe> cqe = end.poll();
  BOOST_REQUIRE(cqe);
  return *cqe;
}

void check_sent(QueuePairEnd& qp, unsigned opcode, std::uint16_t counter) {
  const PolledCqe cqe = polled(qp.send_end);
  BOOST_TEST(cqe.opcode == 0u);
  BOOST_TEST(cqe.send_opcode == opcode);
  BOOST_TEST(cqe.counter == counter);
  BOOST_TEST(cqe.user_index == qp.user_index());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(transfer, Pair)

// From a first block to the CQE that names it, at each place of the ring: so each WQE once goes on at its
// begin.
BOOST_AUTO_TEST_CASE(sends_with_data_inline_and_in_memory) {
  for (std::uint32_t i = 0; i < 150; ++i) {
    BOOST_TEST_INFO_SCOPE("message " << i);
    const auto front = pattern(i % 40, i);
    const std::uint32_t behind = 900 + i;
    program0.fill(100, behind, static_cast<std::uint8_t>(i));
    qp1.receives.post(to(0, 10) + to(10, 4000));
    const std::uint16_t block = qp0.sends.counter;
    qp0.post(kSendImmediate, kUpdate | kSolicit, 0x01020304 + i,
             (front.empty() ? Bytes() : inlined(front)) + from(100, 1) + from(101, behind - 1));
    run();
    check_sent(qp0, kSendImmediate, block);
    const PolledCqe received = polled(qp1.receive_end);
    BOOST_TEST(received.opcode == 3u);
    BOOST_TEST(received.solicited);
    BOOST_TEST(received.immediate == 0x01020304 + i);
    BOOST_TEST(received.counter == i);
    BOOST_TEST(received.user_index == qp1.user_index());
    BOOST_TEST(received.byte_count == front.size() + behind);
    BOOST_TEST(std::equal(front.begin(), front.end(), program1.bytes.begin()));
    BOOST_TEST(program1.holds(front.size(), behind, static_cast<std::uint8_t>(i)));
  }
  BOOST_TEST(!qp0.send_end.poll());
  BOOST_TEST(!qp1.receive_end.poll());
}

// Payloads of this size are sent from where they lie, but not behind inline data.
BOOST_AUTO_TEST_CASE(a_long_message_behind_inline_data) {
  const transport::QpParameters long_packets = with_long_packets();
  QueuePairEnd one(program0, 9);
  QueuePairEnd other(program1, 10);
  one.connect_to(other.qpn(), device1, long_packets);
  other.connect_to(one.qpn(), device0, long_packets);
  MappedMemory mapped;
  std::optional<transport::Lkey> key;
  engine.execute([&] {
    key = device0.memory_table().add_region({.memory = &mapped,
                                             .pd = program0.pd,
                                             .address = program0.address(0),
                                             .iova = program0.address(0),
                                             .length = 200000,
                                             .access = memory::access_local_write});
  });
  BOOST_REQUIRE(key);
  const auto front = pattern(100);
  program0.fill(0, 200000, 9);
  one.post(kWrite, kUpdate, 0, at_peer(0) + inlined(front) + data(200000, key->value, program0.address(0)));
  run();
  BOOST_TEST(mapped.sent_in_place == 48);  // all packets but the first
  check_sent(one, kWrite, 0);
  BOOST_TEST(std::equal(front.begin(), front.end(), program1.bytes.begin()));
  BOOST_TEST(program1.holds(100, 200000, 9));
}

BOOST_AUTO_TEST_CASE(rdma_and_atomics) {
  program0.fill(0, 3000, 5);
  qp0.post(kWrite, 0, 0, at_peer(5000) + from(0, 3000));
  qp0.post(kRead, 0, 0, at_peer(5000) + from(10000, 3000));
  const std::uint64_t before = 40;
  std::memcpy(program1.bytes.data(), &before, sizeof before);
  qp0.post(kAdd, 0, 0, at_peer(0) + operands(2, 0) + from(20000, 8));
  const std::uint16_t block = qp0.sends.counter;
  qp0.post(kSwap, kUpdate, 0, at_peer(0) + operands(77, 42) + from(20008, 8));
  run();
  check_sent(qp0, kSwap, block);
  BOOST_TEST(!qp0.send_end.poll());
  BOOST_TEST(program1.holds(5000, 3000, 5));
  BOOST_TEST(program0.holds(10000, 3000, 5));
  std::uint64_t words[3];
  std::memcpy(words, program0.bytes.data() + 20000, 16);
  std::memcpy(words + 2, program1.bytes.data(), 8);
  BOOST_TEST(words[0] == 40u);
  BOOST_TEST(words[1] == 42u);
  BOOST_TEST(words[2] == 77u);
}

BOOST_AUTO_TEST_CASE(a_nop_completes_behind_what_is_before_it) {
  qp0.post(kWrite, 0, 0, at_peer(0) + from(0, 100));
  qp0.post(kNop, kUpdate | kFence);
  run();
  check_sent(qp0, kNop, 1);
}

BOOST_AUTO_TEST_CASE(a_write_with_immediate_data_takes_a_receive) {
  qp1.receives.post(to(0, 16));
  qp0.post(kWriteImmediate, kUpdate, 9, at_peer(64) + inlined(pattern(33)));
  run();
  check_sent(qp0, kWriteImmediate, 0);
  const PolledCqe received = polled(qp1.receive_end);
  BOOST_TEST(received.opcode == 1u);
  BOOST_TEST(received.immediate == 9u);
  BOOST_TEST(received.byte_count == 33u);
}

BOOST_AUTO_TEST_CASE(an_armed_queue_raises_one_event) {
  qp1.receive_end.arm(true);
  for (const std::uint8_t flags : {std::uint8_t{0}, kSolicit, kSolicit}) {
    qp1.receives.post(to(0, 64));
    qp0.post(kSend, flags, 0, from(0, 4));
    run();
    BOOST_TEST(program1.channel.read().has_value() == (flags != 0 && qp1.receives.counter == 2));
  }
  qp1.receive_end.got_event();
  for (int i = 0; i < 3; ++i) polled(qp1.receive_end);
  qp1.receive_end.arm();
  qp1.receives.post(to(0, 64));
  qp0.post(kSend, 0, 0, from(0, 4));
  run();
  BOOST_TEST(program1.channel.read().has_value());
}

BOOST_AUTO_TEST_CASE(errors_and_what_they_flush) {
  qp1.receives.post(to(0, 16));
  qp0.post(kWrite, 0, 0, remote(program1.address(0), 0xBAD00) + from(0, 100));
  qp0.post(kSend, 0, 0, inlined(pattern(100)));
  qp0.post(kRead, 0, 0, at_peer(0) + from(0, 4));
  run();
  const unsigned syndromes[] = {0x13, 0x05, 0x05};
  const std::uint16_t blocks[] = {0, 1, 3};
  for (int i = 0; i < 3; ++i) {
    const PolledCqe cqe = polled(qp0.send_end);
    BOOST_TEST(cqe.opcode == 13u);
    BOOST_TEST(cqe.syndrome == syndromes[i]);
    BOOST_TEST(cqe.counter == blocks[i]);
  }
  const PolledCqe flushed = polled(qp1.receive_end);
  BOOST_TEST(flushed.opcode == 14u);
  BOOST_TEST(flushed.syndrome == 0x05u);
}

BOOST_AUTO_TEST_CASE(a_malformed_request_fails_and_a_wrong_size_is_fatal) {
  for (const std::uint32_t units : {2u, 0u}) {
    QueuePairEnd bad(program0, 9);
    bad.connect_to(qp1.qpn(), device1, usual_parameters());
    Flaw flaw;
    flaw.units = units;
    flaw.block = units == 0 ? 0 : 5;
    bad.sends.write(kSend, 0, 0, from(0, 4), flaw);
    bad.ring();
    run();
    const PolledCqe cqe = polled(bad.send_end);
    BOOST_TEST(cqe.opcode == 13u);
    BOOST_TEST(cqe.syndrome == 0x02u);
    BOOST_TEST((bad.device_end().state() == QpState::error));
  }
}

BOOST_AUTO_TEST_CASE(a_window_is_bound_used_and_invalidated) {
  std::uint32_t window = 0;
  engine.execute([&] { window = device1.memory_table().add_window(program1.pd, 2)->value; });
  qp1.post(kUmr, kUpdate, window,
           key_change({.key_byte = window + 1,
                       .address = program1.address(0),
                       .length = 4096,
                       .lkey = program1.key.value,
                       .access = 1 << 5},
                      qp1.qpn().value));
  run();
  check_sent(qp1, kUmr, 0);
  const std::uint32_t bound = (window & ~0xFFu) | ((window + 1) & 0xFF);
  program0.fill(0, 500, 3);
  qp0.post(kWrite, kUpdate, 0, remote(program1.address(7), bound) + from(0, 500));
  run();
  check_sent(qp0, kWrite, 0);
  BOOST_TEST(program1.holds(7, 500, 3));
  qp1.post(kUmr, kUpdate, bound, key_change({}, qp1.qpn().value));
  qp0.post(kWrite, kUpdate, 0, remote(program1.address(7), bound) + from(0, 500));
  run();
  check_sent(qp1, kUmr, 3);
  BOOST_TEST(polled(qp0.send_end).syndrome == 0x13u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(both_faces, Fabric)

BOOST_AUTO_TEST_CASE(exchange_messages) {
  QueuePairEnd one(program0, 3);
  engine::test::TestQp other(program1, 70, {});
  one.connect_to(other.qpn(), device1, usual_parameters());
  transport::QpParameters back = usual_parameters();
  back.destination = one.qpn();
  engine.execute([&] {
    other.device_end().modify(QpState::init, back, std::nullopt);
    other.device_end().modify(QpState::rtr, back, path(device1, device0));
    other.device_end().modify(QpState::rts, back, std::nullopt);
  });
  program0.fill(0, 5000, 1);
  const abi::ScatterGather to[] = {program1.sge(0, 6000)};
  other.post_receive(to);
  one.post(kSend, kUpdate, 0, data(5000, program0.key.value, program0.address(0)));
  run();
  check_sent(one, kSend, 0);
  BOOST_REQUIRE(other.receive_cq.poll());
  BOOST_TEST(program1.holds(0, 5000, 1));

  program1.fill(0, 5000, 2);
  one.receives.post(data(6000, program0.key.value, program0.address(0)));
  const abi::ScatterGather from[] = {program1.sge(0, 5000)};
  other.post_send(engine::test::wqe(abi::SendOpcode::send), from);
  run();
  BOOST_TEST(polled(one.receive_end).byte_count == 5000u);
  BOOST_TEST(program0.holds(0, 5000, 2));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(other_services, Fabric)

BOOST_AUTO_TEST_CASE(datagrams) {
  QueuePairEnd qp0(program0, 3, transport::QpService::ud);
  QueuePairEnd qp1(program1, 4, transport::QpService::ud);
  transport::QpParameters with_key = usual_parameters();
  with_key.qkey = 0x11111111;
  qp0.bring_up(with_key);
  qp1.bring_up(with_key);
  const std::uint32_t handle = device0.address_handles()
                                   .add(std::make_unique<AddressHandle>(program0.pd, path(device0, device1)))
                                   .value();
  qp1.receives.post(data(2000, program1.key.value, program1.address(0)));
  program0.fill(0, 500, 6);
  const auto front = pattern(20);
  qp0.post(kSendImmediate, kUpdate, 0xA0B0C0D0,
           datagram(0x11111111, qp1.qpn().value, handle) + inlined(front) +
               data(500, program0.key.value, program0.address(0)));
  run();
  check_sent(qp0, kSendImmediate, 0);
  const PolledCqe received = polled(qp1.receive_end);
  BOOST_TEST(received.opcode == 3u);
  BOOST_TEST(received.byte_count == 40u + 20 + 500);
  BOOST_TEST(received.source == qp0.qpn().value);
  BOOST_TEST(received.grh == 1u);
  BOOST_TEST(received.network_header == 2u);
  BOOST_TEST(std::equal(front.begin(), front.end(), program1.bytes.begin() + 40));
  BOOST_TEST(program1.holds(60, 500, 6));
}

BOOST_AUTO_TEST_CASE(raw_packets) {
  QueuePairEnd qp0(program0, 3, transport::QpService::raw_packet);
  QueuePairEnd qp1(program1, 4, transport::QpService::raw_packet);
  for (QueuePairEnd* const each : {&qp0, &qp1}) each->bring_up(with_long_packets());
  SteeringRule rule;
  rule.kind = RuleKind::normal;
  rule.target.queue_pair = &qp1.device_end();
  engine.execute([&] { device1.add_steering_rule(rule); });
  const auto header = pattern(18, 0x40);
  program0.fill(0, 300, 8);
  qp1.receives.post(data(2000, program1.key.value, program1.address(0)));
  qp0.post(kSend, kUpdate, 0, ethernet(header) + data(300, program0.key.value, program0.address(0)));
  run();
  check_sent(qp0, kSend, 0);
  BOOST_TEST(polled(qp1.receive_end).byte_count == 318u);
  BOOST_TEST(std::equal(header.begin(), header.end(), program1.bytes.begin()));
  BOOST_TEST(program1.holds(18, 300, 8));
}

// Made of the frame as it leaves, whether its bytes are in the WQE or elsewhere; the program's memory stays
// as it is. The receiver is told that they are right.
BOOST_AUTO_TEST_CASE(checksums_of_raw_packets) {
  QueuePairEnd qp0(program0, 3, transport::QpService::raw_packet);
  QueuePairEnd qp1(program1, 4, transport::QpService::raw_packet);
  for (QueuePairEnd* const each : {&qp0, &qp1}) each->bring_up(with_long_packets());
  SteeringRule rule;
  rule.target.queue_pair = &qp1.device_end();
  engine.execute([&] { device1.add_steering_rule(rule); });
  auto frame = engine::test::ipv4_frame();
  frame.rest[3] = 28;  // all of it, without what would be behind
  const auto bytes = frame.bytes();
  std::copy(bytes.begin(), bytes.end(), program0.bytes.begin());
  const auto all = static_cast<std::uint32_t>(bytes.size());
  const std::span<const std::byte> front(bytes.data(), 18);
  const auto rest = data(all - 18, program0.key.value, program0.address(18));
  for (const unsigned flags : {0x00u, 0x40u, 0x80u, 0xC0u}) {
    for (const bool is_inline : {false, true}) {
      BOOST_TEST_INFO_SCOPE("flags " << flags << ", inline " << is_inline);
      const auto segment = ethernet(front, static_cast<std::uint8_t>(flags));
      qp1.receives.post(data(2000, program1.key.value, program1.address(0)));
      qp0.post(kSend, kUpdate, 0, segment + (is_inline ? inlined(std::span(bytes).subspan(18)) : rest));
      run();
      BOOST_TEST(polled(qp0.send_end).opcode == 0u);
      auto expected = bytes;
      wire::fill_checksums(expected, {(flags & kNetworkChecksum) != 0, (flags & kTransportChecksum) != 0});
      BOOST_TEST(std::equal(expected.begin(), expected.end(), program1.bytes.begin()));
      BOOST_TEST(std::equal(bytes.begin(), bytes.end(), program0.bytes.begin()));
      BOOST_TEST(polled(qp1.receive_end).checksums == flags >> 5);
    }
  }
}

// The hash by which a queue was chosen, and what the packet is, are in its CQE.
BOOST_AUTO_TEST_CASE(raw_packets_by_receive_side_scaling) {
  QueuePairEnd qp0(program0, 3, transport::QpService::raw_packet);
  QueuePairEnd qp1(program1, 4, transport::QpService::raw_packet);
  QueuePairEnd beside(program1, 5, transport::QpService::raw_packet);
  for (QueuePairEnd* const each : {&qp0, &qp1, &beside}) each->bring_up(with_long_packets());
  ToeplitzKey key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i * 37 + 11);
  const RssTable rss_table(key, hash_source_port_udp, {&qp1.device_end(), &beside.device_end()});
  SteeringRule rule;
  rule.target.rss_table = &rss_table;
  engine.execute([&] { device1.add_steering_rule(rule); });
  for (QueuePairEnd* const each : {&qp1, &beside})
    each->receives.post(data(2000, program1.key.value, program1.address(0)));
  const auto frame = engine::test::ipv4_frame().bytes();
  std::copy(frame.begin(), frame.end(), program0.bytes.begin());
  qp0.post(
      kSend, kUpdate, 0,
      ethernet({}) + data(static_cast<std::uint32_t>(frame.size()), program0.key.value, program0.address(0)));
  run();
  const std::uint32_t hash = rss_table.hash_of(read_headers(frame));
  BOOST_REQUIRE(hash != 0u);
  const PolledCqe cqe = polled(hash % 2 == 0 ? qp1.receive_end : beside.receive_end);
  BOOST_TEST(cqe.flow_hash == hash);
  BOOST_TEST(cqe.header_types == 0x0Au << 2);
}

BOOST_AUTO_TEST_CASE(shared_receives) {
  SharedReceiveEnd posted(8, 64);
  SharedReceiveQueueConfig config;
  config.device = &device1.resources();
  config.pd = program1.pd;
  config.wqes = std::make_shared<SharedReceiveRing>(SharedReceiveRingConfig{
      .slots = posted.ring.data(), .slot_count = 8, .stride = 64, .producer = &posted.record});
  config.async_events = &program1.async_events.device_end();
  auto srq = std::make_unique<SharedReceiveQueue>(config);
  engine.execute([&] { srq->install(); });
  {
    QueuePairEnd qp0(program0, 3);
    QueuePairEnd qp1(program1, 4, transport::QpService::rc, srq.get());
    qp0.connect_to(qp1.qpn(), device1, usual_parameters());
    qp1.connect_to(qp0.qpn(), device0, usual_parameters());
    for (std::uint32_t i = 0; i < 30; ++i) {
      const std::uint32_t slot = posted.post(data(100, program1.key.value, program1.address(0)));
      qp0.post(kSend, kUpdate, 0, inlined(pattern(10 + i)));
      run();
      const PolledCqe received = polled(qp1.receive_end);
      BOOST_TEST(received.opcode == 2u);
      BOOST_TEST(received.counter == slot);
      BOOST_TEST(received.user_index == qp1.user_index());
      BOOST_TEST(received.byte_count == 10 + i);
      posted.free(slot);
    }
    // A list that leads to a slot in use breaks the queue, and nothing else.
    for (std::uint32_t i = 0; i < 8; ++i) posted.link(i, 3);
    posted.publish(static_cast<std::uint16_t>(posted.counter + 8));
    for (int i = 0; i < 3; ++i) qp0.post(kSend, kUpdate, 0, inlined(pattern(10)));
    advance(std::chrono::seconds(1));
    BOOST_TEST(srq->broken());
    BOOST_TEST((qp1.device_end().state() == QpState::error));
  }
  engine.execute([&] { srq.reset(); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::mlx5::test
