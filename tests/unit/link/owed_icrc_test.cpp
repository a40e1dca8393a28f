// The ICRC of a frame that stays in the process: made where somebody looks, and nowhere else.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <ostream>

#include "device_model/link/fault_hook.hpp"
#include "device_model/link/link.hpp"
#include "device_model/link/trunk.hpp"
#include "tests/unit/link/sample_frames.hpp"

namespace urnic::link::test {
namespace owed_icrc {

constexpr Load kEverything{100, 1 << 20};
constexpr std::uint8_t kElsewhere = 9;
// Of the sample frame: Ethernet, IPv4, UDP, BTH, payload, ICRC.
constexpr std::size_t kPayload = 64;
constexpr std::size_t kFrame = 14 + 20 + 8 + 12 + kPayload + 4;

// As a device is: it looks at no ICRC that is owed.
struct TrustingReceiver final : FrameReceiver {
  std::uint32_t right = 0;
  std::uint32_t owing = 0;
  void arrive(const wire::Frame& frame, const PacketOrigin&) override {
    wire::ParsedFrame parsed;
    right += wire::parse(frame, parsed) == wire::ParseError::none;
    owing += frame.owed_icrc != nullptr;
  }
  bool takes_owed_icrc() const override { return true; }
};

struct Idle final : FaultHook {
  void judge(const PacketAtLink& packet, transport::Time, Verdict&) override {
    wire::ParsedFrame parsed;
    right += wire::parse(bytes_of(packet.frame), parsed) == wire::ParseError::none;
  }
  std::uint32_t right = 0;
};

struct TwoDevices {
  transport::Time now{transport::Nanoseconds(1'000'000)};
  Switch frame_switch;
  TrustingReceiver receivers[2];
  Port& port = frame_switch.attach(mac_of(0), receivers[0], "urnic0");
  Port& other = frame_switch.attach(mac_of(1), receivers[1], "urnic1");
  Trunk trunk{nullptr};
  RememberingReceiver distrusting;
  RememberingObserver observer;
  Idle faults;

  // As a capture that keeps so many bytes of a frame.
  void observe_first(std::size_t bytes) {
    observer.bytes = bytes;
    frame_switch.add_observer(observer);
  }
  bool takes_in_place(const wire::MacAddress& to) const {
    wire::NetworkHeaders path;
    path.destination_mac = to;
    return port.in_place_from(path) <= kPayload;
  }

  TwoDevices() { frame_switch.attach_remote(mac_of(kElsewhere), trunk, "elsewhere"); }

