// GIDs of VLANs (IEEE 802.1Q): their packets have the VLAN's tag, and those that arrive must have it.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <vector>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/program.hpp"
#include "wire/congestion_notification.hpp"
#include "wire/network_codec.hpp"

namespace urnic::engine::test {

namespace vlans {

constexpr std::uint16_t kVlan = 5;
constexpr std::uint8_t kServiceLevel = 3;
constexpr std::uint32_t kQkey = 0x1EE7;
constexpr std::uint32_t kGrh = 40;

wire::Gid gid_of(std::uint8_t number, bool ipv4) {
  if (ipv4) return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 203, 0, 113, number}};
  return {{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, number}};
}

wire::Gid group() { return {{0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xA1, 0xB2, 0xC3, 9}}; }

// The tags of the frames on the switch; 0 for one without.
struct Tags final : link::FrameObserver {
  void observe(const link::Observation& seen) override {
    const std::byte* const frame = seen.frame.headers.data();
    const bool tagged = wire::load_be16(frame + wire::kEtherTypeOffset) == wire::ether_type::kVlan;
    all.push_back(tagged ? wire::load_be16(frame + wire::kEthernetBytes) : std::uint16_t{0});
  }
  std::vector<std::uint16_t> all;
};

struct Outsider final : link::FrameReceiver {
  void arrive(const wire::Frame&, const link::PacketOrigin&) override {}
};

// Both devices have a GID without a VLAN, and in VLAN 5 an IPv4 one and an IPv6 one.
struct Vlan : Fabric {
  Vlan() {
    std::uint8_t number = 1;
    for (Device* const device : {&device0, &device1}) {
      std::vector<LocalGid> gids = device->config().gids;
      for (const bool ipv4 : {true, false}) gids.push_back({gid_of(number, ipv4), kVlan});
      engine.execute([&] { device->set_gids(gids); });
      ++number;
    }
  }

  Outsider outsider;
  link::Port& port = frame_switch.attach({{2, 0, 0, 0, 0, 99}}, outsider);

  wire::NetworkHeaders path_in_vlan(const Device& from, const Device& to, bool ipv4 = true) const {
    wire::NetworkHeaders network = path(from, to);
    network.source = gid_of(&from == &device0 ? 1 : 2, ipv4);
    network.destination = gid_of(&to == &device0 ? 1 : 2, ipv4);
    network.vlan_tag = wire::vlan_tag(kVlan, kServiceLevel);
    return network;
  }
  std::uint64_t strangers() const { return device1.port_counters().wrong_address; }
};

struct Connections : Vlan {
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 1, {}};

  void connect_in_vlan(bool ipv4) {
    const auto bring_up = [&](TestQp& qp, const TestQp& peer, const wire::NetworkHeaders& network) {
      const transport::QpParameters wanted = parameters(peer, 1024);
      using transport::QpState;
      qp.device_end().modify(QpState::init, wanted, std::nullopt);
      qp.device_end().modify(QpState::rtr, wanted, network);
      qp.device_end().modify(QpState::rts, wanted, std::nullopt);
    };
    engine.execute([&] {
      bring_up(qp0, qp1, path_in_vlan(device0, device1, ipv4));
      bring_up(qp1, qp0, path_in_vlan(device1, device0, ipv4));
    });
  }
  void write(std::uint32_t length) {
    post_write(qp0, program0, program1, length);
    run();
  }
  // A WRITE of 64 bytes, as the peer sends it.
  void send_as_peer(const wire::NetworkHeaders& network) {
    wire::TransportHeaders headers;
    headers.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::write_only);
    headers.bth.destination = qp1.qpn();
    headers.bth.psn = wire::Psn(0xFFFFF0);
    headers.reth = {program1.address(0), wire::Rkey{program1.key.value}, 64};
    const std::vector<std::byte> payload(64, std::byte{0x5A});
    wire::FrameStorage storage;
    port.transmit(wire::encode(network, headers, payload, storage),
                  {.queue_pair = qp0.qpn(), .device = device0.config().mac}, {});
    run();
  }
  bool written() const { return program1.bytes[0] == std::byte{0x5A}; }
};

struct Datagrams : Vlan {
  TestQp qp0{program0, 0, {.service = transport::QpService::ud}};
  TestQp qp1{program1, 1, {.service = transport::QpService::ud}};

  Datagrams() {
    transport::QpParameters wanted;
    wanted.path_mtu = 1024;
    wanted.qkey = kQkey;
    using transport::QpState;
    for (TestQp* const qp : {&qp0, &qp1})
      for (const QpState state : {QpState::init, QpState::rtr, QpState::rts})
        engine.execute([&] { qp->device_end().modify(state, wanted, std::nullopt); });
    engine.execute([&] { device1.multicast_groups().attach(group(), qp1.device_end()); });
    const abi::ScatterGather to[] = {program1.sge(4096, 1024)};
    qp1.post_receive(to);
  }

