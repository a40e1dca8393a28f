// Raw packets through the engine: over the switch, past steering rules, beside everybody else's packets.
#include "device_model/transport/unreliable/raw_packet.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/steering/rss_table.hpp"
#include "tests/unit/engine/program.hpp"
#include "tests/unit/engine/raw_frames.hpp"
#include "tests/unit/engine/two_engines.hpp"
#include "wire/frame.hpp"

namespace urnic::engine::test {
namespace raw_packets_through_the_engine {

constexpr std::size_t kReceived = 8192;  // where receives are in a program's memory
constexpr std::uint32_t kLongest = 4096 + transport::kRawFrameHeader;

QpLayout raw_packets() { return {.send_slot_size = 1024, .service = transport::QpService::raw_packet}; }

struct RawPackets : Fabric {
  TestQp qp0{program0, 0, raw_packets()};
  TestQp beside0{program0, 1, raw_packets()};
  TestQp qp1{program1, 0, raw_packets()};
  TestQp beside1{program1, 1, raw_packets()};

  RawPackets() {
    for (TestQp* qp : {&qp0, &beside0, &qp1, &beside1}) bring_up(*qp);
  }

  void bring_up(TestQp& qp) {
    transport::QpParameters parameters;
    parameters.path_mtu = kLongest;
    using transport::QpState;
    for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
      engine.execute([&] { qp.device_end().modify(state, parameters, std::nullopt); });
    }
  }

  std::uint32_t steer(TestQp& to, RuleKind kind = RuleKind::normal, const FrameMatch& match = {}) {
    return steer_on(device1, to, kind, match);
  }
  std::uint32_t steer_on(Device& device, TestQp& to, RuleKind kind, const FrameMatch& match = {}) {
    SteeringRule rule;
    rule.kind = kind;
    rule.match = match;
    rule.target.queue_pair = &to.device_end();
    std::uint32_t number = 0;
    engine.execute([&] { number = device.add_steering_rule(rule); });
    return number;
  }

  void send(const FrameBytes& frame) { send_from(qp0, frame); }
  void send_from(TestQp& qp, const FrameBytes& frame) {
    std::memcpy(program0.bytes.data(), frame.data(), frame.size());
    const abi::ScatterGather from[] = {program0.sge(0, static_cast<std::uint32_t>(frame.size()))};
    qp.post_send(wqe(abi::SendOpcode::send), from);
    run();
  }

  void send_by_program1(const FrameBytes& frame) {
    std::memcpy(program1.bytes.data(), frame.data(), frame.size());
    const abi::ScatterGather from[] = {program1.sge(0, static_cast<std::uint32_t>(frame.size()))};
    qp1.post_send(wqe(abi::SendOpcode::send), from);
    run();
  }

  static void post_receive(TestQp& qp, const Program& program, std::size_t offset = kReceived) {
    const abi::ScatterGather to[] = {program.sge(offset, 5000)};
    qp.post_receive(to);
  }

  // The next receive of `qp` holds just `frame`.
  bool received(TestQp& qp, const FrameBytes& frame, std::size_t offset = kReceived) {
    const auto completion = qp.receive_cq.poll();
    return completion && completion->status == 0 && completion->byte_length == frame.size() &&
           std::memcmp(program1.bytes.data() + offset, frame.data(), frame.size()) == 0;
  }
};

FrameMatch ether_type(std::uint8_t high, std::uint8_t low) {
  FrameMatch match;
  match.value.ether_type = {high, low};
  match.mask.ether_type = {0xFF, 0xFF};
  return match;
}

// A packet with 64 bytes, made by hand.
FrameBytes roce(const wire::NetworkHeaders& network, wire::Qpn to, wire::Service service) {
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(service, wire::Operation::send_only);
  headers.bth.destination = to;
  const FrameBytes message(64, std::byte{0x5A});
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, message, storage);
  FrameBytes bytes;
  for (const auto piece : {frame.headers, frame.payload, frame.trailer})
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

FrameBytes long_frame(std::size_t length) {
  RawFrame frame;
  for (std::size_t i = 0; frame.rest.size() + 14 < length; ++i)
    frame.rest.push_back(static_cast<std::uint8_t>(i * 7 + i / 255));
  return frame.bytes();
}

}  // namespace raw_packets_through_the_engine

