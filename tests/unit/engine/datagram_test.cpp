// Datagrams through the engine: to one, to a group, over IPv4 and IPv6.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/engine/program.hpp"
#include "wire/internet_checksum.hpp"

namespace urnic::engine::test {

namespace datagrams_through_the_engine {

constexpr std::uint32_t kGrh = 40;
constexpr std::uint32_t kQkey = 0x1EE7;
constexpr std::size_t kReceived = 4096;  // where receives are in a program's memory

QpLayout datagrams() { return {.service = transport::QpService::ud}; }

wire::Gid ipv6_group(std::uint8_t last = 9) {
  return {{0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xA1, 0xB2, 0xC3, last}};
}
wire::Gid ipv4_group() { return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 239, 0x81, 2, 3}}; }

struct Datagrams : Fabric {
  explicit Datagrams(bool blocks_its_own = false) : sender_blocks_its_own(blocks_its_own) {
    for (TestQp* qp : {&qp0, &beside0, &qp1, &beside1}) bring_up(*qp);
  }

  const bool sender_blocks_its_own;
  TestQp qp0{program0, 0, sender()};
  TestQp beside0{program0, 1, datagrams()};
  TestQp qp1{program1, 0, datagrams()};
  TestQp beside1{program1, 1, datagrams()};

  QpLayout sender() const {
    QpLayout layout = datagrams();
    layout.blocks_own_multicast = sender_blocks_its_own;
    return layout;
  }

  void bring_up(TestQp& qp) {
    transport::QpParameters parameters;
    parameters.path_mtu = 1024;
    parameters.qkey = kQkey;
    using transport::QpState;
    for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
      engine.execute([&] { qp.device_end().modify(state, parameters, std::nullopt); });
    }
  }

  // An address handle on device0.
  std::uint32_t handle_to(const wire::NetworkHeaders& to) {
    return device0.address_handles().add(std::make_unique<AddressHandle>(program0.pd, to)).value();
  }
  std::uint32_t handle_to_group(const wire::Gid& group) {
    wire::NetworkHeaders to = path(device0, device1);
    to.destination = group;
    to.destination_mac = wire::multicast_mac(group);
    return handle_to(to);
  }

  void send(std::uint32_t handle, wire::Qpn to, std::uint32_t length) { send_from(qp0, handle, to, length); }
  void send_from(TestQp& qp, std::uint32_t handle, wire::Qpn to, std::uint32_t length) {
    abi::SendWqe head = wqe(abi::SendOpcode::send);
    head.address_handle = handle;
    head.remote_qpn = to.value;
    head.remote_qkey = kQkey;
    const abi::ScatterGather from[] = {program0.sge(0, length)};
    qp.post_send(head, from);
    run();
  }

  static void post_receive(TestQp& qp, const Program& program, std::size_t offset = kReceived) {
    const abi::ScatterGather to[] = {program.sge(offset, 1024)};
    qp.post_receive(to);
  }
};

constexpr wire::Qpn kGroupQpn{0xFFFFFF};

}  // namespace datagrams_through_the_engine

BOOST_FIXTURE_TEST_SUITE(datagrams_through_the_engine, Datagrams)

BOOST_AUTO_TEST_CASE(a_datagram_arrives_behind_its_ipv4_header) {
  program0.fill(0, 100, 3);
  post_receive(qp1, program1);
  send(handle_to(path(device0, device1)), qp1.qpn(), 100);
  BOOST_TEST(qp0.send_cq.poll()->status == 0);
  const auto received = qp1.receive_cq.poll();
  BOOST_REQUIRE(received.has_value());
  BOOST_TEST(received->byte_length == kGrh + 100);
  BOOST_TEST((received->flags & abi::cqe_grh) != 0);
  BOOST_TEST(received->source_qpn == qp0.qpn().value);
  BOOST_TEST(program1.holds(kReceived + kGrh, 100, 3));
  const std::byte* const ip = &program1.bytes[kReceived + 20];
  BOOST_CHECK(ip[0] == std::byte{0x45} && ip[9] == std::byte{17});
  BOOST_CHECK(std::memcmp(ip + 12, &device0.config().gids[0].gid.bytes[12], 4) == 0);
  BOOST_CHECK(std::memcmp(ip + 16, &device1.config().gids[0].gid.bytes[12], 4) == 0);
  for (std::size_t i = 0; i < 20; ++i) BOOST_CHECK(program1.bytes[kReceived + i] == std::byte{0});
}

