// Congestion notifications of a queue pair: when it sends one, and what one does to its requests (IBTA
// A17.9).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/queue_pair/side.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Operation;

namespace {

constexpr wire::Qpn kQpn{0x11};
constexpr wire::Qpn kPeer{0x22};
constexpr std::uint32_t kPsn = 500;
constexpr std::uint32_t kMtu = 1024;

constexpr CongestionSettings kDcqcn{.algorithm = CongestionAlgorithm::dcqcn, .line = SendRate::gbps(8)};

struct Bench : Side {
  explicit Bench(const CongestionSettings& settings = kDcqcn) : Side(kQpn) {
    QpParameters made;
    made.access = {true, true, true};
    made.pkey = wire::Pkey{0xFFFF};
    made.path_mtu = kMtu;
    made.destination = kPeer;
    made.receive_psn = made.send_psn = wire::Psn(kPsn);
    made.max_destination_reads = made.max_reads = 4;
    for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) qp.modify(state, made, now);
    qp.set_congestion(settings, now);
  }

  // What leaves now. Not `Side::run`, which waits until nothing wants to leave.
  std::deque<SentPacket> leaving() {
    qp.pump(now, 64);
    host.flush();
    return std::exchange(host.sent, {});
  }

  void arrive(Packet packet, bool marked) {
    packet.congestion_experienced = marked;
    packet.headers.bth.pkey = wire::Pkey{0xFFFF};
    give(std::move(packet), now);
  }
  void arrive_write(std::uint32_t offset, bool marked) {
    arrive(write_request(Operation::write_only, kPsn + offset, kBase, kKey, 4, pattern(4)), marked);
  }
  void arrive_notification() {
    Packet packet = rc_packet(Operation::acknowledge, 0, pattern(16));
    packet.headers.bth.opcode = wire::kCongestionNotification;
    arrive(packet, false);
  }

  std::vector<SentPacket> notifications() {
    std::vector<SentPacket> found;
    for (const SentPacket& packet : leaving())
      if (packet.headers.bth.opcode == wire::kCongestionNotification) found.push_back(packet);
    return found;
  }

  void post(std::uint32_t bytes) {
    post_send(WorkOpcode::rdma_write, bytes);
    qp.doorbell();
  }

