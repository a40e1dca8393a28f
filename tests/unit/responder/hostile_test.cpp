// Requests made of chance, memory that fails, batches of any size: whatever a peer sends, every receive
// completes exactly once and in order, a refused connection executes nothing more, and what leaves is well
// formed.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/unit/responder/responder_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace {

struct Hostile : ResponderBench {
  // Every third keeps what is out of order and is offered selective acks; every third keeps, and is not.
  explicit Hostile(std::uint64_t seed)
      : ResponderBench(seed % 3 == 0 ? RecoveryMode::gbn : RecoveryMode::sack, 32),
        chance(seed),
        offers(seed % 3 == 1) {}

  std::uint64_t random(std::uint64_t below) { return chance() % below; }

  Operation random_operation() {
    for (;;) {
      const wire::Opcode opcode(wire::Service::rc, static_cast<Operation>(random(24)));
      if (wire::traits(opcode).known && wire::traits(opcode).request) return opcode.operation();
    }
  }

  // Mostly what the message under way needs next, or a connection would hardly ever get beyond one packet.
  Operation likely_operation() {
    if (random(60) == 0) return random_operation();
    switch (under_way) {
      case MessageUnderWay::send:
        return random(2) == 0 ? Operation::send_middle : Operation::send_last;
      case MessageUnderWay::write:
        return write_rest > kMtu ? Operation::write_middle : Operation::write_last;
      case MessageUnderWay::none:
        break;
    }
    static constexpr Operation kStarts[] = {Operation::send_first,           Operation::send_only,
                                            Operation::send_only_invalidate, Operation::write_first,
                                            Operation::write_only_immediate, Operation::read_request,
                                            Operation::compare_swap,         Operation::fetch_add};
    return kStarts[random(std::size(kStarts))];
  }

  Packet random_packet() {
    const Operation operation = likely_operation();
    const wire::OpcodeTraits& traits = wire::traits(wire::Opcode(wire::Service::rc, operation));
    std::size_t payload = traits.carries_payload ? (traits.last ? 1 + random(64) : kMtu) : 0;
    if (operation == Operation::write_last && write_rest <= kMtu) payload = write_rest;
    if (random(100) == 0) payload = random(2 * kMtu);
    Packet packet = rc_packet(operation, next.value(), pattern(payload));
    if (random(6) == 0) packet.headers.bth.psn = next - 8 + static_cast<std::uint32_t>(random(16));
    packet.headers.bth.ack_request = random(2) == 0;
    packet.selective_acks = offers ? SelectiveAcks::yes : SelectiveAcks::no;
    wire::Reth& reth = packet.headers.reth;
    reth = {kBase + random(0x4000), wire::Rkey{kKey}, static_cast<std::uint32_t>(payload)};
    if (!traits.last) reth.dma_length = static_cast<std::uint32_t>(3 * kMtu + 1 + random(64));
    if (operation == Operation::read_request) reth.dma_length = static_cast<std::uint32_t>(random(6 * kMtu));
    if (random(150) == 0) reth.dma_length = static_cast<std::uint32_t>(chance());
    if (random(150) == 0) reth.virtual_address = chance();
    packet.headers.atomic_eth = {kBase + 8 * random(64) + (random(150) == 0 ? 1 : 0), wire::Rkey{kKey},
                                 chance(), 0};
    if (random(150) == 0) reth.rkey = packet.headers.atomic_eth.rkey = wire::Rkey{kForeignKey};
    follow(packet);
    return packet;
  }

  // What a requester that believed all this to be good would send next.
  void follow(const Packet& packet) {
    const wire::Bth& bth = packet.headers.bth;
    const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
    if (bth.psn != next) return;
    if ((traits.headers & wire::has_reth) != 0) write_rest = packet.headers.reth.dma_length;
    write_rest -= static_cast<std::uint32_t>(packet.payload.size());
    const RequestKind kind = request_kind(bth.opcode.operation());
    next = next + (kind == RequestKind::read ? response_packets(packet.headers.reth.dma_length, kMtu) : 1);
    under_way = traits.last                  ? MessageUnderWay::none
                : kind == RequestKind::send  ? MessageUnderWay::send
                : kind == RequestKind::write ? MessageUnderWay::write
                                             : MessageUnderWay::none;
  }

