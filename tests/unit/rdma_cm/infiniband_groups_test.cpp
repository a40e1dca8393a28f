// Multicast groups of InfiniBand devices: their GIDs, and what the subnet manager is asked of them.
#include <infiniband/verbs.h>

#include "device_model/control/rdma_cm/multicast_groups.hpp"
#include "tests/unit/rdma_cm/infiniband_world.hpp"

namespace urnic::control::rdma_cm::test {

BOOST_FIXTURE_TEST_SUITE(infiniband_groups, Subnet)

BOOST_AUTO_TEST_CASE(groups_have_the_gids_that_linux_gives_them) {
  const auto group = [](const std::string& text) {
    const __kernel_sockaddr_storage storage = address(text);
    return read_address(std::as_bytes(std::span(&storage, 1)));
  };
  const std::tuple<SocketAddress, PortSpace, std::string> kRows[] = {
      {group("239.1.2.3"), PortSpace::udp, "ff12:4001:8001::f01:203"},
      {group("239.1.2.3"), PortSpace::ipoib, "ff12:401b:8001::f01:203"},
      {group("ff02::1:ff00:5"), PortSpace::udp, "ff12:6001:8001::1:ff00:5"},
      {group("ff02::1:ff00:5"), PortSpace::ipoib, "ff12:601b:8001::1:ff00:5"},
      {group("ff15:a01b:1::2"), PortSpace::udp, "ff15:a01b:1::2"},
      {group("0.0.0.0"), PortSpace::udp, "::"},
      {{.family = Family::ib, .ip = group("ff12:1::2").ip}, PortSpace::udp, "ff12:1::2"}};
  for (const auto& [from, space, gid] : kRows)
    BOOST_TEST(control::to_text(group_gid(from, space, {0x8001})) == gid);
}

struct Datagrams : Subnet {
  Program program{*this};
  std::uint32_t id = program.create(RDMA_PS_UDP, 4);
  Datagrams() { BOOST_TEST(program.bind(id, "192.0.2.1") == 0); }

  MulticastMemberRecord asked_group() const {
    return wire::mad::decode_record<MulticastMemberRecord>(manager.asked.back().mad);
  }
};

BOOST_FIXTURE_TEST_CASE(the_subnet_manager_is_asked_to_join_a_group, Datagrams) {
  BOOST_TEST(program.join(id, address("239.1.2.3"), 5) == 0);
  const std::uint32_t number = program.read_answer<rdma_ucm_create_id_resp>().id;
  program.expect_nothing();
  MulticastMemberRecord group = asked_group();
  BOOST_TEST(control::to_text(group.group) == "ff12:4001:ffff::f01:203");
  BOOST_TEST((group.port == gid(0)));
  BOOST_TEST(group.qkey.value == 0x01234567u);
  BOOST_TEST(group.join_state == 1);
  group.group_lid = {0xC003};
  group.service_level = 2;
  group.rate = 7;
  BOOST_TEST(answer(group));
  program.expect(EventType::multicast_join, number);
  const ib_uverbs_ah_attr attributes = program.last.param.ud.ah_attr;
  BOOST_TEST(attributes.dlid == 0xC003);
  BOOST_TEST(attributes.sl == 2);
  BOOST_TEST(attributes.static_rate == 7);
  BOOST_TEST(attributes.is_global == 1);
  BOOST_TEST(program.last.param.ud.qkey == 0x01234567u);
  BOOST_TEST(program.last.param.ud.qp_num == 0xFFFFFFu);

  BOOST_TEST(program.run(RDMA_USER_CM_CMD_LEAVE_MCAST, rdma_ucm_destroy_id{0, number, 0}) == 0);
  BOOST_REQUIRE_EQUAL(manager.asked.size(), 1u);
  BOOST_TEST(std::to_integer<int>(manager.asked.back().mad[3]) == 0x15);
  BOOST_TEST((asked_group().group == group.group));
}

BOOST_FIXTURE_TEST_CASE(a_program_that_ends_leaves_its_groups, Datagrams) {
  program.join(id, address("239.1.2.3"));
  answer(asked_group());
  program.close();
  BOOST_REQUIRE_EQUAL(manager.asked.size(), 1u);
  BOOST_TEST(std::to_integer<int>(manager.asked.back().mad[3]) == 0x15);
}

BOOST_FIXTURE_TEST_CASE(a_group_costs_until_the_manager_has_answered, Datagrams) {
  const auto used = [this] { return fabric.quotas().used(Resource::rdma_cm_ids); };
  const std::uint64_t before = used();
  program.join(id, address("239.1.2.3"));
  const std::uint32_t number = program.read_answer<rdma_ucm_create_id_resp>().id;
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_LEAVE_MCAST, rdma_ucm_destroy_id{0, number, 0}) == 0);
  BOOST_TEST(used() == before + 1);
  answer(asked_group());
  BOOST_TEST(used() == before + 1);
  answer(asked_group());
  BOOST_TEST(used() == before);
  program.join(id, address("239.1.2.3"));
  answer(asked_group(), static_cast<wire::mad::MadStatus>(0x0200));
  BOOST_TEST(used() == before + 1);
}