  Time now{std::chrono::seconds(1)};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(congestion)

BOOST_AUTO_TEST_CASE(a_marked_request_is_answered_with_a_notification) {
  Bench bench;
  bench.arrive_write(0, true);
  const auto sent = bench.notifications();
  BOOST_REQUIRE(sent.size() == 1);
  const wire::Bth& bth = sent[0].headers.bth;
  BOOST_TEST(bth.becn);
  BOOST_TEST(!bth.fecn);
  BOOST_TEST(bth.psn.value() == 0u);
  BOOST_TEST(bth.destination.value == kPeer.value);
  BOOST_TEST((sent[0].payload == std::vector<std::byte>(16)));
  BOOST_TEST(bench.counters.congestion_marks == 1u);
  BOOST_TEST(bench.counters.congestion_notifications == 1u);
}

BOOST_AUTO_TEST_CASE(a_peer_that_another_queue_pair_has_notified_is_not_notified_again) {
  CongestionSettings settings = kDcqcn;
  settings.notifies_by_peer = true;
  Bench bench(settings);
  bench.host.peer_was_notified = true;
  bench.arrive_write(0, true);
  BOOST_TEST(bench.notifications().empty());
  bench.host.peer_was_notified = false;
  bench.arrive_write(1, true);
  BOOST_TEST(bench.notifications().size() == 1u);
  // Within its own interval it need not ask.
  bench.arrive_write(2, true);
  BOOST_TEST(bench.host.questions_for_peer == 2u);
}

BOOST_AUTO_TEST_CASE(who_notifies_by_queue_pair_does_not_ask_for_the_peer) {
  Bench bench;
  bench.host.peer_was_notified = true;
  bench.arrive_write(0, true);
  BOOST_TEST(bench.notifications().size() == 1u);
  BOOST_TEST(bench.host.questions_for_peer == 0u);
}

BOOST_AUTO_TEST_CASE(there_is_at_most_one_notification_in_an_interval) {
  Bench bench;
  std::uint32_t offset = 0;
  std::size_t count = 0;
  for (int i = 0; i < 500; ++i) {
    bench.arrive_write(offset++, true);
    count += bench.notifications().size();
    bench.now += std::chrono::microseconds(1);
  }
  BOOST_TEST(count == 10u);
  BOOST_TEST(bench.counters.congestion_marks == 500u);
}

BOOST_AUTO_TEST_CASE(packets_that_are_not_marked_or_have_no_data_are_not_answered) {
  Bench bench;
  bench.arrive_write(0, false);
  BOOST_TEST(bench.notifications().empty());
  bench.post(4);
  bench.leaving();
  bench.arrive(ack(kPsn), true);
  BOOST_TEST(bench.notifications().empty());
  BOOST_TEST(bench.counters.congestion_marks == 0u);
}

BOOST_AUTO_TEST_CASE(a_marked_read_response_is_answered) {
  Bench bench;
  bench.post_send(WorkOpcode::rdma_read, 4);
  bench.qp.doorbell();
  bench.leaving();
  bench.arrive(read_response(Operation::read_response_only, kPsn, pattern(4)), true);
  BOOST_TEST(bench.notifications().size() == 1u);
}

BOOST_AUTO_TEST_CASE(without_congestion_control_nothing_is_answered_and_notifications_are_ignored) {
  Bench bench(CongestionSettings{});
  bench.arrive_write(0, true);
  BOOST_TEST(bench.notifications().empty());
  BOOST_TEST(bench.counters.congestion_marks == 0u);
  bench.arrive_notification();
  BOOST_TEST(bench.counters.notifications_ignored == 1u);
  BOOST_TEST(bench.counters.notifications_handled == 0u);
}

// A notification is no response: it is neither acknowledged nor answered, and takes no PSN.
BOOST_AUTO_TEST_CASE(a_notification_is_not_answered) {
  Bench bench;
  Packet packet = rc_packet(Operation::acknowledge, 0, pattern(16));
  packet.headers.bth.opcode = wire::kCongestionNotification;
  bench.arrive(packet, true);
  BOOST_TEST(bench.leaving().empty());
  BOOST_TEST(bench.counters.notifications_handled == 1u);
  BOOST_TEST(bench.counters.congestion_marks == 0u);
}

BOOST_AUTO_TEST_CASE(a_notification_of_another_partition_is_ignored_silently) {
  Bench bench;
  Packet packet = rc_packet(Operation::acknowledge, 0, pattern(16));
  packet.headers.bth.opcode = wire::kCongestionNotification;
  packet.headers.bth.pkey = wire::Pkey{0xFFFE};
  bench.give(packet, bench.now);
  BOOST_TEST(bench.counters.notifications_handled + bench.counters.notifications_ignored == 0u);
}

// 8 Gbit/s is a byte a nanosecond.
BOOST_AUTO_TEST_CASE(notifications_slow_requests_down) {
  Bench bench;
  bench.post(64 * kMtu);
  const auto packets_in = [&](Nanoseconds span) {
    std::size_t count = 0;
    for (const Time end = bench.now + span; bench.now < end; bench.now += Nanoseconds(kMtu / 4))
      count += bench.leaving().size();
    return count;
  };
  const std::size_t before = packets_in(Nanoseconds(16 * kMtu));
  bench.arrive_notification();
  const std::size_t after = packets_in(Nanoseconds(16 * kMtu));
  BOOST_TEST(before >= 16u);
  BOOST_TEST(before <= 22u);  // those that may leave together
  BOOST_TEST(after >= 6u);
  BOOST_TEST(after <= 10u);
}

// A window that is full lets nothing leave until an acknowledgement comes, which its last packet asks for.
BOOST_AUTO_TEST_CASE(a_full_window_asks_for_an_acknowledgement_and_waits) {
  Bench bench({.algorithm = CongestionAlgorithm::rtt, .line = SendRate::gbps(8)});
  bench.post(64 * kMtu);
  auto sent = bench.leaving();
  BOOST_REQUIRE(sent.size() >= 9);  // 10 us of the line
  BOOST_TEST(sent.size() <= 11u);
  BOOST_TEST(sent.back().headers.bth.ack_request);
  BOOST_TEST(bench.leaving().empty());
  bench.now += std::chrono::microseconds(10);
  bench.arrive(ack(sent.back().headers.bth.psn.value()), false);
  const auto more = bench.leaving();
  BOOST_TEST(more.size() >= 2 * sent.size() - 1);  // the path is longer than it knew
}

// Whatever the window shrinks to, something asks for an acknowledgement.
BOOST_AUTO_TEST_CASE(a_window_that_shrinks_never_stops_for_good) {
  CongestionSettings settings{.algorithm = CongestionAlgorithm::rtt, .line = SendRate::gbps(100)};
  Bench bench(settings);
  for (int message = 0; message < 8; ++message) bench.post(63 * kMtu);
  std::uint32_t acknowledged = 0;
  std::uint32_t last = 0;
  bool asked = false;
  for (int round = 0; round < 20'000 && acknowledged < 8 * 63; ++round) {
    bench.now += std::chrono::microseconds(20);
    for (int i = 0; i < 3; ++i) bench.arrive_notification();
    for (const SentPacket& packet : bench.leaving()) {
      const auto number = (packet.headers.bth.psn.value() - kPsn) & wire::Psn::kMask;
      last = std::max(last, number + 1);
      asked |= packet.headers.bth.ack_request;
    }
    if (!asked) continue;
    asked = false;
    bench.arrive(ack(kPsn + last - 1), false);
    acknowledged = last;
  }
  BOOST_TEST(acknowledged == 8u * 63);
}

// Nobody acknowledges responses to READs: notifications slow them down under every algorithm that takes them.
BOOST_AUTO_TEST_CASE(notifications_slow_read_responses_down) {
  for (const CongestionAlgorithm algorithm : {CongestionAlgorithm::dcqcn, CongestionAlgorithm::rtt}) {
    Bench bench({.algorithm = algorithm, .line = SendRate::gbps(8)});
    const auto responses_in = [&](Nanoseconds span) {
      std::size_t count = 0;
      for (const Time end = bench.now + span; bench.now < end; bench.now += Nanoseconds(kMtu / 4)) {
        if (bench.qp.is_held_back(bench.now)) {
          BOOST_TEST((bench.qp.free_at() > bench.now));
          BOOST_TEST(bench.leaving().empty());
          continue;
        }
        count += bench.leaving().size();
      }
      return count;
    };
    bench.arrive_notification();
    bench.arrive(read_request(kPsn, kBase, kKey, 60 * kMtu), false);
    BOOST_TEST(!bench.qp.is_held_back(bench.now));
    const std::size_t count = responses_in(Nanoseconds(32 * kMtu));
    BOOST_TEST(count >= 14u);  // half of the rate, and those that may leave together
    BOOST_TEST(count <= 22u);
    for (int i = 0; i < 4 && !bench.qp.is_held_back(bench.now); ++i) bench.leaving();
    BOOST_TEST(bench.qp.is_held_back(bench.now));
    // Requests have a pace of their own.
    bench.post(4);
    BOOST_TEST(!bench.qp.is_held_back(bench.now));
    BOOST_TEST(bench.leaving().size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(notifications_do_not_slow_read_responses_down_under_timely) {
  Bench bench({.algorithm = CongestionAlgorithm::timely, .line = SendRate::gbps(8)});
  for (int i = 0; i < 10; ++i) bench.arrive_notification();
  bench.arrive(read_request(kPsn, kBase, kKey, 60 * kMtu), false);
  BOOST_TEST(bench.leaving().size() == 60u);
}

// 8 Gbit/s is a byte a nanosecond; four notifications make it a sixteenth of that.
BOOST_AUTO_TEST_CASE(packets_that_are_sent_again_keep_to_the_rate) {
  Bench bench({.algorithm = CongestionAlgorithm::dcqcn,
               .line = SendRate::gbps(8),
               .dcqcn = {.increase_interval = std::chrono::seconds(1), .increase_bytes = 0}});
  QpParameters parameters = bench.qp.parameters();
  parameters.retry_count = 7;
  bench.qp.modify(QpState::rts, parameters, bench.now);
  bench.post(8 * kMtu);
  for (int i = 0; i < 20; ++i, bench.now += Nanoseconds(4 * kMtu)) bench.leaving();
  for (int i = 0; i < 4; ++i, bench.now += std::chrono::microseconds(50)) bench.arrive_notification();
  bench.arrive(nak(kPsn, wire::NakCode::psn_sequence_error), false);
  std::size_t again = 0;
  for (const Time end = bench.now + Nanoseconds(4 * 16 * kMtu); bench.now < end;
       bench.now += Nanoseconds(kMtu))
    again += bench.leaving().size();
  BOOST_TEST(again >= 3u);
  BOOST_TEST(again <= 5u);
}

// A responder that sends no requests of its own stays in RTR.
BOOST_AUTO_TEST_CASE(a_notification_is_taken_in_rtr) {
  Bench bench;
  QpParameters parameters = bench.qp.parameters();
  bench.qp.modify(QpState::reset, parameters, bench.now);
  bench.qp.modify(QpState::init, parameters, bench.now);
  bench.qp.modify(QpState::rtr, parameters, bench.now);
  bench.arrive_notification();
  BOOST_TEST(bench.counters.notifications_handled == 1u);
  bench.arrive(read_request(kPsn, kBase, kKey, 60 * kMtu), false);
  for (int i = 0; i < 4 && !bench.qp.is_held_back(bench.now); ++i) bench.leaving();
  BOOST_TEST(bench.qp.is_held_back(bench.now));
}

// An engine would look at it again and again.
BOOST_AUTO_TEST_CASE(a_queue_pair_with_nothing_to_send_is_not_held_back) {
  for (const CongestionAlgorithm algorithm : {CongestionAlgorithm::dcqcn, CongestionAlgorithm::rtt}) {
    Bench bench({.algorithm = algorithm, .line = SendRate::gbps(8)});
    BOOST_TEST(!bench.qp.is_held_back(bench.now));
    bench.arrive_notification();
    bench.post(4);
    bench.leaving();
    bench.arrive(ack(kPsn), false);
    BOOST_TEST(!bench.qp.wants_pump());
    BOOST_TEST(!bench.qp.is_held_back(bench.now));
  }
}

BOOST_AUTO_TEST_CASE(read_responses_leave_as_they_come_without_notifications) {
  Bench bench;
  bench.arrive(read_request(kPsn, kBase, kKey, 60 * kMtu), false);
  BOOST_TEST(bench.leaving().size() == 60u);
}

BOOST_AUTO_TEST_CASE(it_may_be_turned_on_and_off_while_packets_are_under_way) {
  Bench bench(CongestionSettings{});
  bench.post(16 * kMtu);
  BOOST_TEST(bench.leaving().size() == 16u);
  bench.qp.set_congestion(kDcqcn, bench.now);
  BOOST_TEST((bench.qp.congestion() != nullptr));
  bench.arrive(ack(kPsn + 15), false);
  bench.post(4);
  BOOST_TEST(bench.leaving().size() == 1u);
  bench.qp.set_congestion({}, bench.now);
  BOOST_TEST((bench.qp.congestion() == nullptr));
  bench.post(16 * kMtu);
  BOOST_TEST(bench.leaving().size() == 16u);
}

BOOST_AUTO_TEST_CASE(a_timeout_and_idleness_are_counted_as_slow_restarts) {
  for (const bool slow : {true, false}) {
    Bench bench({.algorithm = CongestionAlgorithm::dcqcn, .line = SendRate::gbps(8), .slow_restart = slow});
    QpParameters parameters = bench.qp.parameters();
    parameters.timeout = 8;
    parameters.retry_count = 7;
    bench.qp.modify(QpState::rts, parameters, bench.now);
    bench.post(4);
    bench.leaving();
    bench.arrive(ack(kPsn), false);
    bench.now += std::chrono::milliseconds(11);
    bench.post(4);
    bench.leaving();
    BOOST_TEST(bench.counters.slow_restarts == (slow ? 1u : 0u));
    // The rate has come back when the answer is overdue.
    bench.now += std::chrono::seconds(10);
    bench.qp.on_timer(bench.now);
    BOOST_TEST(bench.counters.local_ack_timeout == 1u);
    BOOST_TEST(bench.counters.slow_restarts == (slow ? 2u : 0u));
  }
}

BOOST_AUTO_TEST_SUITE_END()
