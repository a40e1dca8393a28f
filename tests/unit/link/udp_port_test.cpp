// A device's port that is a UDP port of this host, over real sockets of loopback addresses.
#include "device_model/link/udp/udp_port.hpp"

#include <arpa/inet.h>
#include <netinet/udp.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "device_model/link/udp/kernel_options.hpp"
#include "device_model/link/udp/local_interface.hpp"
#include "device_model/link/udp/socket_address.hpp"
#include "sample_frames.hpp"

namespace urnic::link::test {

namespace udp_port {

constexpr Load kEverything{256, 1 << 20};

// All of 127/8 is this host: each run of the test has addresses of its own.
wire::Gid loopback(std::uint8_t last) {
  const auto pid = static_cast<std::uint32_t>(getpid());
  wire::Gid gid;
  gid.bytes = {0,
               0,
               0,
               0,
               0,
               0,
               0,
               0,
               0,
               0,
               0xFF,
               0xFF,
               127,
               static_cast<std::uint8_t>(16 + (pid >> 8) % 200),
               static_cast<std::uint8_t>(pid),
               last};
  return gid;
}

struct Hosts {
  Hosts() : gids{loopback(1), loopback(2)} {
    frame_switch.connect(0, port0);
    frame_switch.connect(1, port1);
  }

  wire::NetworkHeaders network(std::uint32_t from, std::uint32_t to) const {
    const UdpPort& port = from == 0 ? port0 : port1;
    wire::NetworkHeaders headers;
    headers.destination_mac = UdpPort::mac_of(gids[to]);
    headers.source_mac = mac_of(static_cast<std::uint8_t>(from));
    headers.source = gids[from];
    headers.destination = gids[to];
    headers.udp_source = port.source_port(gids[from], 0xC123);
    return headers;
  }
  void send(const wire::NetworkHeaders& headers, std::size_t payload_bytes = 64, std::uint32_t psn = 100,
            std::uint32_t from = 0) {
    wire::TransportHeaders transport;
    transport.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_only);
    transport.bth.psn = wire::Psn(psn);
    const std::vector<std::byte> payload(payload_bytes, std::byte{0x5A});
    wire::FrameStorage storage;
    ports[from]->transmit(wire::encode(headers, transport, payload, storage), {}, {});
    frame_switch.flush();
  }
  std::vector<RememberingReceiver::Arrival>& receive() {
    frame_switch.deliver_due({}, kEverything);
    frame_switch.release();
    return receivers[1].arrivals;
  }

  wire::Gid gids[2];
  UdpPort port0{mac_of(0), 0, {{loopback(1)}}};
  UdpPort port1{mac_of(1), 1, {{loopback(2)}}};
  Switch frame_switch;
  RememberingReceiver receivers[2];
  Port* ports[2] = {&frame_switch.attach(mac_of(0), receivers[0], "urnic0"),
                    &frame_switch.attach(mac_of(1), receivers[1], "urnic1")};
};

}  // namespace udp_port

BOOST_FIXTURE_TEST_SUITE(udp_port, Hosts)

BOOST_AUTO_TEST_CASE(a_packet_arrives_with_all_its_headers) {
  for (const std::size_t size : {0, 1, 3, 256, 4096}) {
    receivers[1].arrivals.clear();
    wire::NetworkHeaders sent = network(0, 1);
    sent.traffic_class = 0x6A;
    sent.hop_limit = 17;
    send(sent, size);
    const auto& arrivals = receive();
    BOOST_REQUIRE_EQUAL(arrivals.size(), 1u);
    BOOST_TEST((arrivals[0].error == wire::ParseError::none));
    BOOST_TEST(arrivals[0].parsed.payload.size() == size);
    sent.destination_mac = mac_of(1);
    sent.source_mac = UdpPort::mac_of(gids[0]);
    BOOST_TEST((arrivals[0].parsed.network == sent));
    BOOST_TEST((arrivals[0].origin.queue_pair == kUnknownQpn));
    BOOST_TEST((arrivals[0].origin.device == sent.source_mac));
  }
}

BOOST_AUTO_TEST_CASE(the_usual_traffic_class_and_hop_limit) {
  send(network(0, 1));
  BOOST_REQUIRE_EQUAL(receive().size(), 1u);
  BOOST_TEST(int{receivers[1].arrivals[0].parsed.network.traffic_class} == 0);
  BOOST_TEST(int{receivers[1].arrivals[0].parsed.network.hop_limit} == 64);
}