BOOST_FIXTURE_TEST_SUITE(raw_packets_through_the_engine, RawPackets)

BOOST_AUTO_TEST_CASE(a_frame_arrives_as_it_was_sent) {
  steer(qp1);
  for (const std::size_t length :
       {std::size_t{14}, std::size_t{15}, std::size_t{60}, std::size_t{1518}, std::size_t{kLongest}}) {
    post_receive(qp1, program1);
    const FrameBytes frame = long_frame(length);
    send(frame);
    BOOST_TEST(qp0.send_cq.poll()->status == 0);
    BOOST_TEST(received(qp1, frame), length);
  }
}

BOOST_AUTO_TEST_CASE(a_frame_that_is_too_long_or_too_short_is_the_senders_error) {
  for (const std::size_t length : {std::size_t{13}, std::size_t{kLongest} + 1}) {
    bring_up(qp0);
    FrameBytes frame = long_frame(std::max<std::size_t>(length, 14));
    frame.resize(length);
    send(frame);
    BOOST_TEST(qp0.send_cq.poll()->status == 1);  // IBV_WC_LOC_LEN_ERR
    engine.execute([&] { qp0.device_end().modify(transport::QpState::reset, {}, std::nullopt); });
    qp0.send_producer = 0;
  }
}

BOOST_AUTO_TEST_CASE(nobody_has_a_frame_without_a_rule) {
  post_receive(qp1, program1);
  send(long_frame(64));
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  BOOST_TEST(device1.port_counters().not_roce == 1u);
  BOOST_TEST(device1.port_counters().receive_errors == 0u);
}

BOOST_AUTO_TEST_CASE(a_rule_takes_what_matches_and_leaves_the_rest) {
  steer(qp1, RuleKind::normal, ether_type(0x88, 0xB5));
  steer(beside1, RuleKind::normal, ether_type(0x88, 0xB6));
  post_receive(qp1, program1);
  post_receive(beside1, program1, 2 * kReceived);
  RawFrame other;
  other.ether_type = 0x88B6;
  send(other.bytes());
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  BOOST_TEST(received(beside1, other.bytes(), 2 * kReceived));
}

BOOST_AUTO_TEST_CASE(what_a_rule_takes_is_counted) {
  RuleCounters counted;
  SteeringRule rule;
  rule.match = ether_type(0x08, 0x00);
  rule.target = {.queue_pair = &qp1.device_end(), .counters = &counted};
  engine.execute([&] { device1.add_steering_rule(rule); });
  RawFrame matching, other;
  matching.ether_type = 0x0800;
  other.ether_type = 0x88B5;
  const FrameBytes frame = matching.bytes();
  for (const FrameBytes& sent : {frame, other.bytes(), frame}) send(sent);
  // Also those that find no receive.
  BOOST_TEST(counted.packets == 2u);
  BOOST_TEST(counted.bytes == 2 * frame.size());
}

BOOST_AUTO_TEST_CASE(a_rule_that_drops_keeps_frames_from_later_rules) {
  RuleCounters counted;
  SteeringRule rule;
  rule.match = ether_type(0x08, 0x00);
  rule.target = {.counters = &counted};
  engine.execute([&] { device1.add_steering_rule(rule); });
  steer(qp1, RuleKind::all_default);
  post_receive(qp1, program1);
  RawFrame matching;
  matching.ether_type = 0x0800;
  send(matching.bytes());
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  BOOST_TEST(counted.packets == 1u);
  const FrameBytes other = RawFrame{}.bytes();
  send(other);
  BOOST_TEST(received(qp1, other));
}

