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

BOOST_FIXTURE_TEST_CASE(without_subnet_administration_nobody_joins, Datagrams) {
  manager.has_administration = false;
  BOOST_TEST(program.join(id, address("239.1.2.3")) == EOPNOTSUPP);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
