// A flood of congestion notifications, a million a second of virtual time: from the peer's address they slow
// down the queue pair that they name, and no other; from elsewhere they do nothing.
#include <boost/test/unit_test.hpp>

#include "tests/unit/engine/program.hpp"
#include "wire/congestion_notification.hpp"
#include "wire/frame.hpp"

namespace urnic::engine::test {
namespace {

using transport::CongestionAlgorithm;
using transport::CongestionSettings;
using transport::SendRate;
using namespace std::chrono_literals;

constexpr std::uint32_t kMessage = 16 * 1024;
constexpr std::uint32_t kUnderWay = 16;  // messages of each queue pair
constexpr SendRate kLeast = SendRate::mbps(200);
constexpr transport::Nanoseconds kFlood = 5ms;

constexpr CongestionSettings settings(CongestionAlgorithm algorithm) {
  return {.algorithm = algorithm, .line = SendRate::gbps(10), .least = kLeast};
}

// A sender without end, and what it has sent.
struct Stream {
  Stream(Program& from, Program& to, std::uint32_t doorbell, CongestionAlgorithm algorithm)
      : program(from), target(to), sender(from, doorbell, {}), receiver(to, doorbell, {}) {
    Fabric::connect(sender, receiver);
    from.engine.execute([&] { sender.device_end().set_congestion(settings(algorithm)); });
    for (std::uint32_t i = 0; i < kUnderWay; ++i) post();
  }

  void post() { post_write(sender, program, target, kMessage); }
  void go_on() {
    while (const auto entry = sender.send_cq.poll()) {
      failed |= entry->status != 0;
      ++messages;
      post();
    }
  }

  Program& program;
  Program& target;
  TestQp sender;
  TestQp receiver;
  std::uint64_t messages = 0;
  bool failed = false;
};

// Sends packets to device 0 as if they came by a wire.
struct Stranger : link::FrameReceiver {
  void arrive(const wire::Frame&, const link::PacketOrigin&) override {}
};

struct Flood : Fabric {
  Flood() {
    for (const std::uint32_t device : {0u, 1u})
      frame_switch.link(device).configure(link::Direction::transmit, {.delay = 5us});
  }

  // From the address of device 1, as somebody who forges it.
  void notify(wire::Qpn to) {
    wire::FrameStorage storage;
    const wire::Frame frame =
        wire::encode(path(device1, device0), wire::congestion_notification(wire::Pkey{0xFFFF}, to),
                     wire::kNotificationPayload, storage);
    port.transmit(frame,
                  {.identity = {0x80000000, 0, ++notifications},
                   .queue_pair = link::kUnknownQpn,
                   .selective_acks = transport::SelectiveAcks::outside,
                   .device = device1.config().mac},
                  engine.data_path().now());
  }

  // For kFlood, with or without a notification each microsecond.
  void let_run(Stream& victim, Stream& bystander, bool flooded, wire::Qpn to) {
    for (transport::Nanoseconds passed{0}; passed < kFlood; passed += 1us) {
      if (flooded) notify(to);
      advance(1us);
      victim.go_on();
      bystander.go_on();
    }
  }

  Stranger stranger;
  link::Port& port = frame_switch.attach({{2, 0, 0, 0, 0, 0x99}}, stranger, "stranger");
  std::uint64_t notifications = 0;
};

struct Told {
  std::uint64_t victim, bystander;  // messages
};

// A fabric of its own each time: so the runs are alike to the nanosecond.
template <typename Target>
Told run_flood(CongestionAlgorithm algorithm, bool flooded, const Target& target) {
  Flood fabric;
  Stream victim(fabric.program0, fabric.program1, 0, algorithm);
  Stream bystander(fabric.program0, fabric.program1, 1, algorithm);
  const wire::Qpn to = target(victim);
  fabric.let_run(victim, bystander, flooded, to);
  const std::uint64_t before[] = {victim.messages, bystander.messages};
  fabric.let_run(victim, bystander, flooded, to);
  BOOST_TEST(!victim.failed);
  BOOST_TEST(!bystander.failed);
  BOOST_TEST(fabric.device0.port_counters().wrong_origin == 0u);
  return {victim.messages - before[0], bystander.messages - before[1]};
}

double gbps(std::uint64_t messages) { return SendRate::of(messages * kMessage, kFlood).gbps(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(notification_flood)

BOOST_AUTO_TEST_CASE(it_slows_one_queue_pair_to_the_least_rate_and_no_other) {
  for (const auto algorithm : {CongestionAlgorithm::dcqcn, CongestionAlgorithm::rtt}) {
    BOOST_TEST_CONTEXT("algorithm " << static_cast<int>(algorithm)) {
      const auto victim = [](Stream& stream) { return stream.sender.qpn(); };
      const Told quiet = run_flood(algorithm, false, victim);
      const Told flooded = run_flood(algorithm, true, victim);
      BOOST_TEST(quiet.bystander > 100u);
      BOOST_TEST(flooded.bystander == quiet.bystander);
      BOOST_TEST(quiet.victim > 100u);
      BOOST_TEST(flooded.victim < quiet.victim / 10);
      // A message more or less, and headers.
      BOOST_TEST(gbps(flooded.victim + 1) > 0.9 * kLeast.gbps());
    }
  }
}

BOOST_AUTO_TEST_CASE(to_a_number_that_no_queue_pair_has_it_does_nothing) {
  const auto nobody = [](Stream&) { return wire::Qpn{0xABCDEF}; };
  const Told quiet = run_flood(CongestionAlgorithm::dcqcn, false, nobody);
  const Told flooded = run_flood(CongestionAlgorithm::dcqcn, true, nobody);
  BOOST_TEST(flooded.victim == quiet.victim);
  BOOST_TEST(flooded.bystander == quiet.bystander);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
