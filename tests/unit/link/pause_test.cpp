// Priority flow control: queues that pause the devices that feed them, in virtual time.
#include "device_model/link/pause.hpp"

#include <boost/test/unit_test.hpp>
#include <deque>
#include <initializer_list>
#include <optional>

#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {

namespace pauses {

using transport::Nanoseconds;
using transport::Time;

constexpr Time kStart{Nanoseconds(1'000'000)};

PacketIdentity packet(std::uint64_t count) { return {0, 1, count}; }
std::int64_t after_start(Time time) { return (time - kStart).count(); }

// Packets of 976 bytes take 1000 ns: 24 bytes more are Ethernet's.
constexpr LinkSettings kQueue{.rate_gbps = 8, .pfc = true, .pfc_xoff_bytes = 2 * 976, .pfc_xon_bytes = 976};

// Devices that send as long as the port lets them, all at a byte a nanosecond.
struct Incast {
  static constexpr std::uint8_t kDevices = 5;
  static constexpr std::uint8_t kCongested = 3;
  static constexpr std::uint8_t kFree = 4;
  static constexpr std::size_t kLeast = 256;
  struct Sender {
    std::uint8_t from;
    std::vector<std::uint8_t> to;  // in turn
    std::uint32_t packets;         // to each
  };

  Time now = kStart;
  Switch frame_switch;
  std::deque<RememberingReceiver> receivers{kDevices};
  std::vector<Port*> ports;
  std::vector<Sender> senders;
  std::uint64_t sent = 0;
  Time last_arrival_at_free{};