BOOST_FIXTURE_TEST_CASE(a_group_that_is_refused_is_an_event, Datagrams) {
  BOOST_TEST(program.join(id, address("239.1.2.3"), 5, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER) == 0);
  const std::uint32_t number = program.read_answer<rdma_ucm_create_id_resp>().id;
  BOOST_TEST(asked_group().join_state == 8);
  BOOST_TEST(answer(asked_group(), static_cast<wire::mad::MadStatus>(0x0200)));
  program.expect(EventType::multicast_error, number, -EINVAL);
}

BOOST_FIXTURE_TEST_CASE(a_group_that_is_lost_later_is_an_event, Datagrams) {
  program.join(id, address("239.1.2.3"));
  const std::uint32_t number = program.read_answer<rdma_ucm_create_id_resp>().id;
  const MulticastMemberRecord group = asked_group();
  answer(group);
  program.expect(EventType::multicast_join, number);
  rdma_cm.register_again(*fabric.devices()[0]->adapter);
  for (int i = 0; i < 7; ++i) {
    program.expect_nothing();
    BOOST_TEST(answer(group, static_cast<wire::mad::MadStatus>(1)));
    pass(32s);
  }
  program.expect(EventType::multicast_error, number, -EINVAL);
}

// The port space IPOIB, which asks for the broadcast group of its device first.
struct Ipoib : Subnet {
  static constexpr std::uint32_t kQkey = 0xB1B;
  static constexpr auto kRefused = static_cast<wire::mad::MadStatus>(0x0200);
  Program program{*this};
  std::uint32_t id = program.create(RDMA_PS_IPOIB, 4);

  MulticastMemberRecord asked_group() const {
    return wire::mad::decode_record<MulticastMemberRecord>(manager.asked.back().mad);
  }
  wire::mad::ComponentMask components() const {
    wire::mad::ComponentMask mask = 0;
    for (std::size_t i = 48; i < 56; ++i)
      mask = mask << 8 | std::to_integer<std::uint8_t>(manager.asked.back().mad[i]);
    return mask;
  }
  MulticastMemberRecord broadcast() const {
    MulticastMemberRecord group = asked_group();
    group.qkey = {kQkey};
    group.mtu_selector = group.rate_selector = wire::mad::kExactly;
    group.mtu = 4;
    group.rate = 3;
    group.service_level = 5;
    group.hop_limit = 9;
    return group;
  }
  int init_qp(std::uint32_t number) { return program.init_qp(number, IBV_QPS_INIT); }
  // A program of the space UDP joins the broadcast group; the number of what it has joined.
  std::uint32_t join_by_gid() {
    const std::uint32_t datagrams = program.create(RDMA_PS_UDP, 4);
    BOOST_TEST(program.bind(datagrams, "192.0.2.1") == 0);
    SocketAddress group{.family = Family::ib};
    group.ip = control::parse_ip_address("ff12:401b:ffff::ffff:ffff").value();
    __kernel_sockaddr_storage storage{};
    write_address(group, std::as_writable_bytes(std::span(&storage, 1)));
    BOOST_TEST(program.join(datagrams, storage) == 0);
    return program.read_answer<rdma_ucm_create_id_resp>().id;
  }
};

// From the destination's own device, as the program does not say from which one.
BOOST_FIXTURE_TEST_CASE(ip_over_infiniband_has_the_qkey_of_the_broadcast_group, Ipoib) {
  BOOST_TEST(program.resolve(id, address("192.0.2.2")) == 0);
  program.expect_nothing();
  BOOST_TEST(control::to_text(asked_group().group) == "ff12:401b:ffff::ffff:ffff");
  BOOST_TEST((asked_group().port == gid(1)));
  BOOST_TEST(asked_group().pkey.value == 0xFFFF);
  BOOST_TEST(components() == 0x10083u);  // it makes no group
  BOOST_TEST(answer(broadcast()));
  rdma_cm.resolutions().look_again();
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(init_qp(id) == 0);
  BOOST_TEST(program.read_answer<ib_uverbs_qp_attr>().qkey == kQkey);
  // Others have it at once.
  const std::uint32_t other = program.create(RDMA_PS_IPOIB, 4);
  BOOST_TEST(program.bind(other, "192.0.2.2") == 0);
  BOOST_TEST(init_qp(other) == 0);
  BOOST_TEST(manager.asked.empty());
}