BOOST_AUTO_TEST_CASE(a_batch_leaves_and_arrives_with_few_calls) {
  wire::TransportHeaders transport;
  transport.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_only);
  const std::vector<std::byte> payload(1024, std::byte{0x5A});
  for (std::uint32_t psn = 0; psn < 60; ++psn) {
    transport.bth.psn = wire::Psn(psn);
    wire::FrameStorage storage;
    ports[0]->transmit(wire::encode(network(0, 1), transport, payload, storage), {}, {});
  }
  frame_switch.flush();
  BOOST_TEST(port0.counters().sent == 60u);
  BOOST_TEST(port0.counters().send_calls == 1u);
  BOOST_TEST(receive().size() == 60u);
  BOOST_TEST(port1.counters().receive_calls == 2u);
  for (std::uint32_t psn = 0; psn < 60; ++psn) BOOST_TEST(receivers[1].arrivals[psn].psn() == psn);
}

// A second call would begin its trains anew.
BOOST_AUTO_TEST_CASE(a_round_and_what_is_sent_again_leave_with_one_call) {
  wire::TransportHeaders transport;
  transport.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_only);
  const std::vector<std::byte> payload(1024, std::byte{0x5A});
  for (std::uint32_t psn = 0; psn < 128 + 8; ++psn) {
    transport.bth.psn = wire::Psn(psn);
    wire::FrameStorage storage;
    ports[0]->transmit(wire::encode(network(0, 1), transport, payload, storage), {}, {});
  }
  frame_switch.flush();
  BOOST_TEST(port0.counters().sent == 136u);
  BOOST_TEST(port0.counters().send_calls == 1u);
}

BOOST_AUTO_TEST_CASE(more_than_the_buffers_waits_for_the_release) {
  for (std::uint32_t psn = 0; psn < 400; ++psn) send(network(0, 1), 64, psn);
  frame_switch.deliver_due({}, kEverything);
  frame_switch.deliver_due({}, kEverything);
  const std::size_t first = receivers[1].arrivals.size();
  BOOST_TEST(first <= ReceiveBatch::kDatagrams);
  frame_switch.deliver_due({}, kEverything);
  BOOST_TEST(receivers[1].arrivals.size() == first);
  BOOST_TEST(frame_switch.owes_release());
  frame_switch.release();
  for (std::size_t before = 0; before != receivers[1].arrivals.size(); receive())
    before = receivers[1].arrivals.size();
  BOOST_TEST(receive().size() == 400u);
  BOOST_TEST(!frame_switch.owes_release());
}

// Packets of one message that the kernel divides have Identifications of their own, and so other ICRCs.
BOOST_AUTO_TEST_CASE(packets_of_equal_length_leave_as_one_message) {
  const wire::Gid gid = loopback(3);
  UdpPort sender(mac_of(3), 3, {{gid}}, true);
  wire::NetworkHeaders headers = network(0, 1);
  headers.source = gid;
  headers.udp_source = sender.source_port(gid, 0);
  wire::TransportHeaders transport;
  transport.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_only);
  const std::vector<std::byte> payload(1024, std::byte{0x5A});
  for (std::uint32_t psn = 0; psn < 60; ++psn) {
    transport.bth.psn = wire::Psn(psn);
    const std::size_t bytes = psn == 39 ? 100 : 1024;
    wire::FrameStorage storage;
    sender.arrive(wire::encode(headers, transport, std::span(payload).first(bytes), storage), {});
  }
  sender.flush();
  BOOST_TEST(sender.counters().sent == 60u);
  BOOST_REQUIRE_EQUAL(receive().size(), 60u);
  BOOST_TEST(port1.counters().received == 60u);
  BOOST_TEST(port1.counters().receive_calls == 1u);  // two trains
  for (std::uint32_t psn = 0; psn < 60; ++psn) {
    const auto& arrival = receivers[1].arrivals[psn];
    BOOST_TEST((arrival.error == wire::ParseError::none));
    BOOST_TEST(arrival.psn() == psn);
    BOOST_TEST(arrival.parsed.payload.size() == (psn == 39 ? 100u : 1024u));
    BOOST_TEST(arrival.parsed.network.ip_identification == (psn < 40 ? psn : psn - 40));
  }
}