  // A refusal for want of a receive: the same packet again, which began a message.
  void heed() {
    for (; looked_at < host.sent.size(); ++looked_at) {
      const wire::TransportHeaders& headers = host.sent[looked_at].headers;
      if (operation_of(host.sent[looked_at]) != Operation::acknowledge ||
          wire::kind(headers.aeth.syndrome) != wire::AethKind::rnr_nak) {
        continue;
      }
      next = headers.bth.psn;
      under_way = MessageUnderWay::none;
    }
  }

  void step() {
    heed();
    switch (random(10)) {
      case 0:
        if (posted < 60) {
          const auto length = static_cast<std::uint32_t>(random(60) == 0 ? random(100) : 8 * kMtu);
          receives.post({Sge{kBuffer + random(0x1000), length, Lkey{random(200) == 0 ? 0xDEADu : kKey}}},
                        random(200) == 0);
          ++posted;
        }
        return;
      case 1:
        responder.pump(static_cast<std::uint32_t>(random(6)));
        return;
      case 2:
        settle();
        return;
      case 3:
        if (random(20) == 0) memory.unmap(kBase + random(kMemorySize), 1 + random(0x4000));
        return;
      default:
        give(random_packet());
    }
    if (shared.failed) fail();
  }

  // What the queue pair does when a half has failed.
  void fail() {
    shared.failed = false;
    shared.state = QpState::error;
    responder.flush();
  }

  void finish() {
    settle();
    fail();
    for (int i = 0; i < 3; ++i) flush();
  }

  std::mt19937_64 chance;
  const bool offers;
  wire::Psn next{kFirst};
  MessageUnderWay under_way = MessageUnderWay::none;
  std::uint32_t write_rest = 0;
  std::uint32_t posted = 0;
  std::size_t looked_at = 0;
};

void check_receives(const Hostile& bench) {
  BOOST_REQUIRE_EQUAL(bench.host.completions.size(), bench.posted);
  int errors = 0;
  for (std::uint32_t i = 0; i < bench.posted; ++i) {
    const Completion& completion = bench.host.completions[i];
    BOOST_REQUIRE_EQUAL(completion.wqe_index, i);
    if (errors > 0) BOOST_REQUIRE(completion.status == WorkStatus::flushed);
    if (completion.status != WorkStatus::success) ++errors;
  }
}

void check_packets(const Hostile& bench) {
  int refusals = 0;
  for (const SentPacket& packet : bench.host.sent) {
    const wire::OpcodeTraits& traits = wire::traits(packet.headers.bth.opcode);
    BOOST_REQUIRE(traits.known && !traits.request);
    BOOST_REQUIRE_LE(packet.payload.size(), kMtu);
    BOOST_REQUIRE_EQUAL(refusals, 0);  // nothing comes behind the NAK that ends the connection
    const std::uint8_t syndrome = packet.headers.aeth.syndrome;
    if (operation_of(packet) == Operation::acknowledge && wire::kind(syndrome) == wire::AethKind::nak &&
        wire::code(syndrome) != 0) {
      ++refusals;
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile)

BOOST_AUTO_TEST_CASE(whatever_arrives_every_receive_completes_once) {
  std::uint64_t executed = 0;
  std::uint64_t failed_late = 0;
  std::uint64_t held = 0;
  std::uint64_t reported = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Hostile bench(seed);
      for (int i = 0; i < 200; ++i) bench.step();
      bench.finish();
      check_receives(bench);
      check_packets(bench);
      BOOST_REQUIRE_EQUAL(bench.pool.in_use(), 0u);
      held += bench.counters.held_packets;
      reported += bench.counters.selective_acks_sent;
      executed += bench.counters.received_send_requests;
      failed_late += bench.counters.responder_operation_errors;
    }
  }
  // The chance is such that it reaches the interesting places.
  BOOST_CHECK_GT(executed, 3000u);
  BOOST_CHECK_GT(failed_late, 100u);
  BOOST_CHECK_GT(held, 10000u);
  BOOST_CHECK_GT(reported, 3000u);
}

BOOST_AUTO_TEST_SUITE_END()