// As DPDK's ports: what they send to a group would come back, and be sent again.
BOOST_AUTO_TEST_CASE(a_programs_own_frames_may_be_hidden_from_it) {
  for (const bool group : {false, true}) {
    for (const bool hidden : {false, true}) {
      SteeringRule rule;
      rule.target.queue_pair = &beside0.device_end();
      (group ? rule.target.hides_own_groups : rule.target.hides_own_unicast) = hidden;
      std::uint32_t number = 0;
      engine.execute([&] { number = device0.add_steering_rule(rule); });
      post_receive(beside0, program0);
      RawFrame frame;
      frame.to = group ? wire::MacAddress{{1, 0, 0x5E, 1, 2, 3}} : device0.config().mac;
      send(frame.bytes());
      BOOST_TEST(beside0.receive_cq.poll().has_value() == !hidden);
      if (hidden) {  // another program's frame comes, though it is to the same addresses
        send_by_program1(frame.bytes());
        BOOST_TEST(beside0.receive_cq.poll().has_value());
      }
      engine.execute([&] { device0.remove_steering_rule(number); });
    }
  }
}

BOOST_AUTO_TEST_CASE(a_removed_rule_lets_frames_pass) {
  const std::uint32_t number = steer(qp1);
  engine.execute([&] { device1.remove_steering_rule(number); });
  post_receive(qp1, program1);
  send(long_frame(64));
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
}

BOOST_AUTO_TEST_CASE(group_frames_and_those_to_unknown_addresses_reach_every_port) {
  steer(qp1, RuleKind::all_default);
  for (const wire::MacAddress& to :
       {wire::MacAddress{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}, wire::MacAddress{{1, 0, 0x5E, 1, 2, 3}},
        wire::MacAddress{{2, 0, 0, 0, 0, 99}}}) {
    RawFrame frame;
    frame.to = to;
    post_receive(qp1, program1);
    send(frame.bytes());
    BOOST_TEST(received(qp1, frame.bytes()));
  }
  RawFrame home;
  home.to = device0.config().mac;
  send(home.bytes());
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
}

// IBV_QP_CREATE_SCATTER_FCS. The residue of CRC-32 tells that the four bytes are the frame's check sequence.
BOOST_AUTO_TEST_CASE(a_frame_has_its_check_sequence_where_that_was_asked_for) {
  QpLayout layout = raw_packets();
  layout.takes_check_sequences = true;
  TestQp with(program1, 2, layout);
  bring_up(with);
  for (TestQp* qp : {&with, &qp1}) steer(*qp, RuleKind::sniffer);
  for (const std::size_t length :
       {std::size_t{14}, std::size_t{60}, std::size_t{1518}, std::size_t{kLongest}}) {
    post_receive(with, program1, 2 * kReceived);
    post_receive(qp1, program1);
    const FrameBytes frame = long_frame(length);
    send(frame);
    BOOST_TEST(received(qp1, frame), length);
    BOOST_TEST(with.receive_cq.poll().value().byte_length == length + 4);
    const auto arrived = std::span(program1.bytes).subspan(2 * kReceived, length + 4);
    BOOST_TEST(std::equal(frame.begin(), frame.end(), arrived.begin()));
    boost::crc_32_type crc;
    crc.process_bytes(arrived.data(), arrived.size());
    BOOST_TEST(crc.checksum() == 0x2144DF1Cu);
  }
}

// A RoCE packet comes in pieces, which are put together.
BOOST_AUTO_TEST_CASE(a_sniffed_packet_has_its_check_sequence) {
  QpLayout layout = raw_packets();
  layout.takes_check_sequences = true;
  TestQp with(program1, 2, layout);
  bring_up(with);
  steer(with, RuleKind::sniffer);
  TestQp sender(program0, 3, {}), peer(program1, 4, {});
  sender.connect_to(peer, 1024);
  peer.connect_to(sender, 1024);
  post_receive(with, program1, 2 * kReceived);
  const abi::ScatterGather from[] = {program0.sge(0, 300)};
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = program1.address(0);
  head.rkey = program1.key.value;
  sender.post_send(head, from);
  run();
  const std::size_t length = with.receive_cq.poll().value().byte_length;
  boost::crc_32_type crc;
  crc.process_bytes(program1.bytes.data() + 2 * kReceived, length);
  BOOST_TEST(crc.checksum() == 0x2144DF1Cu);
}