BOOST_FIXTURE_TEST_CASE(groups_of_ip_over_infiniband_are_like_the_broadcast_group, Ipoib) {
  BOOST_TEST(program.bind(id, "192.0.2.1") == 0);
  BOOST_TEST(answer(broadcast()));
  BOOST_TEST(program.join(id, address("239.1.2.3")) == 0);
  const MulticastMemberRecord group = asked_group();
  BOOST_TEST(control::to_text(group.group) == "ff12:401b:ffff::f01:203");
  BOOST_TEST(group.qkey.value == kQkey);
  BOOST_TEST(group.mtu == 4);
  BOOST_TEST(group.mtu_selector == wire::mad::kExactly);
  BOOST_TEST(group.rate == 3);
  BOOST_TEST(group.service_level == 5);
  BOOST_TEST(group.hop_limit == 9);
  // MTU, rate and hop limit, too (Linux's cma_join_ib_multicast).
  BOOST_TEST(components() == 0x173F7u);
}

BOOST_FIXTURE_TEST_CASE(without_a_broadcast_group_there_is_no_ip_over_infiniband, Ipoib) {
  BOOST_TEST(program.resolve(id, address("192.0.2.2")) == 0);
  BOOST_TEST(answer(broadcast(), kRefused));
  rdma_cm.resolutions().look_again();
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(manager.asked.empty());
  BOOST_TEST(init_qp(id) == EADDRNOTAVAIL);
  BOOST_TEST(program.join(id, address("239.1.2.3")) == EADDRNOTAVAIL);
  // The next one asks again. A manager that says nothing has as long as the program.
  const std::uint32_t other = program.create(RDMA_PS_IPOIB, 4);
  BOOST_TEST(program.resolve(other, address("192.0.2.2")) == 0);
  BOOST_TEST(manager.asked.size() == 1u);
  pass(2s);
  program.expect(EventType::address_error, other, -ETIMEDOUT);
}

BOOST_FIXTURE_TEST_CASE(without_subnet_administration_there_is_no_ip_over_infiniband, Ipoib) {
  manager.has_administration = false;
  BOOST_TEST(program.resolve(id, address("192.0.2.2")) == 0);
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(init_qp(id) == EADDRNOTAVAIL);
  BOOST_TEST(program.join(id, address("239.1.2.3")) == EOPNOTSUPP);
}

BOOST_FIXTURE_TEST_CASE(a_listener_on_any_address_needs_the_broadcast_group_of_each_device, Ipoib) {
  BOOST_TEST(program.bind(id, "0.0.0.0", 7000) == 0);
  BOOST_TEST(manager.asked.empty());
  BOOST_TEST(program.listen(id) == 0);
  BOOST_TEST(manager.asked.size() == fabric.devices().size());
}

// The peer asks again, until the server's device is in the group.
BOOST_FIXTURE_TEST_CASE(a_request_waits_for_the_broadcast_group, Ipoib) {
  Program server(*this, 2);
  const std::uint32_t listening = server.create(RDMA_PS_IPOIB, 4);
  BOOST_TEST(server.bind(listening, "192.0.2.2", 7000) == 0);
  BOOST_TEST(server.listen(listening) == 0);
  BOOST_TEST(program.resolve(id, address("192.0.2.2", 7000), address("192.0.2.1")) == 0);
  BOOST_TEST(answer(broadcast()));
  rdma_cm.resolutions().look_again();
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(program.resolve_route(id) == 0);
  BOOST_TEST(answer(given_path()));
  program.expect(EventType::route_resolved, id);
  BOOST_TEST(program.connect(id, {}) == 0);
  deliver();
  server.expect_nothing();
  pass(400ms);
  BOOST_TEST((asked_group().port == gid(1)));
  BOOST_TEST(answer(broadcast()));
  for (int i = 0; i < 10 && server.tokens == 0; ++i) pass(1s);
  BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
  const std::uint32_t passive = server.last.id;
  BOOST_TEST(server.init_qp(passive, IBV_QPS_INIT) == 0);
  BOOST_TEST(server.qp_attributes().qkey == kQkey);
  BOOST_TEST(server.accept(passive, rdma_ucm_conn_param{}) == 0);
  deliver();
  program.expect(EventType::established, id);
  BOOST_TEST(program.last.param.ud.qkey == kQkey);
}