  // True if it arrived.
  bool send(const wire::NetworkHeaders& network, wire::Qpn to) {
    auto handle = std::make_unique<AddressHandle>(program0.pd, network);
    abi::SendWqe head = wqe(abi::SendOpcode::send);
    head.address_handle = device0.address_handles().add(std::move(handle)).value();
    head.remote_qpn = to.value;
    head.remote_qkey = kQkey;
    program0.fill(0, 100, 3);
    const abi::ScatterGather from[] = {program0.sge(0, 100)};
    qp0.post_send(head, from);
    run();
    return qp1.receive_cq.poll().has_value();
  }
  wire::NetworkHeaders to_group(std::uint16_t tag) const {
    wire::NetworkHeaders network = path_in_vlan(device0, device1, false);
    network.destination = group();
    network.destination_mac = wire::multicast_mac(group());
    network.vlan_tag = tag;
    return network;
  }
};

}  // namespace vlans

BOOST_AUTO_TEST_SUITE(vlans)

// Requests and answers, with payload that is sent from where it lies and with copies.
BOOST_AUTO_TEST_CASE(a_connections_packets_have_the_tag) {
  for (const bool ipv4 : {true, false}) {
    for (const std::uint32_t length : {8u, 100'000u}) {
      Connections two;
      two.connect_in_vlan(ipv4);
      Tags tags;
      two.frame_switch.add_observer(tags);
      two.program0.fill(0, length, 7);
      two.write(length);
      BOOST_TEST(two.qp0.send_cq.poll()->status == 0);
      BOOST_TEST(two.program1.holds(0, length, 7));
      BOOST_REQUIRE(tags.all.size() >= 2u);
      for (const std::uint16_t tag : tags.all) BOOST_TEST(tag == wire::vlan_tag(kVlan, kServiceLevel));
      BOOST_TEST(two.strangers() == 0u);
      two.frame_switch.remove_observer(tags);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_connection_takes_any_priority, Connections) {
  connect_in_vlan(true);
  wire::NetworkHeaders network = path_in_vlan(device0, device1);
  network.vlan_tag = wire::vlan_tag(kVlan, 6);
  send_as_peer(network);
  BOOST_TEST(written());
}

BOOST_AUTO_TEST_CASE(a_connection_takes_nothing_of_another_vlan) {
  for (const unsigned tag : {0u, 6u, 3u << 13}) {
    Connections two;
    two.connect_in_vlan(true);
    wire::NetworkHeaders network = two.path_in_vlan(two.device0, two.device1);
    network.vlan_tag = static_cast<std::uint16_t>(tag);
    two.send_as_peer(network);
    BOOST_TEST(!two.written());
    BOOST_TEST(two.strangers() == 1u);
  }
}

BOOST_FIXTURE_TEST_CASE(a_connection_without_a_vlan_takes_no_vlans_packets, Connections) {
  connect(qp0, qp1);
  wire::NetworkHeaders network = path(device0, device1);
  network.vlan_tag = kVlan;
  send_as_peer(network);
  BOOST_TEST(!written());
  BOOST_TEST(strangers() == 1u);
  network.vlan_tag = 3u << 13;  // a priority and no VLAN
  send_as_peer(network);
  BOOST_TEST(written());
}

BOOST_AUTO_TEST_CASE(a_datagrams_header_is_that_behind_the_tag) {
  for (const bool ipv4 : {true, false}) {
    Datagrams two;
    BOOST_TEST(two.send(two.path_in_vlan(two.device0, two.device1, ipv4), two.qp1.qpn()));
    BOOST_TEST(two.program1.holds(4096 + kGrh, 100, 3));
    const std::byte* const header = &two.program1.bytes[4096 + (ipv4 ? 20 : 0)];
    BOOST_TEST(std::to_integer<int>(header[0]) == (ipv4 ? 0x45 : 0x60));
    const wire::Gid from = gid_of(1, ipv4);
    if (ipv4) BOOST_TEST(std::memcmp(header + 12, from.bytes.data() + 12, 4) == 0);
    if (!ipv4) BOOST_TEST(std::memcmp(header + 8, from.bytes.data(), 16) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_datagram_for_a_gid_needs_the_tag_of_its_vlan) {
  for (const unsigned tag : {0u, 6u}) {
    Datagrams two;
    wire::NetworkHeaders network = two.path_in_vlan(two.device0, two.device1);
    network.vlan_tag = static_cast<std::uint16_t>(tag);
    BOOST_TEST(!two.send(network, two.qp1.qpn()));
    BOOST_TEST(two.strangers() == 1u);
  }
  Datagrams two;
  wire::NetworkHeaders network = Datagrams::path(two.device0, two.device1);
  network.vlan_tag = kVlan;
  BOOST_TEST(!two.send(network, two.qp1.qpn()));
  network.vlan_tag = 3u << 13;  // a priority and no VLAN
  BOOST_TEST(two.send(network, two.qp1.qpn()));
  BOOST_TEST(two.strangers() == 1u);
}

// A device hears a group's packets in the VLANs that it has a GID in, and those without a tag.
BOOST_FIXTURE_TEST_CASE(a_groups_packets_are_of_the_devices_vlans, Datagrams) {
  constexpr wire::Qpn kGroupQpn{0xFFFFFF};
  BOOST_TEST(!send(to_group(6), kGroupQpn));
  BOOST_TEST(strangers() == 1u);
  BOOST_TEST(send(to_group(kVlan), kGroupQpn));
  const abi::ScatterGather to[] = {program1.sge(4096, 1024)};
  qp1.post_receive(to);
  BOOST_TEST(send(to_group(0), kGroupQpn));
  BOOST_TEST(strangers() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