// IBV_QP_CREATE_BLOCK_SELF_MCAST_LB.
BOOST_AUTO_TEST_CASE(a_qp_that_blocks_its_own_has_no_group_frame_that_it_has_sent) {
  QpLayout layout = raw_packets();
  layout.blocks_own_multicast = true;
  TestQp blocking(program0, 2, layout);
  TestQp beside(program0, 3, raw_packets());
  for (TestQp* qp : {&blocking, &beside}) {
    bring_up(*qp);
    steer_on(device0, *qp, RuleKind::all_default);
  }
  RawFrame to_group;
  to_group.to = wire::MacAddress{{1, 0, 0x5E, 1, 2, 3}};
  RawFrame home;
  home.to = device0.config().mac;
  struct Row {
    TestQp& sender;
    const RawFrame& frame;
    bool comes_to_blocking;
  };
  for (const Row& row :
       {Row{blocking, to_group, false}, Row{beside, to_group, true}, Row{blocking, home, true}}) {
    post_receive(blocking, program0, 2 * kReceived);
    post_receive(beside, program0, 3 * kReceived);
    send_from(row.sender, row.frame.bytes());
    BOOST_TEST(blocking.receive_cq.poll().has_value() == row.comes_to_blocking);
    BOOST_TEST(beside.receive_cq.poll().has_value());
  }
}

BOOST_AUTO_TEST_CASE(it_travels_over_a_link_with_delay_and_duplicates) {
  steer(qp1);
  frame_switch.link(0).configure(link::Direction::transmit, {.delay = transport::Nanoseconds(1000)});
  frame_switch.link(1).configure(link::Direction::receive,
                                 {.delay = transport::Nanoseconds(1000), .duplicate = 1.0});
  post_receive(qp1, program1);
  post_receive(qp1, program1, 2 * kReceived);
  const FrameBytes frame = long_frame(kLongest);
  send(frame);
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  for (int i = 0; i < 4; ++i) advance(transport::Nanoseconds(1000));
  BOOST_TEST(received(qp1, frame));
  BOOST_TEST(received(qp1, frame, 2 * kReceived));
}

// Whatever others' rules ask for, a connection has its packets; sniffers have copies.
BOOST_AUTO_TEST_CASE(no_rule_takes_the_packets_of_a_queue_pair) {
  TestQp sender(program0, 2, {});
  TestQp connected(program1, 2, {});
  connect(sender, connected);
  steer(qp1);
  steer(qp1, RuleKind::normal, ether_type(0x08, 0x00));
  steer(qp1, RuleKind::all_default);
  steer(beside1, RuleKind::sniffer);
  post_receive(qp1, program1, 2 * kReceived);
  for (int i = 0; i < 3; ++i) {
    post_receive(connected, program1);
    post_receive(beside1, program1, 3 * kReceived);
    const abi::ScatterGather from[] = {program0.sge(0, 64)};
    sender.post_send(wqe(abi::SendOpcode::send), from);
    run();
    BOOST_TEST(sender.send_cq.poll().has_value());
    BOOST_TEST(connected.poll_receive().has_value());
    BOOST_TEST(beside1.receive_cq.poll().has_value());
    BOOST_TEST(!qp1.receive_cq.poll().has_value());
  }
}

BOOST_AUTO_TEST_CASE(no_rule_takes_the_datagrams_of_a_group_with_members) {
  TestQp member(program1, 2, {.service = transport::QpService::ud});
  wire::Gid group;
  group.bytes = {0xFF, 0x12};
  engine.execute([&] { device1.multicast_groups().attach(group, member.device_end()); });
  steer(qp1);
  post_receive(qp1, program1);
  wire::NetworkHeaders network = path(device0, device1);
  network.source.bytes = {0xFE, 0x80};
  network.destination = group;
  network.destination_mac = wire::multicast_mac(group);
  send(roce(network, wire::Qpn{0xFFFFFF}, wire::Service::ud));
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  engine.execute([&] { device1.multicast_groups().remove(member.device_end()); });
  send(roce(network, wire::Qpn{0xFFFFFF}, wire::Service::ud));
  BOOST_TEST(qp1.receive_cq.poll().has_value());
}