BOOST_AUTO_TEST_CASE(a_group_of_ipv6_addresses_gives_the_header_itself) {
  engine.execute([&] { device1.multicast_groups().attach(ipv6_group(), qp1.device_end()); });
  post_receive(qp1, program1);
  send(handle_to_group(ipv6_group()), kGroupQpn, 8);
  BOOST_REQUIRE(qp1.receive_cq.poll().has_value());
  const std::byte* const ip = &program1.bytes[kReceived];
  BOOST_CHECK(ip[0] == std::byte{0x60} && ip[6] == std::byte{17});
  BOOST_CHECK(std::memcmp(ip + 24, ipv6_group().bytes.data(), 16) == 0);
}

// Counts the sender's completions when the frame is on its way.
struct Onlooker final : link::FrameObserver {
  explicit Onlooker(const TestQp& qp) : sender(qp) {}
  void observe(const link::Observation&) override {
    completions = std::max(completions, sender.send_cq.device_end->indices().producer);
    ++frames;
  }
  const TestQp& sender;
  std::uint32_t completions = 0;
  std::uint32_t frames = 0;
};

// A program that posts a receive when its send has completed does not get its own datagram: that has come
// back before, to no receive. With a payload in memory and with one in the WQE.
BOOST_AUTO_TEST_CASE(a_datagram_has_left_when_it_completes) {
  for (const std::uint32_t length : {64u, 0u}) {
    Onlooker onlooker(qp0);
    onlooker.completions = 0;
    const std::uint32_t before = qp0.send_cq.device_end->indices().producer;
    frame_switch.add_observer(onlooker);
    send(handle_to(path(device0, device1)), qp1.qpn(), length);
    frame_switch.remove_observer(onlooker);
    BOOST_TEST(onlooker.frames > 0u);
    BOOST_TEST(onlooker.completions == before);
    BOOST_TEST(qp0.send_cq.device_end->indices().producer == before + 1);
  }
}

BOOST_AUTO_TEST_CASE(everybody_in_a_group_has_one_copy_also_the_sender) {
  program0.fill(0, 64, 5);
  for (TestQp* qp : {&qp0, &beside0}) {
    engine.execute([&] { device0.multicast_groups().attach(ipv4_group(), qp->device_end()); });
  }
  for (TestQp* qp : {&qp1, &beside1}) {
    engine.execute([&] { device1.multicast_groups().attach(ipv4_group(), qp->device_end()); });
  }
  post_receive(qp0, program0, kReceived);
  post_receive(beside0, program0, 2 * kReceived);
  post_receive(qp1, program1, kReceived);
  post_receive(beside1, program1, 2 * kReceived);
  for (TestQp* qp : {&qp0, &qp1}) post_receive(*qp, qp == &qp0 ? program0 : program1, 3 * kReceived);
  send(handle_to_group(ipv4_group()), kGroupQpn, 64);
  for (TestQp* qp : {&qp0, &beside0, &qp1, &beside1}) {
    BOOST_TEST(qp->receive_cq.poll().has_value());
    BOOST_TEST(!qp->receive_cq.poll().has_value());
  }
  BOOST_TEST(program0.holds(kReceived + kGrh, 64, 5));
  BOOST_TEST(program0.holds(2 * kReceived + kGrh, 64, 5));
  BOOST_TEST(program1.holds(kReceived + kGrh, 64, 5));
  BOOST_TEST(program1.holds(2 * kReceived + kGrh, 64, 5));
  // One packet left, and came to the group's members on both devices.
  BOOST_TEST(device0.port_counters().transmitted_multicast == 1u);
  BOOST_TEST(device0.port_counters().received_multicast == 1u);
  BOOST_TEST(device1.port_counters().transmitted_multicast == 0u);
  BOOST_TEST(device1.port_counters().received_multicast == 1u);
}

BOOST_AUTO_TEST_CASE(a_sender_that_is_not_in_the_group_gets_no_copy) {
  engine.execute([&] { device0.multicast_groups().attach(ipv4_group(), beside0.device_end()); });
  post_receive(qp0, program0, kReceived);
  post_receive(beside0, program0, 2 * kReceived);
  send(handle_to_group(ipv4_group()), kGroupQpn, 64);
  BOOST_TEST(!qp0.receive_cq.poll().has_value());
  BOOST_TEST(beside0.receive_cq.poll().has_value());
}