  explicit Incast(bool pfc, std::uint64_t buffer_bytes = 0) {
    frame_switch.buffer().configure({.bytes = buffer_bytes, .alpha = 8});
    ports.reserve(kDevices);
    for (std::uint8_t i = 0; i < kDevices; ++i) {
      ports.push_back(&frame_switch.attach(mac_of(i), receivers[i], "urnic" + std::to_string(i)));
      for (const auto direction : {Direction::transmit, Direction::receive})
        frame_switch.link(i).configure(direction, {.rate_gbps = 8,
                                                   .delay = Nanoseconds(500),
                                                   .pfc = pfc,
                                                   .pfc_xoff_bytes = 20'000,
                                                   .pfc_xon_bytes = 10'000});
    }
  }

  // Devices that send so many packets each to the congested one.
  void add(std::initializer_list<std::uint8_t> devices, std::uint32_t packets) {
    senders.reserve(senders.size() + devices.size());
    for (const std::uint8_t device : devices) senders.push_back({device, {kCongested}, packets});
  }

  bool pump(Sender& sender) {
    Port& port = *ports[sender.from];
    bool any = false;
    while (sender.packets != 0 && port.room(now, kLeast) >= kLeast) {
      for (const std::uint8_t to : sender.to) {
        const SampleFrame frame({.from = sender.from, .to = to}, wire::Icrc::owed);
        port.transmit(frame.frame(), {{sender.from, 1, ++sent}, wire::Qpn{0x11}, wire::Psn(100)}, now);
      }
      --sender.packets;
      any = true;
    }
    return any;
  }

  // Until everything has been sent and is there or dropped; from one event to the next.
  void run() {
    for (;;) {
      const std::size_t arrived = receivers[kFree].arrivals.size();
      frame_switch.deliver_due(now, {100'000, 1 << 30});
      frame_switch.release();
      if (receivers[kFree].arrivals.size() != arrived) last_arrival_at_free = now;
      std::optional<Time> next;
      for (Sender& sender : senders) {
        pump(sender);
        if (sender.packets == 0) continue;
        const Time room_at = ports[sender.from]->room_at(kLeast);
        next = next ? std::min(*next, room_at) : room_at;
      }
      const auto due = frame_switch.next_due();
      if (due && (!next || *due < *next)) next = due;
      if (!next) return;
      BOOST_REQUIRE((*next >= now));
      now = *next;
    }
  }
  LinkCounters counters(std::uint32_t device) {
    return frame_switch.link(device).channel(Direction::receive).counters();
  }
  std::uint64_t drops() {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < kDevices; ++i)
      for (const auto direction : {Direction::transmit, Direction::receive})
        for (const std::uint64_t drops : frame_switch.link(i).channel(direction).counters().dropped)
          sum += drops;
    return sum;
  }
};

}  // namespace pauses

BOOST_AUTO_TEST_SUITE(pauses)

BOOST_AUTO_TEST_CASE(a_pause_grows_and_never_shrinks) {
  Pause pause;
  const auto at = [](std::int64_t after) { return kStart + Nanoseconds(after); };
  BOOST_TEST((pause.end() <= kStart));
  pause.prolong(at(0), at(100));
  pause.prolong(at(50), at(120));
  pause.prolong(at(60), at(80));
  BOOST_TEST(after_start(pause.end()) == 120);
  BOOST_TEST(pause.count() == 1);
  BOOST_TEST(pause.duration().count() == 120);
  pause.prolong(at(120), at(150));
  BOOST_TEST(pause.count() == 2);
  BOOST_TEST(pause.duration().count() == 150);
}

BOOST_AUTO_TEST_CASE(a_queue_has_shrunk_when_what_is_too_much_has_left) {
  EgressQueue queue({.rate_gbps = 8});
  BOOST_TEST((queue.shrunk_at(0) <= kStart));
  for (const std::uint32_t bytes : {976u, 476u, 76u}) queue.accept(kStart, bytes);  // 1000, 500, 100 ns
  BOOST_TEST((queue.shrunk_at(1528) <= kStart));
  BOOST_TEST(after_start(queue.shrunk_at(1527)) == 1000);
  BOOST_TEST(after_start(queue.shrunk_at(552)) == 1000);
  BOOST_TEST(after_start(queue.shrunk_at(551)) == 1500);
  BOOST_TEST(after_start(queue.shrunk_at(75)) == 1600);
  BOOST_TEST(after_start(queue.shrunk_at(0)) == 1600);
  BOOST_TEST(queue.bytes(kStart + Nanoseconds(1000)) == 552);
  BOOST_TEST((queue.shrunk_at(552) <= kStart));
  BOOST_TEST(after_start(queue.shrunk_at(551)) == 1500);
}

BOOST_AUTO_TEST_CASE(a_queue_above_xoff_pauses_who_feeds_it_until_xon) {
  LinkDirection link(kQueue, 0, Direction::receive);
  Pause first;
  Pause second;
  link.enter(kStart, 976, packet(1), &first);
  link.enter(kStart, 976, packet(2), &first);
  BOOST_TEST((first.end() <= kStart));
  link.enter(kStart, 976, packet(3), &first);
  BOOST_TEST(after_start(first.end()) == 2000);
  // Who does not feed it now is not paused; whoever feeds it makes it longer for all.
  BOOST_TEST((second.end() <= kStart));
  const Time later = kStart + Nanoseconds(500);
  link.enter(later, 976, packet(4), &second);
  BOOST_TEST(after_start(first.end()) == 3000);
  BOOST_TEST(after_start(second.end()) == 3000);
  link.enter(later, 976, packet(5), nullptr);
  BOOST_TEST(after_start(first.end()) == 4000);
  // Between xoff and xon the pause lasts, whoever sends.
  link.enter(kStart + Nanoseconds(3999), 76, packet(6), nullptr);
  BOOST_TEST(after_start(first.end()) == 5000);
  BOOST_TEST(first.count() == 1);
  BOOST_TEST(first.duration().count() == 5000);
  BOOST_TEST(second.duration().count() == 4500);
  BOOST_TEST(link.back_pressure().caused() == 2);
}

BOOST_AUTO_TEST_CASE(a_queue_that_has_shrunk_pauses_nobody_until_it_is_above_xoff_again) {
  LinkDirection link(kQueue, 0, Direction::receive);
  Pause first;
  Pause second;
  for (std::uint64_t i = 1; i <= 3; ++i) link.enter(kStart, 976, packet(i), &first);
  const Time shrunk = kStart + Nanoseconds(2000);
  link.enter(shrunk, 976, packet(4), &second);
  BOOST_TEST((second.end() <= kStart));
  BOOST_TEST((first.end() == shrunk));
  link.enter(shrunk, 976, packet(5), &second);
  BOOST_TEST(after_start(second.end()) == 4000);
  BOOST_TEST((first.end() == shrunk));
}

BOOST_AUTO_TEST_CASE(only_a_queue_with_pfc_towards_a_device_pauses) {
  LinkSettings off = kQueue;
  off.pfc = false;
  LinkDirection without(off, 0, Direction::receive);
  LinkDirection own(kQueue, 0, Direction::transmit);
  Pause pause;
  for (std::uint64_t i = 1; i <= 9; ++i) {
    without.enter(kStart, 976, packet(i), &pause);
    own.enter(kStart, 976, packet(i), &pause);
  }
  BOOST_TEST(pause.count() == 0);
}

BOOST_AUTO_TEST_CASE(a_paused_line_takes_nothing_and_lets_nothing_leave) {
  Pause pause;
  pause.prolong(kStart, kStart + Nanoseconds(700));
  for (const double rate : {0.0, 8.0}) {
    LinkDirection link({.rate_gbps = rate, .pfc = true}, 0, Direction::transmit);
    link.obey(pause);
    const Nanoseconds ahead(10'000);
    BOOST_TEST(link.room(kStart + Nanoseconds(699), ahead, 256) == 0);
    BOOST_TEST(link.room(kStart + Nanoseconds(700), ahead, 256) >= 10'000);
    BOOST_TEST(after_start(link.room_at(ahead, 256)) == 700);
    // What is sent without asking, such as acknowledgements, waits and keeps its order.
    const std::int64_t taken = rate == 0 ? 0 : 1000;
    BOOST_TEST(after_start(link.enter(kStart, 976, packet(1)).due) == 700 + taken);
    BOOST_TEST(after_start(link.enter(kStart, 976, packet(2)).due) == 700 + 2 * taken);
    BOOST_TEST(after_start(link.enter(kStart + Nanoseconds(5000), 976, packet(3)).due) == 5000 + taken);
  }
  LinkDirection deaf({}, 0, Direction::transmit);
  deaf.obey(pause);
  BOOST_TEST(deaf.room(kStart, Nanoseconds(100), 256) > 1'000'000);
  BOOST_TEST(after_start(deaf.enter(kStart, 976, packet(1)).due) == 0);
}

BOOST_AUTO_TEST_CASE(what_waits_for_the_end_of_a_pause_is_in_the_queue) {
  EgressQueue queue({.rate_gbps = 8});
  queue.accept(kStart, 976);
  const Time later = kStart + Nanoseconds(2000);
  queue.hold(later, later + Nanoseconds(700));
  BOOST_TEST(queue.bytes(later) == 0);
  queue.accept(later, 76);
  BOOST_TEST(queue.bytes(later) == 76);
  BOOST_TEST(queue.waiting(later) == 1);
  BOOST_TEST(queue.bytes(later + Nanoseconds(799)) == 76);
  BOOST_TEST(queue.bytes(later + Nanoseconds(800)) == 0);
}

// Three lines into one: two thirds of what is sent has to wait, and the queue has room for a part of it.
BOOST_AUTO_TEST_CASE(with_pauses_an_incast_loses_nothing) {
  for (const bool pfc : {false, true}) {
    Incast incast(pfc);
    incast.add({0, 1, 2}, 2000);
    incast.run();
    if (!pfc) {
      BOOST_TEST(incast.counters(Incast::kCongested).drops(DropCause::queue_full) > 1000);
      BOOST_TEST(incast.counters(0).pauses == 0);
      continue;
    }
    BOOST_TEST(incast.drops() == 0);
    BOOST_TEST(incast.receivers[Incast::kCongested].arrivals.size() == 6000);
    // The line to the receiver is never idle: 146 ns a packet, and once the way there.
    const std::int64_t taken = after_start(incast.now);
    BOOST_TEST(taken >= 6000 * 146);
    BOOST_TEST(taken < 6000 * 146 + 2000);
    const LinkCounters counters = incast.counters(0);
    BOOST_TEST(counters.pauses > 1);
    BOOST_TEST(counters.paused.count() > taken / 3);
    BOOST_TEST(counters.paused.count() < taken);
    BOOST_TEST(incast.counters(Incast::kCongested).pauses == 0);
    BOOST_TEST(incast.counters(Incast::kCongested).pauses_caused >= 3 * counters.pauses / 2);
  }
}

// What is under way when the pause begins needs its place.
BOOST_AUTO_TEST_CASE(pauses_without_enough_memory_do_not_help) {
  for (const std::uint64_t bytes : {25'000, 200'000}) {
    Incast incast(true, bytes);
    incast.add({0, 1, 2}, 2000);
    incast.run();
    const std::uint64_t drops = incast.counters(Incast::kCongested).drops(DropCause::shared_buffer_full);
    BOOST_TEST((drops > 0) == (bytes < 30'000));
    BOOST_TEST(incast.receivers[Incast::kCongested].arrivals.size() + drops == 6000);
  }
}

// Head-of-line blocking: what device 0 sends to a free receiver waits for a queue that it does not pass.
BOOST_AUTO_TEST_CASE(a_paused_device_sends_nothing_to_others_either) {
  std::int64_t taken[2];
  for (const bool pfc : {false, true}) {
    Incast incast(pfc);
    incast.senders.push_back({0, {Incast::kCongested, Incast::kFree}, 2000});
    incast.add({1, 2}, 4000);
    incast.run();
    BOOST_TEST(incast.receivers[Incast::kFree].arrivals.size() == 2000);
    taken[pfc] = after_start(incast.last_arrival_at_free);
  }
  BOOST_TEST(taken[0] < 2 * 2000 * 146 + 2000);  // half of the line
  BOOST_TEST(taken[1] > taken[0] * 5 / 4);
}

BOOST_AUTO_TEST_CASE(settings_that_change_keep_pauses_and_their_counts) {
  Incast incast(true);
  incast.add({0, 1}, 500);
  incast.run();
  const LinkCounters before = incast.counters(Incast::kCongested);
  BOOST_TEST(before.pauses_caused > 0);
  incast.frame_switch.link(Incast::kCongested).configure(Direction::receive, {.rate_gbps = 1, .pfc = true});
  incast.frame_switch.link(0).configure(Direction::transmit, {.pfc = true});
  BOOST_TEST(incast.counters(Incast::kCongested).pauses_caused == before.pauses_caused);
  incast.frame_switch.pause(0).prolong(incast.now, incast.now + Nanoseconds(10));
  BOOST_TEST(incast.ports[0]->room(incast.now, 256) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