// No queue pair has the number in its packets. Default rules do not get them; a rule that asks for them does.
BOOST_AUTO_TEST_CASE(a_roce_packet_for_nobody_is_a_frame_like_others_to_normal_rules) {
  FrameBytes bytes = roce(path(device0, device1), wire::Qpn{0x777777}, wire::Service::rc);
  steer(qp1, RuleKind::all_default);
  post_receive(qp1, program1);
  send(bytes);
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  BOOST_TEST(device1.port_counters().unknown_qp == 1u);

  bytes.back() ^= std::byte{1};  // its check sum is wrong now
  send(bytes);
  BOOST_TEST(received(qp1, bytes));

  bytes.back() ^= std::byte{1};
  steer(beside1);
  post_receive(beside1, program1, 2 * kReceived);
  send(bytes);
  BOOST_TEST(received(beside1, bytes, 2 * kReceived));
}

// Of a program without CAP_NET_RAW (device_model/control/uverbs/flow_commands.cpp).
BOOST_AUTO_TEST_CASE(a_sniffer_of_one_context_sees_none_of_the_packets_of_others) {
  for (const std::uint32_t context : {7u, 8u}) {
    TestQp sender(program0, 2, {});
    TestQp connected(program1, 2, {.context = context});
    connect(sender, connected);
    SteeringRule rule;
    rule.kind = RuleKind::sniffer;
    rule.sees_only = 7;
    rule.target.queue_pair = &qp1.device_end();
    std::uint32_t number = 0;
    engine.execute([&] { number = device1.add_steering_rule(rule); });
    post_receive(qp1, program1);
    post_receive(connected, program1, 2 * kReceived);
    const abi::ScatterGather from[] = {program0.sge(0, 64)};
    sender.post_send(wqe(abi::SendOpcode::send), from);
    run();
    BOOST_TEST(connected.poll_receive().has_value());
    BOOST_TEST(qp1.receive_cq.poll().has_value() == (context == 7));
    // What is no queue pair's is everybody's to see.
    post_receive(qp1, program1);
    send(long_frame(64));
    BOOST_TEST(qp1.receive_cq.poll().has_value());
    engine.execute([&] { device1.remove_steering_rule(number); });
  }
}

// A queue pair's own packets lie in pieces; a rule has them whole.
BOOST_AUTO_TEST_CASE(a_sniffer_has_the_packets_of_others_whole) {
  TestQp sender(program0, 2, {});
  TestQp connected(program1, 2, {});
  connect(sender, connected);
  steer(qp1, RuleKind::sniffer);
  post_receive(qp1, program1);
  post_receive(connected, program1, 2 * kReceived);
  program0.fill(0, 300, 3);
  const abi::ScatterGather from[] = {program0.sge(0, 300)};
  sender.post_send(wqe(abi::SendOpcode::send), from);
  run();
  BOOST_TEST(sender.send_cq.poll()->status == 0);
  BOOST_TEST(connected.poll_receive().has_value());
  BOOST_TEST(program1.holds(2 * kReceived, 300, 3));
  const auto copy = qp1.receive_cq.poll();
  BOOST_REQUIRE(copy.has_value());
  wire::ParsedFrame parsed;
  BOOST_CHECK(wire::parse(std::span(program1.bytes).subspan(kReceived, copy->byte_length), parsed) ==
              wire::ParseError::none);
  BOOST_TEST(parsed.payload.size() == 300);
}