// A train may be longer than what a round takes: the rest comes in the next one, in order.
BOOST_AUTO_TEST_CASE(a_train_is_taken_in_portions) {
  const memory::Descriptor stranger(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = to_socket_address(gids[1], wire::kRocePort, 0);
  constexpr int kSegment = 20;
  constexpr std::uint32_t kPackets = 50;
  BOOST_REQUIRE(setsockopt(stranger.get(), IPPROTO_UDP, UDP_SEGMENT, &kSegment, sizeof kSegment) == 0);
  std::vector<std::byte> train(kSegment * kPackets - 5, std::byte{4});  // the last one is shorter
  for (std::uint32_t at = 0; at < kPackets; ++at) {
    train[at * kSegment + 9] = train[at * kSegment + 10] = std::byte{0};
    train[at * kSegment + 11] = static_cast<std::byte>(at);  // PSN
  }
  BOOST_REQUIRE(sendto(stranger.get(), train.data(), train.size(), 0, &to.any, size_of(to)) > 0);
  for (std::uint32_t round = 1; round <= 5; ++round) {
    frame_switch.deliver_due({}, {10, 1 << 20});
    BOOST_TEST(frame_switch.count() == 10u);
    frame_switch.release();
  }
  BOOST_TEST(port1.counters().received == kPackets);
  BOOST_TEST(port1.counters().malformed == 1u);
  for (std::uint32_t psn = 0; psn < kPackets - 1; ++psn) BOOST_TEST(receivers[1].arrivals[psn].psn() == psn);
}

// Each flow has one of the port's source ports, always the same.
BOOST_AUTO_TEST_CASE(flows_spread_over_source_ports) {
  std::vector<std::uint16_t> used;
  for (std::uint32_t wanted = 0xC000; wanted <= 0xFFFF; wanted += 7) {
    const std::uint16_t port = port0.source_port(gids[0], static_cast<std::uint16_t>(wanted));
    BOOST_TEST(port >= 0xC000);
    BOOST_TEST(port == port0.source_port(gids[0], static_cast<std::uint16_t>(wanted)));
    if (std::find(used.begin(), used.end(), port) == used.end()) used.push_back(port);
  }
  BOOST_TEST(used.size() == 4u);
}

BOOST_AUTO_TEST_CASE(what_is_no_packet_of_this_port_does_not_leave) {
  wire::NetworkHeaders strange = network(0, 1);
  strange.source = gids[1];
  send(strange);
  strange = network(0, 1);
  strange.udp_source = 1;
  send(strange);
  std::vector<std::byte> no_ip(64, std::byte{0xFF});
  ports[0]->transmit({no_ip, {}, {}}, {}, {});
  frame_switch.flush();
  BOOST_TEST(port0.counters().not_sendable == 3u);
  BOOST_TEST(receive().empty());
}

// The kernel makes the tags, of its own interfaces.
BOOST_AUTO_TEST_CASE(a_packet_of_a_vlan_does_not_leave) {
  wire::NetworkHeaders tagged = network(0, 1);
  tagged.vlan_tag = 5;
  send(tagged);
  frame_switch.flush();
  BOOST_TEST(port0.counters().not_sendable == 1u);
  BOOST_TEST(port0.counters().sent == 0u);
  tagged.vlan_tag = 3u << wire::kVlanPriorityShift;  // of none
  send(tagged);
  frame_switch.flush();
  BOOST_TEST(port0.counters().sent == 1u);
}

BOOST_AUTO_TEST_CASE(a_corrupted_packet_does_not_go_astray) {
  frame_switch.link(0).configure(Direction::transmit, {.corrupt = 1});
  for (std::uint32_t i = 0; i < 500; ++i) {
    wire::TransportHeaders transport;
    transport.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::send_only);
    wire::FrameStorage storage;
    ports[0]->transmit(wire::encode(network(0, 1), transport, {}, storage), {.identity = {0, 1, i}}, {});
    frame_switch.flush();
    receive();
  }
  const UdpCounters counters = port0.counters();
  BOOST_TEST(counters.not_sendable > 50u);  // damaged in the IP or UDP header
  BOOST_TEST(counters.sent > 50u);
  BOOST_TEST(counters.sent + counters.not_sendable == 500u);
  BOOST_TEST(receivers[1].arrivals.size() + port1.counters().malformed == counters.sent);
}

BOOST_AUTO_TEST_CASE(datagrams_of_strangers_are_counted_and_harm_nothing) {
  const memory::Descriptor stranger(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = to_socket_address(gids[1], wire::kRocePort, 0);
  std::mt19937 random(1);
  std::uint32_t sent = 0;
  for (std::size_t size = 0; size < 9000; size += size < 100 ? 1 : 53) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    sent += sendto(stranger.get(), bytes.data(), size, 0, &to.any, size_of(to)) >= 0;
    receive();
  }
  BOOST_TEST(port1.counters().received == sent);
  BOOST_TEST(port1.counters().malformed > 100u);
  for (const auto& arrival : receivers[1].arrivals) BOOST_TEST((arrival.error != wire::ParseError::none));
}

BOOST_AUTO_TEST_CASE(the_kernels_drops_are_counted) {
  for (std::uint32_t psn = 0; psn < 8000 && port1.counters().kernel_drops == 0; ++psn)
    send(network(0, 1), 4096, psn);
  BOOST_TEST(port1.counters().kernel_drops != 0u);
}

