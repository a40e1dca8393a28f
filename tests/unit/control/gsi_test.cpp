// Queue pair 1 on the control thread: where MADs go, and the answers to those that nobody takes.
#include "device_model/control/gsi/gsi.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <deque>
#include <thread>

#include "device_model/control/sysfs/counter_values.hpp"
#include "device_model/subnet/manager/sweep.hpp"
#include "tests/unit/subnet/pkey_table.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/performance.hpp"

namespace urnic::control::test {

namespace {

using wire::mad::Mad;
using wire::mad::MadHeader;
using wire::mad::MadStatus;
using wire::mad::ManagementClass;
using wire::mad::Method;

constexpr std::uint8_t kVendorClass = 0x32;

struct Taken {
  const ServedDevice* device;
  GsiAddress from;
  Mad mad;
};

// Two devices, their engine's thread, and the loop on the test's.
struct Managed {
  EventLoop loop;
  Fabric fabric;
  Gsi gsi{loop, fabric};
  Timer give_up{loop, [this] { loop.stop(); }};
  ServedDevice& first = *fabric.devices()[0];
  ServedDevice& second = *fabric.devices()[1];
  std::deque<Taken> taken;

  Managed() : Managed(default_configuration()) {}
  explicit Managed(const Configuration& configuration) : fabric(configuration) { fabric.start(); }