// By its GID a program of the space UDP asks for a Q_Key there. The port space IPOIB takes what there is.
BOOST_FIXTURE_TEST_CASE(the_broadcast_group_may_be_joined_by_its_gid_too, Ipoib) {
  constexpr std::uint32_t kDatagrams = 0x01234567;
  const std::uint32_t first = join_by_gid();
  BOOST_TEST(asked_group().qkey.value == kDatagrams);
  BOOST_TEST(answer(asked_group()));
  program.expect(EventType::multicast_join, first);
  BOOST_TEST(program.bind(id, "192.0.2.1") == 0);
  BOOST_TEST(init_qp(id) == 0);
  BOOST_TEST(program.read_answer<ib_uverbs_qp_attr>().qkey == kDatagrams);
  // The device stays in the group, and others join there.
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_LEAVE_MCAST, rdma_ucm_destroy_id{0, first, 0}) == 0);
  const std::uint32_t second = join_by_gid();
  program.expect(EventType::multicast_join, second);
  BOOST_TEST(manager.asked.empty());
}

// Linux's cmp_rec: it asks for another Q_Key than the group has.
BOOST_FIXTURE_TEST_CASE(a_broadcast_group_with_another_qkey_is_not_joined_by_its_gid, Ipoib) {
  BOOST_TEST(program.bind(id, "192.0.2.1") == 0);
  BOOST_TEST(answer(broadcast()));
  const std::uint32_t refused = join_by_gid();
  program.expect(EventType::multicast_error, refused, -EINVAL);
  BOOST_TEST(init_qp(id) == 0);
}

// Nobody told the device when the manager came.
BOOST_FIXTURE_TEST_CASE(who_listens_before_there_is_a_manager_joins_when_it_comes, Ipoib) {
  manager.has_administration = false;
  BOOST_TEST(program.bind(id, "192.0.2.1", 7000) == 0);
  BOOST_TEST(program.listen(id) == 0);
  manager.has_administration = true;
  BOOST_TEST(manager.asked.empty());
  rdma_cm.register_again(*fabric.devices()[1]->adapter);
  BOOST_TEST(manager.asked.empty());  // nobody has used it
  rdma_cm.register_again(*fabric.devices()[0]->adapter);
  BOOST_REQUIRE_EQUAL(manager.asked.size(), 1u);
  BOOST_TEST((asked_group().port == gid(0)));
  BOOST_TEST(answer(broadcast()));
  const std::uint32_t other = program.create(RDMA_PS_IPOIB, 4);
  BOOST_TEST(program.bind(other, "192.0.2.1") == 0);
  BOOST_TEST(init_qp(other) == 0);
  BOOST_TEST(manager.asked.empty());
}

// A manager may make the group later than the program listens.
BOOST_FIXTURE_TEST_CASE(a_request_has_the_broadcast_group_asked_for, Ipoib) {
  Program server(*this, 2);
  const std::uint32_t listening = server.create(RDMA_PS_IPOIB, 4);
  BOOST_TEST(server.bind(listening, "192.0.2.2", 7000) == 0);
  BOOST_TEST(answer(broadcast(), kRefused));
  BOOST_TEST(server.listen(listening) == 0);
  BOOST_TEST(program.resolve(id, address("192.0.2.2", 7000), address("192.0.2.1")) == 0);
  BOOST_TEST(answer(broadcast()));
  rdma_cm.resolutions().look_again();
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(program.resolve_route(id) == 0);
  BOOST_TEST(answer(given_path()));
  program.expect(EventType::route_resolved, id);
  BOOST_TEST(program.connect(id, {}) == 0);
  deliver();
  server.expect_nothing();
  BOOST_TEST((asked_group().port == gid(1)));
  BOOST_TEST(answer(broadcast()));
  for (int i = 0; i < 10 && server.tokens == 0; ++i) pass(1s);
  BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
}

BOOST_FIXTURE_TEST_CASE(a_group_of_a_new_manager_has_its_qkey, Ipoib) {
  BOOST_TEST(program.bind(id, "192.0.2.1") == 0);
  BOOST_TEST(answer(broadcast()));
  rdma_cm.register_again(*fabric.devices()[0]->adapter);
  MulticastMemberRecord other = broadcast();
  other.qkey = {0xC2C};
  BOOST_TEST(answer(other));
  BOOST_TEST(init_qp(id) == 0);
  BOOST_TEST(program.read_answer<ib_uverbs_qp_attr>().qkey == 0xC2Cu);
}

BOOST_FIXTURE_TEST_CASE(without_subnet_administration_nobody_joins, Datagrams) {
  manager.has_administration = false;
  BOOST_TEST(program.join(id, address("239.1.2.3")) == EOPNOTSUPP);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