  // Whether its ICRC was made when it has arrived.
  bool is_paid_after_sending(const SampleFrame& frame) {
    port.transmit(frame.frame(), {{0, 1, 1}, wire::Qpn{0x11}, wire::Psn(100)}, now);
    now += transport::Nanoseconds(1'000'000);
    frame_switch.deliver_due(now, kEverything);
    frame_switch.release();
    return frame.is_paid();
  }
};

struct Case {
  const char* what;
  std::function<void(TwoDevices&)> prepare;
  bool paid;      // by the frame that was sent, and not by a copy
  bool in_place;  // the receiver alone reads its payload
};
std::ostream& operator<<(std::ostream& stream, const Case& one) { return stream << one.what; }

const std::vector<Case> kCases{
    {"a perfect wire", [](TwoDevices&) {}, false, true},
    {"a link that loses",
     [](TwoDevices& all) { all.frame_switch.link(0).configure(Direction::transmit, {.loss = 1e-9}); }, false,
     true},
    {"a link that loses in bursts",
     [](TwoDevices& all) { all.frame_switch.link(1).configure(Direction::receive, {.burst_start = 1e-9}); },
     false, true},
    {"a link that delays what is sent",
     [](TwoDevices& all) {
       all.frame_switch.link(0).configure(Direction::transmit, {.delay = transport::Nanoseconds(1000)});
     },
     false, false},
    {"a link that delays what arrives",
     [](TwoDevices& all) {
       all.frame_switch.link(1).configure(Direction::receive, {.delay = transport::Nanoseconds(1000)});
     },
     false, false},
    {"a capture", [](TwoDevices& all) { all.frame_switch.add_observer(all.observer); }, true, false},
    {"a capture that ends before the ICRC", [](TwoDevices& all) { all.observe_first(kPayload); }, false,
     true},
    {"a capture that ends in the ICRC", [](TwoDevices& all) { all.observe_first(kFrame - 3); }, true, false},
    {"a fault plan", [](TwoDevices& all) { all.frame_switch.link(0).set_faults(&all.faults); }, true, false},
};

}  // namespace owed_icrc

BOOST_AUTO_TEST_SUITE(owed_icrc)

BOOST_AUTO_TEST_CASE(it_is_made_where_somebody_looks) {
  for (const Case& one : kCases) {
    BOOST_TEST_CONTEXT(one) {
      TwoDevices all;
      one.prepare(all);
      const SampleFrame frame({}, wire::Icrc::owed);
      BOOST_TEST(all.is_paid_after_sending(frame) == one.paid);
      BOOST_TEST(all.receivers[1].right == 1u);
    }
  }
}

// Payload stays where it is only if nobody reads it on the way.
BOOST_AUTO_TEST_CASE(a_port_says_where_nobody_looks) {
  for (const Case& one : kCases) {
    BOOST_TEST_CONTEXT(one) {
      TwoDevices all;
      BOOST_TEST(all.takes_in_place(mac_of(1)));
      BOOST_TEST(all.takes_in_place(mac_of(0)));
      one.prepare(all);
      BOOST_TEST(all.takes_in_place(mac_of(1)) == one.in_place);
    }
  }
  TwoDevices all;
  all.frame_switch.attach(mac_of(2), all.distrusting, "urnic2");
  BOOST_TEST(!all.takes_in_place(mac_of(2)));
  BOOST_TEST(!all.takes_in_place(mac_of(kElsewhere)));
  BOOST_TEST(!all.takes_in_place(mac_of(77)));
}

// Behind frames that are under way another one may have to wait.
BOOST_AUTO_TEST_CASE(nor_may_it_wait_for_frames_under_way) {
  TwoDevices all;
  Link& link = all.frame_switch.link(0);
  link.configure(Direction::transmit, {.delay = transport::Nanoseconds(1000)});
  const SampleFrame frame({}, wire::Icrc::owed);
  all.port.transmit(frame.frame(), {{0, 1, 1}, wire::Qpn{0x11}, wire::Psn(100)}, all.now);
  link.configure(Direction::transmit, {});
  BOOST_TEST(!all.takes_in_place(mac_of(1)));
  all.frame_switch.deliver_due(all.now + transport::Nanoseconds(1000), kEverything);
  BOOST_TEST(all.takes_in_place(mac_of(1)));
}

BOOST_AUTO_TEST_CASE(all_who_look_see_it_right) {
  TwoDevices all;
  all.frame_switch.add_observer(all.observer);
  all.frame_switch.link(1).set_faults(&all.faults);
  all.is_paid_after_sending(SampleFrame({}, wire::Icrc::owed));
  BOOST_TEST(all.faults.right == 1u);
  BOOST_REQUIRE_EQUAL(all.observer.all.size(), 2u);
  wire::ParsedFrame ignored;
  for (const auto& seen : all.observer.all)
    BOOST_TEST((wire::parse(seen.bytes, ignored) == wire::ParseError::none));
}

// A copy of it does not owe: what happens to the copy would go unseen.
BOOST_AUTO_TEST_CASE(a_copy_that_was_changed_on_its_way_is_seen) {
  TwoDevices all;
  all.frame_switch.link(0).configure(Direction::transmit, {.corrupt = 1.0});
  all.is_paid_after_sending(SampleFrame({}, wire::Icrc::owed));
  BOOST_TEST(all.receivers[1].right == 0u);
  BOOST_TEST(all.receivers[1].owing == 0u);
}

BOOST_AUTO_TEST_CASE(who_does_not_say_that_it_trusts_gets_none_that_owes) {
  TwoDevices all;
  all.frame_switch.attach(mac_of(2), all.distrusting, "urnic2");
  BOOST_TEST(all.is_paid_after_sending(SampleFrame({.to = 2}, wire::Icrc::owed)));
  BOOST_REQUIRE_EQUAL(all.distrusting.arrivals.size(), 1u);
  BOOST_TEST((all.distrusting.arrivals[0].error == wire::ParseError::none));
}

BOOST_AUTO_TEST_CASE(another_engine_gets_it_made) {
  TwoDevices all;
  BOOST_TEST(all.is_paid_after_sending(SampleFrame({.to = kElsewhere}, wire::Icrc::owed)));
  BOOST_REQUIRE(all.trunk.publish());
  const Trunk::Passenger* const passenger = all.trunk.take();
  BOOST_REQUIRE(passenger != nullptr);
  BOOST_TEST(passenger->frame.owed_icrc == nullptr);
  wire::ParsedFrame parsed;
  BOOST_TEST((wire::parse(passenger->frame, parsed) == wire::ParseError::none));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