// As a switch whose queue is long (RFC 3168, section 5): packets that may be marked, and no others.
BOOST_AUTO_TEST_CASE(packets_are_marked_while_the_sockets_buffer_is_filling) {
  const auto marked = [&] {
    std::size_t count = 0;
    for (const auto& arrival : receive()) count += (arrival.parsed.network.traffic_class & 3) == 3;
    receivers[1].arrivals.clear();
    return count;
  };
  wire::NetworkHeaders capable = network(0, 1);
  capable.traffic_class = 0x6A;
  send(capable, 4096);
  BOOST_TEST(marked() == 0u);
  for (std::uint32_t psn = 0; psn < 8000 && port1.counters().kernel_drops == 0; ++psn)
    send(capable, 4096, psn);
  BOOST_TEST(marked() > 0u);
  BOOST_TEST(port1.counters().marked > 0u);
  for (int i = 0; i < 1000 && receive().size() != 0; ++i) receivers[1].arrivals.clear();
  send(capable, 4096);
  marked();  // the first one behind the drops
  send(capable, 4096);
  BOOST_TEST(marked() == 0u);
  const auto before = port1.counters();
  for (std::uint32_t psn = 0; psn < 8000 && port1.counters().kernel_drops == before.kernel_drops; ++psn)
    send(network(0, 1), 4096, psn);
  BOOST_TEST(marked() == 0u);
  BOOST_TEST(port1.counters().marked == before.marked);
}

// A buffer for a few packets, which is empty again when it is looked at: only the kernel tells of the drops.
BOOST_AUTO_TEST_CASE(what_arrives_behind_a_drop_is_marked) {
  const int tiny = 16 * 1024;
  setsockopt(port1.wake_descriptors()[0], SOL_SOCKET, SO_RCVBUF, &tiny, sizeof tiny);
  std::uint32_t psn = 0;
  const auto marked = [&] {
    std::vector<bool> marks;
    for (const auto& arrival : receive()) marks.push_back((arrival.parsed.network.traffic_class & 3) == 3);
    receivers[1].arrivals.clear();
    return marks;
  };
  const auto overflow = [&](std::uint8_t traffic_class) {
    wire::NetworkHeaders headers = network(0, 1);
    headers.traffic_class = traffic_class;
    const std::uint64_t before = port1.counters().kernel_drops;
    for (int i = 0; i < 100 && port1.counters().kernel_drops == before; ++i) send(headers, 1024, ++psn);
    BOOST_TEST(port1.counters().kernel_drops > before);
    return headers;
  };
  const wire::NetworkHeaders capable = overflow(0x6A);
  for (int times = 0; times < 3; ++times) {
    const auto before_the_drop = marked();
    BOOST_TEST(!before_the_drop.empty());
    BOOST_TEST(std::count(before_the_drop.begin(), before_the_drop.end(), true) == 0);
    send(capable, 1024, ++psn);
    send(capable, 1024, ++psn);
    BOOST_TEST((marked() == std::vector<bool>{true, true}));
    send(capable, 1024, ++psn);
    BOOST_TEST((marked() == std::vector<bool>{false}));  // nothing was dropped meanwhile
    overflow(0x6A);
  }
  marked();
  BOOST_TEST(port1.counters().marked == 6u);
  // Nor is what must not be marked.
  overflow(0x68);
  send(network(0, 1), 1024, ++psn);
  const auto not_capable = marked();
  BOOST_TEST(std::count(not_capable.begin(), not_capable.end(), true) == 0);
}

BOOST_AUTO_TEST_CASE(a_host_without_a_socket_is_no_error) {
  wire::NetworkHeaders to_nobody = network(0, 1);
  to_nobody.destination = loopback(99);
  for (int i = 0; i < 3; ++i) send(to_nobody);
  BOOST_TEST(port0.counters().sent == 3u);
}

BOOST_AUTO_TEST_CASE(path_mtu_follows_the_interface) {
  const auto interface = interface_of(gids[0]);
  BOOST_REQUIRE(interface);
  BOOST_TEST(interface->name == "lo");
  BOOST_TEST(path_mtu_for(interface->mtu) == 4096u);
  BOOST_TEST(path_mtu_for(9000) == 4096u);
  BOOST_TEST(path_mtu_for(1500) == 1024u);
  BOOST_TEST(path_mtu_for(1280) == 1024u);
  BOOST_TEST(path_mtu_for(576) == 256u);
  BOOST_TEST(path_mtu_for(300) == 0u);
  wire::Gid elsewhere = gids[0];
  elsewhere.bytes[12] = 203;
  BOOST_TEST(!interface_of(elsewhere));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