// What a hash of the addresses says, of frames that are alike in all else.
BOOST_AUTO_TEST_CASE(frames_are_spread_over_queues_by_their_hash) {
  ToeplitzKey key{};
  key[7] = 2;  // the last bit of the source address is the last bit of the hash, and nothing else is in it
  const RssTable rss_table(key, hash_source_ipv4, {&qp1.device_end(), &beside1.device_end()});
  SteeringRule rule;
  rule.target.rss_table = &rss_table;
  engine.execute([&] { device1.add_steering_rule(rule); });
  for (std::uint8_t last = 0; last < 4; ++last) {
    RawFrame frame = ipv4_frame();
    frame.rest[15] = last;
    post_receive(qp1, program1);
    post_receive(beside1, program1, 2 * kReceived);
    send(frame.bytes());
    BOOST_TEST(
        received(last % 2 == 0 ? qp1 : beside1, frame.bytes(), last % 2 == 0 ? kReceived : 2 * kReceived));
    BOOST_TEST(!(last % 2 == 0 ? beside1 : qp1).receive_cq.poll().has_value());
  }
  BOOST_TEST(device1.port_counters().receive_errors == 0u);
}

// One slot: the second request is copied to the place of the first one's data as soon as that is done with.
BOOST_AUTO_TEST_CASE(inline_data_stays_until_the_frame_has_arrived) {
  QpLayout small = raw_packets();
  small.send_slots = 1;
  TestQp sender(program0, 3, small);
  bring_up(sender);
  steer(qp1);
  RawFrame first;
  first.rest.assign(50, 1);
  RawFrame second;
  second.rest.assign(50, 2);
  post_receive(qp1, program1);
  post_receive(qp1, program1, 2 * kReceived);
  sender.post_inline(wqe(abi::SendOpcode::send), first.bytes());
  while (!sender.send_cq.poll()) {
    program0.doorbell_set.collect();
    engine.data_path().round();
  }
  sender.post_inline(wqe(abi::SendOpcode::send), second.bytes());
  run();
  BOOST_TEST(received(qp1, first.bytes()));
  BOOST_TEST(received(qp1, second.bytes(), 2 * kReceived));
}

// Over the trunk, to one device and to all, with the longest frame that a link's slot holds.
BOOST_FIXTURE_TEST_CASE(a_frame_arrives_at_another_engine, TwoEngines) {
  TestQp sender(program0, 0, raw_packets());
  TestQp receiver(program1, 0, raw_packets());
  transport::QpParameters parameters;
  parameters.path_mtu = kLongest;
  for (const auto state : {transport::QpState::init, transport::QpState::rtr, transport::QpState::rts}) {
    engine0.execute([&] { sender.device_end().modify(state, parameters, std::nullopt); });
    engine1.execute([&] { receiver.device_end().modify(state, parameters, std::nullopt); });
  }
  SteeringRule rule;
  rule.kind = RuleKind::all_default;
  rule.target.queue_pair = &receiver.device_end();
  engine1.execute([&] { device1.add_steering_rule(rule); });
  for (const wire::MacAddress& to : {device_config(2).mac, wire::MacAddress{{1, 0, 0x5E, 1, 2, 3}},
                                     wire::MacAddress{{2, 0, 0, 0, 0, 99}}}) {
    FrameBytes frame = long_frame(kLongest);
    for (std::size_t i = 0; i < 6; ++i) frame[i] = static_cast<std::byte>(to.bytes[i]);
    std::memcpy(program0.bytes.data(), frame.data(), frame.size());
    const abi::ScatterGather into[] = {program1.sge(kReceived, 5000)};
    receiver.post_receive(into);
    const abi::ScatterGather from[] = {program0.sge(0, kLongest)};
    sender.post_send(wqe(abi::SendOpcode::send), from);
    run();
    BOOST_TEST(sender.send_cq.poll()->status == 0);
    const auto completion = receiver.receive_cq.poll();
    BOOST_REQUIRE(completion.has_value());
    BOOST_TEST(completion->byte_length == kLongest);
    BOOST_TEST(std::memcmp(program1.bytes.data() + kReceived, frame.data(), frame.size()) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