  Gsi::Handler keep() {
    return [this](ServedDevice& device, const GsiAddress& from, MadBytes mad) {
      Taken& entry = taken.emplace_back(Taken{&device, from, {}});
      std::copy(mad.begin(), mad.end(), entry.mad.begin());
      loop.stop();
      return true;
    };
  }
  // Runs the loop until a handler has stopped it. False: none did for `patience`.
  bool wait(std::chrono::milliseconds patience = std::chrono::seconds(10)) {
    const std::size_t before = taken.size();
    give_up.set(patience);
    loop.run();
    return taken.size() != before;
  }
  static wire::Gid address(const ServedDevice& device) { return device.settings.gids.back(); }
  GsiAddress to_second() const { return {.own = address(first), .peer = address(second)}; }
  static Mad mad(std::uint8_t management_class, Method method, std::uint16_t attribute = 0) {
    Mad bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    wire::mad::encode(MadHeader{.management_class = static_cast<ManagementClass>(management_class),
                                .class_version = 1,
                                .method = method,
                                .transaction = {77},
                                .attribute = {attribute}},
                      bytes);
    return bytes;
  }
  static MadHeader header(const Mad& bytes) {
    MadHeader result;
    BOOST_TEST((wire::mad::decode(bytes, result) == wire::mad::MadError::none));
    return result;
  }
  template <class Attribute>
  Attribute ask(const Attribute& question, Method method = Method::get) {
    const Mad bytes = wire::mad::encode(question, MadHeader{.method = method, .transaction = {5}});
    BOOST_TEST((gsi.send(first, to_second(), bytes) == GsiSent::sent));
    BOOST_REQUIRE(wait());
    Attribute answer;
    BOOST_TEST((wire::mad::decode(taken.back().mad, answer) == wire::mad::MadError::none));
    BOOST_TEST((header(taken.back().mad).method == Method::get_response));
    BOOST_TEST(header(taken.back().mad).transaction.value == 5u);
    return answer;
  }
};

// Of InfiniBand, in two partitions.
struct Partitioned : Managed {
  Partitioned() : Managed(infiniband_configuration()) {
    subnet::sweep(fabric.subnet());
    for (const ServedDevice* const device : {&first, &second})
      subnet::test::write_pkeys(fabric.subnet(), *device->adapter, {0x7FFF, 0x8001});
    fabric.subnet_changed();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(general_service_interface, Managed)

BOOST_AUTO_TEST_CASE(a_mad_goes_to_the_handler_of_its_class_and_the_answer_back) {
  std::deque<Taken> requests;
  gsi.on_class(kVendorClass, 1, [&](ServedDevice& device, const GsiAddress& from, MadBytes bytes) {
    requests.push_back({&device, from, {}});
    return gsi.send(device, from, Mad(mad(kVendorClass + 1, Method::get_response))) == GsiSent::sent &&
           bytes[255] == std::byte{255};
  });
  gsi.on_class(kVendorClass + 1, 1, keep());
  for (const std::size_t index : {std::size_t{0}, first.settings.gids.size() - 1}) {
    const GsiAddress to{.own = first.settings.gids[index], .peer = second.settings.gids[index]};
    BOOST_TEST((gsi.send(first, to, mad(kVendorClass, Method::send)) == GsiSent::sent));
    BOOST_REQUIRE(wait());
    BOOST_TEST(requests.back().device == &second);
    BOOST_TEST((requests.back().from.own == to.peer));
    BOOST_TEST((requests.back().from.peer == to.own));
    BOOST_TEST((requests.back().from.peer_mac == first.settings.mac));
    BOOST_TEST(requests.back().from.peer_qpn.value == 1u);
    BOOST_TEST(taken.back().device == &first);
    BOOST_TEST((taken.back().from.peer == to.peer));
  }
}

// The answer has the VLAN and the priority of the request (Linux: ib_init_ah_attr_from_wc).
BOOST_AUTO_TEST_CASE(a_mad_of_a_vlan_is_answered_there) {
  for (ServedDevice* const device : {&first, &second}) {
    device->settings.vlans[device->settings.gids.size() - 1] = 5;
    fabric.gids_changed(*device);
  }
  gsi.on_class(kVendorClass, 1, [&](ServedDevice& device, const GsiAddress& from, MadBytes) {
    return gsi.send(device, from, Mad(mad(kVendorClass + 1, Method::get_response))) == GsiSent::sent;
  });
  gsi.on_class(kVendorClass + 1, 1, keep());
  GsiAddress to = to_second();
  to.service_level = 3;
  BOOST_TEST((gsi.send(first, to, mad(kVendorClass, Method::send)) == GsiSent::sent));
  BOOST_REQUIRE(wait());
  BOOST_TEST(taken.back().from.service_level == 3);
  to.own = first.settings.gids.front();
  BOOST_TEST((gsi.send(first, to, mad(kVendorClass, Method::send)) == GsiSent::bad_address));
  to.peer = second.settings.gids.front();
  BOOST_TEST((gsi.send(first, to, mad(kVendorClass, Method::send)) == GsiSent::sent));
  BOOST_REQUIRE(wait());
  BOOST_TEST(taken.back().from.service_level == 0);
}

// While the engine rests, the control thread delivers what it sends.
BOOST_AUTO_TEST_CASE(what_arrives_during_a_look_needs_no_turn_of_the_loop) {
  unsigned arrived = 0;
  gsi.on_class(kVendorClass, 1, [&](ServedDevice& device, const GsiAddress&, MadBytes) {
    ++arrived;
    return &device == &second;
  });
  for (int tries = 0; tries < 1000 && arrived == 0; ++tries) {
    Gsi::Look look(gsi);
    // On a busy machine the engine may not have run for a while, and its ring may be full.
    const GsiSent sent = gsi.send(first, to_second(), mad(kVendorClass, Method::send));
    BOOST_TEST((sent == GsiSent::sent || sent == GsiSent::busy));
    if (sent == GsiSent::busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    look.take();
  }
  BOOST_TEST(arrived > 0u);
}

BOOST_AUTO_TEST_CASE(what_a_look_has_not_taken_is_left_to_the_loop) {
  gsi.on_class(kVendorClass, 1, keep());
  for (int i = 0; i < 3; ++i) {
    {
      const Gsi::Look look(gsi);
      BOOST_TEST((gsi.send(first, to_second(), mad(kVendorClass, Method::send)) == GsiSent::sent));
    }
    BOOST_TEST(wait());
    BOOST_TEST((gsi.send(first, to_second(), mad(kVendorClass, Method::send)) == GsiSent::sent));
    BOOST_TEST(wait());
  }
}

BOOST_AUTO_TEST_CASE(a_get_that_nobody_takes_is_answered_as_linux_does) {
  gsi.on_other(keep());
  for (const Method method : {Method::get, Method::set}) {
    // The first of both devices to see it is the second; its own `on_other` must not take it.
    gsi.on_other([this, kept = keep()](ServedDevice& device, const GsiAddress& from, MadBytes bytes) {
      return &device == &first && kept(device, from, bytes);
    });
    const Mad question = mad(kVendorClass, method);
    gsi.send(first, to_second(), question);
    BOOST_REQUIRE(wait());
    const MadHeader answer = header(taken.back().mad);
    BOOST_TEST((answer.method == Method::get_response));
    BOOST_TEST((answer.status == MadStatus::unsupported_method_and_attribute));
    BOOST_TEST(answer.transaction.value == 77u);
    BOOST_TEST(std::equal(question.begin() + 24, question.end(), taken.back().mad.begin() + 24));
  }
  BOOST_TEST(second.gsi.unsupported == 2u);
}

BOOST_AUTO_TEST_CASE(other_mads_that_nobody_takes_are_dropped_and_counted) {
  Mad wrong_version = mad(kVendorClass, Method::get);
  wrong_version[0] = std::byte{9};
  const Mad dropped[] = {mad(kVendorClass, Method::send), mad(kVendorClass, Method::get_response),
                         mad(0x01, Method::get),          mad(0x81, Method::get),
                         mad(0x07, Method::get, 0x10),    wrong_version};
  gsi.on_class(0x07, 1, keep());
  for (const Mad& bytes : dropped) gsi.send(first, to_second(), bytes);
  BOOST_TEST(!wait(std::chrono::milliseconds(50)));
  BOOST_TEST(second.gsi.unclaimed == std::size(dropped));
  BOOST_TEST(second.gsi.unsupported == 0u);
}

BOOST_AUTO_TEST_CASE(addresses_that_cannot_be_sent_to_are_refused) {
  const Mad bytes = mad(kVendorClass, Method::get);
  const auto send = [&](const GsiAddress& to) { return gsi.send(first, to, bytes); };
  const GsiAddress right = to_second();
  GsiAddress to = right;
  to.own = address(second);
  BOOST_TEST((send(to) == GsiSent::bad_address));
  to = right;
  to.own = wire::Gid{};
  BOOST_TEST((send(to) == GsiSent::bad_address));
  to = right;
  to.peer = *parse_gid("::ffff:239.1.2.3");
  BOOST_TEST((send(to) == GsiSent::bad_address));
  to.peer = *parse_gid("fe80::1");
  BOOST_TEST((send(to) == GsiSent::bad_address));
  to = right;
  to.pkey_index = 1;
  BOOST_TEST((send(to) == GsiSent::bad_address));
  to = right;
  to.peer = *parse_gid("::ffff:203.0.113.99");
  BOOST_TEST((send(to) == GsiSent::no_route));
  BOOST_TEST(gid_index(first, right.own).value() == first.settings.gids.size() - 1);
  BOOST_TEST(!gid_index(first, wire::Gid{}));
}

BOOST_FIXTURE_TEST_CASE(a_mad_travels_in_the_partition_of_its_index, Partitioned) {
  gsi.on_class(kVendorClass, 1, keep());
  const Mad bytes = mad(kVendorClass, Method::get);
  GsiAddress to;
  to.lid = fabric.subnet().port(*second.adapter).lid.value;
  to.pkey_index = 1;
  BOOST_TEST((gsi.send(first, to, bytes) == GsiSent::sent));
  BOOST_REQUIRE(wait());
  BOOST_TEST(taken.back().from.pkey_index == 1);
  // Of the first partition both are limited members.
  to.pkey_index = 0;
  BOOST_TEST((gsi.send(first, to, bytes) == GsiSent::sent));
  BOOST_TEST(!wait(std::chrono::milliseconds(50)));
  to.pkey_index = 2;
  BOOST_TEST((gsi.send(first, to, bytes) == GsiSent::bad_address));
}

BOOST_AUTO_TEST_CASE(performance_management_has_the_ports_counters) {
  gsi.on_class(0x04, 1, [this, kept = keep()](ServedDevice& device, const GsiAddress& from, MadBytes bytes) {
    return &device == &first && kept(device, from, bytes);
  });
  const auto info = ask(wire::mad::ClassPortInfo{});
  BOOST_TEST((info.capability_mask & wire::mad::kExtendedWidthSupported) != 0);

  const auto extended = ask(wire::mad::PortCountersExtended{.port_select = 1});
  BOOST_TEST(extended.receive_packets >= 2u);
  const auto in_sysfs = port_values(snapshot(fabric, second));
  const auto received = std::find_if(in_sysfs.begin(), in_sysfs.end(),
                                     [](const auto& value) { return value.name == "port_rcv_packets"; });
  BOOST_TEST(received->value >= extended.receive_packets);
  BOOST_TEST(received->value <= extended.receive_packets + 1);
  BOOST_TEST(extended.unicast_receive_packets == extended.receive_packets);

  // A Set gives the counter a value, for these questions alone.
  wire::mad::PortCounters clear{.port_select = 0xFF, .counter_select = 1 << 15};
  BOOST_TEST(ask(clear, Method::set).receive_packets == 0u);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto counters = ask(wire::mad::PortCounters{.port_select = 1});
  BOOST_TEST(counters.receive_packets <= 2u);
  BOOST_TEST(counters.receive_data > 0u);
  BOOST_TEST(ask(wire::mad::PortCountersExtended{.port_select = 1}).receive_packets > 3u);

  const Mad wrong_port = encode(wire::mad::PortCounters{.port_select = 2}, MadHeader{.method = Method::get});
  gsi.send(first, to_second(), wrong_port);
  BOOST_REQUIRE(wait());
  BOOST_TEST((header(taken.back().mad).status == MadStatus::invalid_field));
}

BOOST_AUTO_TEST_CASE(narrow_counters_stop_at_their_largest_value) {
  gsi.on_class(0x04, 1, [this, kept = keep()](ServedDevice& device, const GsiAddress& from, MadBytes bytes) {
    return &device == &first && kept(device, from, bytes);
  });
  // As if much had been counted: what a Set takes off may be more than there is.
  wire::mad::PortCounters high{.port_select = 1, .counter_select = 1 << 12 | 1 << 9 | 1};
  high.transmit_data = 0xFFFF'FFFF;
  high.local_link_integrity_errors = 15;
  high.symbol_errors = 0xFFFF;
  const auto set = ask(high, Method::set);
  BOOST_TEST(set.transmit_data == 0xFFFF'FFFFu);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto later = ask(wire::mad::PortCounters{.port_select = 1});
  BOOST_TEST(later.transmit_data == 0xFFFF'FFFFu);
  BOOST_TEST(later.local_link_integrity_errors == 15);
  BOOST_TEST(later.symbol_errors == 0xFFFF);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
