// Which addresses can be bound and resolved, and to which device they lead.
#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

std::uint64_t guid(const World& world, std::size_t device) {
  std::uint64_t guid = 0;
  std::memcpy(&guid, world.fabric.devices()[device]->node_guid.data(), sizeof guid);
  return guid;
}

std::string link_local(const World& world, std::size_t device) {
  return control::to_text(world.fabric.devices()[device]->settings.gids.front());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(addresses, World)

BOOST_AUTO_TEST_CASE(an_address_that_is_bound_names_its_device) {
  Program program(*this);
  const std::pair<std::string, std::size_t> kDevices[] = {
      {"192.0.2.1", 0}, {"192.0.2.2", 1}, {"127.0.0.1", 0}, {"127.0.0.2", 1},          {"127.0.0.3", 0},
      {"127.9.9.9", 0}, {"127.1.0.2", 0}, {"::1", 0},       {link_local(*this, 1), 1u}};
  for (const auto& [text, device] : kDevices) {
    BOOST_TEST_CONTEXT(text) {
      const std::uint32_t id = program.create();
      BOOST_TEST(program.bind(id, text, 7000) == 0);
      const rdma_ucm_query_addr_resp answer = program.query_address(id);
      BOOST_TEST(answer.node_guid == guid(*this, device));
      BOOST_TEST(answer.port_num == 1);
      BOOST_TEST(answer.ibdev_index == 0xFFFFFFFF);
      BOOST_TEST(text_of(answer.src_addr).find(":7000") != std::string::npos);
      program.destroy(id);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wildcard_has_no_device) {
  Program program(*this);
  for (const std::string text : {"0.0.0.0", "::"}) {
    const std::uint32_t id = program.create();
    BOOST_TEST(program.bind(id, text, 7000) == 0);
    const rdma_ucm_query_addr_resp answer = program.query_address(id);
    BOOST_TEST(answer.node_guid == 0u);
    BOOST_TEST(answer.port_num == 0);
    program.destroy(id);
  }
}

// librdmacm's question whether AF_IB works. With a device in the answer it would wait for ever.
BOOST_AUTO_TEST_CASE(the_probe_for_infiniband_addresses_is_answered) {
  Program program(*this);
  const std::uint32_t id = program.create(RDMA_PS_IB, 2);
  __kernel_sockaddr_storage any{};
  const SocketAddress probe{
      .family = Family::ib, .service_id = 0x01060000, .service_mask = 0xFFFFFFFFFFFF0000};
  write_address(probe, std::as_writable_bytes(std::span(&any, 1)));
  BOOST_TEST(program.bind(id, any) == 0);
  BOOST_TEST(program.query_address(id).node_guid == 0u);
  BOOST_TEST(program.query(id, RDMA_USER_CM_QUERY_GID) == 0);
  const auto gids = program.read_answer<rdma_ucm_query_addr_resp>();
  BOOST_TEST(gids.node_guid == 0u);
  BOOST_TEST(gids.src_size == 48);
  BOOST_TEST(program.destroy(id) == 0);

  SocketAddress with_gid = probe;
  with_gid.ip = fabric.devices()[0]->settings.gids.front();
  write_address(with_gid, std::as_writable_bytes(std::span(&any, 1)));
  BOOST_TEST(program.bind(program.create(RDMA_PS_IB, 2), any) == ENODEV);
  BOOST_TEST(program.resolve(program.create(RDMA_PS_IB, 2), any) == ENODEV);
}

BOOST_AUTO_TEST_CASE(addresses_of_nobody_cannot_be_bound) {
  Program program(*this);
  BOOST_TEST(program.bind(program.create(), "192.0.2.77") == EADDRNOTAVAIL);
  BOOST_TEST(program.bind(program.create(), "2001:db8::1") == EADDRNOTAVAIL);
  BOOST_TEST(program.bind(program.create(), "::ffff:192.0.2.1") == EADDRNOTAVAIL);
  BOOST_TEST(program.bind(program.create(), "fe80::77") == EINVAL);
  BOOST_TEST(program.bind(program.create(), address("fe80::77", 0, 3)) == EADDRNOTAVAIL);
}

BOOST_AUTO_TEST_CASE(wrong_sizes_and_families_are_refused) {
  Program program(*this);
  const std::uint32_t id = program.create();
  const __kernel_sockaddr_storage to = address("192.0.2.1");
  const auto bind = [&](std::uint16_t size, std::uint16_t reserved, const __kernel_sockaddr_storage& at) {
    return program.run(RDMA_USER_CM_CMD_BIND, rdma_ucm_bind{id, size, reserved, at});
  };
  BOOST_TEST(bind(0, 0, to) == EINVAL);
  BOOST_TEST(bind(15, 0, to) == EINVAL);
  BOOST_TEST(bind(28, 0, to) == EINVAL);
  BOOST_TEST(bind(16, 1, to) == EINVAL);
  BOOST_TEST(bind(16, 0, __kernel_sockaddr_storage{}) == EAFNOSUPPORT);
  const auto resolve = [&](std::uint16_t source, std::uint16_t destination, std::uint32_t reserved) {
    return program.run(RDMA_USER_CM_CMD_RESOLVE_ADDR,
                       rdma_ucm_resolve_addr{id, 1, source, destination, reserved, to, to});
  };
  BOOST_TEST(resolve(0, 0, 0) == EINVAL);
  BOOST_TEST(resolve(0, 28, 0) == EINVAL);
  BOOST_TEST(resolve(15, 16, 0) == EINVAL);
  BOOST_TEST(resolve(0, 16, 1) == EINVAL);
  BOOST_TEST(program.bind(id, to) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_bound_cannot_be_bound_again) {
  Program program(*this);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.bind(id, "192.0.2.1") == 0);
  BOOST_TEST(program.bind(id, "192.0.2.1") == EINVAL);
  // RoCE has no IP over InfiniBand, but there may be other devices.
  BOOST_TEST(program.bind(program.create(RDMA_PS_IPOIB), "192.0.2.1") == EINVAL);
  const std::uint32_t ipoib = program.create(RDMA_PS_IPOIB);
  BOOST_TEST(program.bind(ipoib, "0.0.0.0") == 0);
  BOOST_TEST(program.resolve(ipoib, address("192.0.2.2")) == 0);
  program.expect(EventType::address_error, ipoib, -EINVAL);
  BOOST_TEST(program.bind(program.create(RDMA_PS_IB), "192.0.2.1") == 0);
}

struct Way {
  std::string source;  // "": not bound
  std::string destination;
  std::size_t device;       // of the source
  std::string seen_source;  // by the program
  std::string peer;         // GID
};

BOOST_AUTO_TEST_CASE(a_destination_leads_to_a_device) {
  const Way kWays[] = {{"", "192.0.2.2", 1, "192.0.2.2", "::ffff:192.0.2.2"},
                       {"", "127.0.0.1", 0, "127.0.0.1", "::ffff:192.0.2.1"},
                       {"", "127.0.0.2", 1, "127.0.0.2", "::ffff:192.0.2.2"},
                       {"", "127.7.7.7", 0, "127.0.0.1", "::ffff:192.0.2.1"},
                       {"", "0.0.0.0", 0, "127.0.0.1", "::ffff:192.0.2.1"},
                       {"", "::1", 0, "::1", link_local(*this, 0)},
                       {"", link_local(*this, 1), 1, link_local(*this, 1), link_local(*this, 1)},
                       {"192.0.2.1", "192.0.2.2", 0, "192.0.2.1", "::ffff:192.0.2.2"},
                       {"192.0.2.1", "192.0.2.1", 0, "192.0.2.1", "::ffff:192.0.2.1"},
                       {"127.0.0.1", "127.0.0.2", 0, "127.0.0.1", "::ffff:192.0.2.2"},
                       {"127.0.0.2", "192.0.2.1", 1, "127.0.0.2", "::ffff:192.0.2.1"},
                       {"", "239.1.2.3", 0, "192.0.2.1", "::ffff:239.1.2.3"}};
  Program program(*this);
  for (const Way& way : kWays) {
    BOOST_TEST_CONTEXT(way.source << " to " << way.destination) {
      const std::uint32_t id = program.create();
      BOOST_TEST(program.resolve(id, address(way.destination, 7000), address(way.source)) == 0);
      program.expect(EventType::address_resolved, id);
      const rdma_ucm_query_addr_resp answer = program.query_address(id);
      BOOST_TEST(answer.node_guid == guid(*this, way.device));
      BOOST_TEST(text_of(answer.src_addr).find(way.seen_source + (answer.src_size == 16 ? ":" : "]:")) !=
                 std::string::npos);
      const SocketAddress source = read_address(std::as_bytes(std::span(&answer.src_addr, 1)));
      BOOST_TEST(source.port >= Ports::kFirstEphemeral);
      BOOST_TEST(source.port <= Ports::kLastEphemeral);
      BOOST_TEST(program.query(id, RDMA_USER_CM_QUERY_GID) == 0);
      const auto gids = program.read_answer<rdma_ucm_query_addr_resp>();
      BOOST_TEST(control::to_text(read_address(std::as_bytes(std::span(&gids.dst_addr, 1))).ip) == way.peer);
      program.destroy(id);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_address_of_nobody_is_looked_for_until_the_time_is_over) {
  Program program(*this);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, address("192.0.2.77", 7000), {}, 2000) == 0);
  program.expect_nothing();
  BOOST_TEST(program.resolve(id, address("192.0.2.77", 7000)) == EINVAL);
  pass(1900ms);
  program.expect_nothing();
  pass(200ms);
  program.expect(EventType::address_error, id, -ETIMEDOUT);
  BOOST_TEST(rdma_cm.resolutions().empty());
  // The identifier is bound, and can try once more.
  BOOST_TEST(program.resolve(id, address("192.0.2.1", 7000)) == 0);
  program.expect(EventType::address_resolved, id);
}

BOOST_AUTO_TEST_CASE(an_identifier_may_go_while_its_address_is_looked_for) {
  Program program(*this);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, address("192.0.2.77", 7000), {}, 2000) == 0);
  BOOST_TEST(program.destroy(id) == 0);
  pass(3s);
  program.expect_nothing();
  BOOST_TEST(rdma_cm.resolutions().empty());
}

BOOST_AUTO_TEST_CASE(families_do_not_mix) {
  Program program(*this);
  BOOST_TEST(program.resolve(program.create(), address("192.0.2.1", 1), address("::1")) == EINVAL);
  BOOST_TEST(program.resolve(program.create(), address("192.0.2.1", 1), address("192.0.2.77")) ==
             EADDRNOTAVAIL);
}

// As on Linux, where nobody answers in another VLAN.
BOOST_AUTO_TEST_CASE(a_vlan_is_reached_from_its_own_addresses) {
  for (std::size_t device = 0; device < 2; ++device) {
    DeviceSettings& settings = fabric.devices()[device]->settings;
    settings.gids.push_back(*parse_ip_address("203.0.113." + std::to_string(device + 1)));
    settings.vlans[settings.gids.size() - 1] = 5;
  }
  Program program(*this);
  const auto resolve_from = [&](const std::string& source) {
    const std::uint32_t id = program.create();
    BOOST_TEST(program.resolve(id, address("203.0.113.2", 1), address(source)) == 0);
    return id;
  };
  program.expect(EventType::address_resolved, resolve_from("203.0.113.1"));
  program.expect(EventType::address_resolved, resolve_from(""));
  const std::uint32_t outside = resolve_from("192.0.2.1");
  program.expect_nothing();
  pass(3s);
  program.expect(EventType::address_error, outside, -ETIMEDOUT);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_fabric_without_ipv6_has_no_route_to_it) {
  Configuration configuration = default_configuration();
  for (auto& device : configuration.devices) device.gids.erase(device.gids.begin());
  World world(configuration);
  Program program(world);
  BOOST_TEST(program.resolve(program.create(), address("2001:db8::1", 1)) == ENETUNREACH);
  BOOST_TEST(program.bind(program.create(), "::1") == ENODEV);
}

}  // namespace urnic::control::rdma_cm::test