// IBV_QP_CREATE_BLOCK_SELF_MCAST_LB keeps the QP's own datagrams away from itself: not from others of the
// device, and not those of others from it.
BOOST_AUTO_TEST_CASE(a_qp_that_blocks_its_own_has_the_datagrams_of_others) {
  Datagrams blocking(true);
  const auto join = [&](Device& device, TestQp& qp) {
    blocking.engine.execute([&] { device.multicast_groups().attach(ipv4_group(), qp.device_end()); });
  };
  join(blocking.device0, blocking.qp0);
  join(blocking.device0, blocking.beside0);
  join(blocking.device1, blocking.qp1);
  post_receive(blocking.qp0, blocking.program0, kReceived);
  post_receive(blocking.beside0, blocking.program0, 2 * kReceived);
  post_receive(blocking.qp1, blocking.program1, kReceived);
  blocking.send(blocking.handle_to_group(ipv4_group()), kGroupQpn, 64);
  BOOST_TEST(!blocking.qp0.receive_cq.poll().has_value());
  for (TestQp* qp : {&blocking.beside0, &blocking.qp1}) BOOST_TEST(qp->receive_cq.poll().has_value());

  blocking.send_from(blocking.beside0, blocking.handle_to_group(ipv4_group()), kGroupQpn, 64);
  BOOST_TEST(blocking.qp0.receive_cq.poll().has_value());
  // To itself, but to no group.
  post_receive(blocking.qp0, blocking.program0, kReceived);
  blocking.send(blocking.handle_to(path(blocking.device0, blocking.device0)), blocking.qp0.qpn(), 8);
  BOOST_TEST(blocking.qp0.receive_cq.poll().has_value());
}

BOOST_AUTO_TEST_CASE(who_is_not_in_the_group_or_has_left_it_gets_nothing) {
  MulticastGroups& groups = device1.multicast_groups();
  engine.execute([&] {
    groups.attach(ipv6_group(1), qp1.device_end());
    groups.attach(ipv6_group(), beside1.device_end());
    groups.attach(ipv6_group(), beside1.device_end());
    groups.detach(ipv6_group(), beside1.device_end());
  });
  post_receive(qp1, program1);
  post_receive(beside1, program1);
  send(handle_to_group(ipv6_group()), kGroupQpn, 8);
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
  BOOST_TEST(!beside1.receive_cq.poll().has_value());
}

BOOST_AUTO_TEST_CASE(a_group_packet_for_a_single_qp_is_not_let_in) {
  engine.execute([&] { device1.multicast_groups().attach(ipv6_group(), qp1.device_end()); });
  post_receive(qp1, program1);
  send(handle_to_group(ipv6_group()), qp1.qpn(), 8);
  BOOST_TEST(!qp1.receive_cq.poll().has_value());
}

BOOST_AUTO_TEST_CASE(a_destroyed_qp_is_in_no_group) {
  {
    TestQp short_lived(program1, 2, datagrams());
    bring_up(short_lived);
    engine.execute([&] { device1.multicast_groups().attach(ipv6_group(), short_lived.device_end()); });
  }
  send(handle_to_group(ipv6_group()), kGroupQpn, 8);
  BOOST_TEST(device1.multicast_groups().members(ipv6_group()).empty());
}

BOOST_AUTO_TEST_CASE(a_handle_that_was_removed_is_an_error_of_the_request) {
  const std::uint32_t handle = handle_to(path(device0, device1));
  BOOST_TEST((device0.address_handles().remove(handle) != nullptr));
  const std::uint32_t next = handle_to(path(device0, device1));
  BOOST_TEST(next != handle);
  send(handle, qp1.qpn(), 8);
  BOOST_TEST(qp0.send_cq.poll()->status == 2);  // IBV_WC_LOC_QP_OP_ERR
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(address_handles_are_given_out_up_to_the_limit) {
  AddressHandleTable table(2);
  const auto make = [] {
    return std::make_unique<AddressHandle>(transport::PdId{1}, wire::NetworkHeaders{});
  };
  const auto one = table.add(make());
  const auto two = table.add(make());
  BOOST_REQUIRE((one && two && *one != *two));
  BOOST_TEST(!table.add(make()).has_value());
  table.remove(*one);
  BOOST_TEST((table.find(*one) == nullptr));
  BOOST_TEST(table.add(make()).has_value());
  BOOST_TEST((table.find(0xFFFF) == nullptr));
}

}  // namespace urnic::engine::test
