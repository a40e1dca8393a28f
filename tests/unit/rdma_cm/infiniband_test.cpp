// InfiniBand devices: addresses of AF_IB, the service ids in them, and the paths that the subnet manager
// gives.
#include <infiniband/verbs.h>

#include "device_model/control/fabric/partition_table.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"
#include "tests/unit/rdma_cm/infiniband_world.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
constexpr std::uint64_t kSpaceBits = 0xFFFF'FFFF'FFFF'0000;

__kernel_sockaddr_storage ib_address(const wire::Gid& gid, std::uint64_t service_id, std::uint64_t mask) {
  __kernel_sockaddr_storage storage{};
  write_address(
      {.family = Family::ib, .ip = gid, .pkey = 0xFFFF, .service_id = service_id, .service_mask = mask},
      std::as_writable_bytes(std::span(&storage, 1)));
  return storage;
}

// A port of TCP's space, as rdma_getaddrinfo makes it.
__kernel_sockaddr_storage ib_address(const wire::Gid& gid, std::uint16_t port = 0) {
  return ib_address(gid, 0x01060000u | port, port == 0 ? kSpaceBits : kAllBits);
}

SocketAddress source_of(Program& program, std::uint32_t id) {
  const auto answer = program.query_address(id);
  return read_address(std::as_bytes(std::span(&answer.src_addr, 1)));
}

// A program's way to a listener at the second device's GID, up to CONNECT.
struct Gids : Subnet {
  using Subnet::Subnet;
  std::uint32_t resolved(Program& client) {
    const std::uint32_t id = client.create();
    client.resolve(id, ib_address(gid(1), 7000));
    client.expect(EventType::address_resolved, id);
    client.resolve_route(id);
    answer(given_path());
    client.expect(EventType::route_resolved, id);
    return id;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(infiniband, Gids)

BOOST_AUTO_TEST_CASE(sockaddr_ib_is_read_and_written_as_it_lies_in_memory) {
  std::array<std::uint8_t, 48> native{};
  native[0] = 27;
  native[2] = 0x80;
  native[3] = 0x01;
  native[7] = 0x21;
  native[8] = 0xFE;
  native[23] = 0x42;
  native[29] = 0x06;  // of the service id 0x0106....
  native[28] = 0x01;
  native[30] = 0x1D;
  native[31] = 0x2F;
  for (std::size_t i = 32; i < 40; ++i) native[i] = 0xFF;
  const SocketAddress address = read_address(std::as_bytes(std::span(native)));
  BOOST_TEST((address.family == Family::ib));
  BOOST_TEST(address.pkey == 0x8001);
  BOOST_TEST(address.flow_info == 0x21u);
  BOOST_TEST(address.ip.bytes[0] == 0xFE);
  BOOST_TEST(address.ip.bytes[15] == 0x42);
  BOOST_TEST(address.service_id == 0x01061D2Fu);
  BOOST_TEST(address.service_mask == kAllBits);
  BOOST_TEST(address.port == 0x1D2F);
  std::array<std::uint8_t, 48> written{};
  write_address(address, std::as_writable_bytes(std::span(written)));
  BOOST_TEST((written == native));
  // Without its bits in the mask there is no port.
  native[38] = native[39] = 0;
  BOOST_TEST(read_address(std::as_bytes(std::span(native))).port == 0);
}

BOOST_AUTO_TEST_CASE(a_service_id_names_a_port_space) {
  struct Row {
    PortSpace asked;
    std::uint64_t id;
    std::uint64_t mask;
    std::optional<PortSpace> space;
  };
  const Row kRows[] = {{PortSpace::tcp, 0x01061234, kAllBits, PortSpace::tcp},
                       {PortSpace::tcp, 0, 0, PortSpace::tcp},
                       {PortSpace::udp, 0x01111234, kAllBits, PortSpace::udp},
                       {PortSpace::ib, 0x013F1234, kAllBits, PortSpace::ib},
                       {PortSpace::ib, 0x01061234, kAllBits, PortSpace::tcp},
                       {PortSpace::ib, 0x01111234, kSpaceBits, PortSpace::udp},
                       {PortSpace::ib, 0, 0, PortSpace::ib},
                       {PortSpace::tcp, 0x01111234, kAllBits, {}},
                       {PortSpace::udp, 0x01061234, kAllBits, {}},
                       {PortSpace::tcp, 0x1'0106'1234, kAllBits, {}},
                       {PortSpace::ib, 0x00021234, kAllBits, {}},
                       {PortSpace::ipoib, 0x01061234, kAllBits, {}}};
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(std::hex << row.id << " of " << static_cast<unsigned>(row.asked)) {
      SocketAddress address{.family = Family::ib,
                            .port = static_cast<std::uint16_t>(row.id & row.mask),
                            .service_id = row.id,
                            .service_mask = row.mask};
      BOOST_TEST((select_port_space(row.asked, address) == row.space));
      if (!row.space) continue;
      BOOST_TEST(address.service_id == (wire::mad::service_id({*row.space, address.port}).value));
      BOOST_TEST((address.service_mask & kSpaceBits) == kSpaceBits);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_gid_that_is_bound_names_its_device_and_gets_a_port) {
  Program program(*this);
  for (std::size_t device = 0; device < 2; ++device) {
    const std::uint32_t id = program.create();
    BOOST_TEST(program.bind(id, ib_address(gid(device))) == 0);
    const auto answer = program.query_address(id);
    BOOST_TEST(answer.node_guid == guid(device));
    BOOST_TEST(ntohs(answer.pkey) == 0xFFFF);
    BOOST_TEST(answer.src_size == 48);
    const SocketAddress source = source_of(program, id);
    BOOST_TEST(source.port >= Ports::kFirstEphemeral);
    BOOST_TEST(source.service_id == (0x01060000u | source.port));
    BOOST_TEST(source.service_mask == kAllBits);
  }
}

BOOST_AUTO_TEST_CASE(gids_of_nobody_cannot_be_bound) {
  Program program(*this);
  wire::Gid nobody = gid(0);
  nobody.bytes[15] ^= 0x80;
  BOOST_TEST(program.bind(program.create(), ib_address(nobody)) == ENODEV);
  BOOST_TEST(program.bind(program.create(), ib_address(gid(0), 0x01111234, kAllBits)) == EPROTONOSUPPORT);
}

BOOST_AUTO_TEST_CASE(ports_of_gids_and_of_ip_addresses_are_the_same) {
  Program program(*this);
  BOOST_TEST(program.bind(program.create(), ib_address(gid(0), 7000)) == 0);
  BOOST_TEST(program.bind(program.create(), ib_address(gid(0), 7000)) == EADDRINUSE);
  BOOST_TEST(program.bind(program.create(), ib_address(gid(1), 7000)) == 0);
  BOOST_TEST(program.bind(program.create(), "0.0.0.0", 7000) == EADDRNOTAVAIL);
  BOOST_TEST(program.bind(program.create(RDMA_PS_IB), ib_address(gid(0), 7000)) == EADDRINUSE);
  BOOST_TEST(program.bind(program.create(RDMA_PS_UDP), ib_address(gid(0), 0x01111B58, kAllBits)) == 0);
}

BOOST_AUTO_TEST_CASE(a_destination_is_reached_from_the_device_of_its_subnet) {
  wire::Gid elsewhere = gid(1);
  elsewhere.bytes[0] = 0x20;
  const std::tuple<wire::Gid, wire::Gid, int, std::size_t> kWays[] = {{{}, gid(1), 0, 0},
                                                                      {{}, gid(0), 0, 0},
                                                                      {gid(1), gid(0), 0, 1},
                                                                      {{}, {}, 0, 0},
                                                                      {{}, elsewhere, ENODEV, 0}};
  Program program(*this);
  for (const auto& [source, destination, error, device] : kWays) {
    const std::uint32_t id = program.create();
    const auto from = source == wire::Gid{} ? __kernel_sockaddr_storage{} : ib_address(source);
    BOOST_TEST(program.resolve(id, ib_address(destination, 7000), from) == error);
    if (error != 0) {
      program.expect_nothing();
      continue;
    }
    program.expect(EventType::address_resolved, id);
    BOOST_TEST(program.query_address(id).node_guid == guid(device));
    BOOST_TEST((source_of(program, id).ip == gid(device)));
  }
}

// As Linux's ib_find_cached_pkey; an entry of 0 is no partition.
BOOST_AUTO_TEST_CASE(a_partition_is_found_as_a_full_member_first) {
  set_pkeys(0, {0xFFFF, 0, 0x0001, 0x8001, 0x0002});
  const std::pair<std::uint16_t, std::optional<std::uint16_t>> kRows[] = {
      {0xFFFF, 0}, {0x7FFF, 0}, {0x8001, 3},  {0x0001, 3},
      {0x8002, 4}, {0x0002, 4}, {0x8003, {}}, {0x8000, {}}};
  for (const auto& [pkey, index] : kRows) {
    BOOST_TEST_CONTEXT(std::hex << pkey)
    BOOST_TEST((pkey_index(fabric, *fabric.devices()[0], {pkey}) == index));
  }
}

BOOST_AUTO_TEST_CASE(ports_that_are_not_active_reach_nobody) {
  World down(infiniband_configuration());
  Program program(down);
  wire::Gid peer = gid(1);
  peer.bytes[15] ^= 0x80;
  BOOST_TEST(program.resolve(program.create(), ib_address(peer, 7000)) == ENODEV);
  Program above(*this);
  BOOST_TEST(above.resolve(above.create(), ib_address(peer, 7000)) == 0);
}

BOOST_AUTO_TEST_CASE(the_subnet_manager_is_asked_for_the_path) {
  Program program(*this);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, ib_address(gid(1), 7000)) == 0);
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(program.resolve_route(id) == 0);
  program.expect_nothing();
  BOOST_TEST(program.resolve_route(id) == EINVAL);
  BOOST_REQUIRE_EQUAL(manager.asked.size(), 1u);
  const PathRecord asked = asked_path();
  BOOST_TEST((asked.source == gid(0)));
  BOOST_TEST((asked.destination == gid(1)));
  BOOST_TEST(asked.service.value == 0x01061B58u);
  BOOST_TEST(asked.pkey.value == 0xFFFF);
  BOOST_TEST(asked.paths == 1);
  BOOST_TEST(asked.is_reversible);

  BOOST_TEST(answer(given_path()));
  program.expect(EventType::route_resolved, id);
  BOOST_TEST(program.query(id, RDMA_USER_CM_QUERY_PATH) == 0);
  const auto paths = program.read_answer<QueryPathAnswer>();
  BOOST_REQUIRE_EQUAL(paths.num_paths, 1u);
  std::array<std::byte, wire::mad::kPathRecordBytes> bytes{};
  std::memcpy(bytes.data(), paths.paths[0].path_rec, sizeof bytes);
  const PathRecord shown = wire::mad::decode_path(bytes);
  BOOST_TEST(shown.destination_lid.value == lid(1).value);
  BOOST_TEST(shown.source_lid.value == lid(0).value);
  BOOST_TEST(shown.service_level == 3);
  BOOST_TEST(shown.mtu == 4);
  BOOST_TEST(shown.rate == 7);
  BOOST_TEST(shown.packet_lifetime == 18);
  BOOST_TEST(shown.packet_lifetime_selector == 2);
  BOOST_TEST((shown.source == gid(0)));
  BOOST_TEST((shown.destination == gid(1)));
  BOOST_TEST(shown.is_reversible);
}

BOOST_AUTO_TEST_CASE(a_connection_by_gids_has_no_ip_header_and_the_paths_values) {
  Program server(*this, 2000);
  const std::uint32_t listening = server.create(RDMA_PS_TCP, 2, 66);
  BOOST_TEST(server.bind(listening, ib_address({}, 7000)) == 0);
  BOOST_TEST(server.listen(listening) == 0);
  Program client(*this);
  const std::uint32_t id = resolved(client);

  rdma_ucm_conn_param parameters{};
  parameters.private_data_len = 92;
  parameters.private_data[91] = 0x5A;
  BOOST_TEST(client.connect(id, parameters) == 0);
  deliver();
  BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
  BOOST_TEST(server.last.param.conn.private_data_len == 92);
  BOOST_TEST(server.last.param.conn.private_data[91] == 0x5A);
  const std::uint32_t request = server.last.id;
  BOOST_TEST(server.query_address(request).node_guid == guid(1));
  BOOST_TEST((source_of(server, request).ip == gid(1)));
  BOOST_TEST(source_of(server, request).port == 7000);
  const auto answered = server.query_address(request);
  BOOST_TEST((read_address(std::as_bytes(std::span(&answered.dst_addr, 1))).ip == gid(0)));

  BOOST_TEST(server.accept(request, rdma_ucm_conn_param{}) == 0);
  for (const auto& [program, number, peer] : {std::tuple(&server, request, lid(0))}) {
    BOOST_TEST(program->init_qp(number, IBV_QPS_RTR) == 0);
    const ib_uverbs_qp_attr attributes = program->qp_attributes();
    BOOST_TEST(attributes.ah_attr.dlid == peer.value);
    BOOST_TEST(attributes.ah_attr.sl == 3);
    BOOST_TEST(attributes.ah_attr.static_rate == 7);
    BOOST_TEST(attributes.ah_attr.is_global == 0);
    BOOST_TEST(attributes.path_mtu == 4u);
  }
}

// So it reaches ports that have no other partition in common.
BOOST_AUTO_TEST_CASE(messages_travel_in_the_partition_of_their_connection) {
  for (const std::size_t device : {0, 1}) set_pkeys(device, {0x7FFF, 0x8001});
  Program server(*this, 2000);
  const std::uint32_t listening = server.create();
  BOOST_TEST(server.bind(listening, ib_address({}, 7000)) == 0);
  BOOST_TEST(server.listen(listening) == 0);
  Program client(*this);
  const std::uint32_t id = client.create();
  const SocketAddress peer{.family = Family::ib,
                           .ip = gid(1),
                           .pkey = 0x8001,
                           .service_id = 0x01061B58u,
                           .service_mask = kAllBits};
  __kernel_sockaddr_storage storage{};
  write_address(peer, std::as_writable_bytes(std::span(&storage, 1)));
  client.resolve(id, storage);
  client.expect(EventType::address_resolved, id);
  client.resolve_route(id);
  BOOST_TEST(asked_path().pkey.value == 0x8001);
  answer(given_path());
  client.expect(EventType::route_resolved, id);
  BOOST_TEST(client.connect(id, rdma_ucm_conn_param{}) == 0);
  BOOST_REQUIRE(!network.waiting.empty());
  BOOST_TEST(network.waiting.front().from.pkey.value == 0x8001);
  deliver();
  BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
  const std::uint32_t request = server.last.id;
  BOOST_TEST(server.accept(request, rdma_ucm_conn_param{}) == 0);
  BOOST_REQUIRE(!network.waiting.empty());
  BOOST_TEST(network.waiting.front().from.pkey.value == 0x8001);
  BOOST_TEST(server.init_qp(request, IBV_QPS_INIT) == 0);
  BOOST_TEST(server.qp_attributes().pkey_index == 1);
}

BOOST_AUTO_TEST_CASE(listeners_of_ip_addresses_take_no_requests_of_gids) {
  Program server(*this, 2000);
  listener(server, "0.0.0.0", 7000);
  Program client(*this);
  const std::uint32_t id = resolved(client);
  client.connect(id, {});
  deliver();
  client.expect(EventType::rejected, id, 28);
  server.expect_nothing();
}

// As rsockets of librdmacm 44 send them.
BOOST_AUTO_TEST_CASE(private_data_that_begin_with_anything_reach_a_listener_of_gids) {
  Program server(*this, 2000);
  const std::uint32_t listening = server.create(RDMA_PS_TCP, 2, 66);
  server.bind(listening, ib_address({}, 7000));
  server.listen(listening);
  Program client(*this);
  for (const std::uint8_t first : {std::uint8_t{0x30}, std::uint8_t{0}, std::uint8_t{0x60}}) {
    const std::uint32_t id = resolved(client);
    rdma_ucm_conn_param parameters{};
    parameters.private_data_len = 92;
    parameters.private_data[0] = first;
    parameters.private_data[1] = 0x40;
    client.connect(id, parameters);
    deliver();
    BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
    BOOST_TEST(server.last.param.conn.private_data[0] == first);
    BOOST_TEST((source_of(server, server.last.id).ip == gid(1)));
  }
}

BOOST_AUTO_TEST_CASE(a_listener_of_a_gid_takes_requests_to_its_device_only) {
  Program server(*this, 2000);
  const std::uint32_t listening = server.create(RDMA_PS_TCP, 2, 66);
  server.bind(listening, ib_address(gid(0), 7000));
  server.listen(listening);
  Program client(*this);
  const std::uint32_t id = resolved(client);
  client.connect(id, {});
  deliver();
  client.expect(EventType::rejected, id, 28);
}

struct Resolved : Subnet {
  Program program{*this};
  std::uint32_t id = program.create();
  Resolved() {
    program.resolve(id, address("192.0.2.2", 7000), address("192.0.2.1"));
    program.expect(EventType::address_resolved, id);
  }
};

BOOST_FIXTURE_TEST_CASE(ip_addresses_ask_for_the_path_between_their_ports, Resolved) {
  program.set(id, RDMA_OPTION_ID_TOS, std::uint8_t{9});
  BOOST_TEST(program.resolve_route(id) == 0);
  const PathRecord asked = asked_path();
  BOOST_TEST((asked.source == gid(0)));
  BOOST_TEST((asked.destination == gid(1)));
  BOOST_TEST(asked.quality_class == 9);
  BOOST_TEST(answer(given_path()));
  program.expect(EventType::route_resolved, id);
}

BOOST_FIXTURE_TEST_CASE(a_path_that_nobody_gives_is_an_error_after_the_programs_time, Resolved) {
  BOOST_TEST(program.resolve_route(id, 1000) == 0);
  for (int i = 0; i < 11; ++i) {
    program.expect_nothing();
    pass(100ms);
  }
  BOOST_TEST(manager.asked.size() == 11u);
  program.expect(EventType::route_error, id, -ETIMEDOUT);
  BOOST_TEST(program.resolve_route(id) == 0);
  BOOST_TEST(answer(given_path()));
  program.expect(EventType::route_resolved, id);
}

BOOST_FIXTURE_TEST_CASE(a_path_that_is_refused_or_nonsense_is_an_error, Resolved) {
  program.resolve_route(id);
  BOOST_TEST(answer(given_path(), static_cast<wire::mad::MadStatus>(0x0300)));
  program.expect(EventType::route_error, id, -EINVAL);
  program.resolve_route(id);
  PathRecord without_lid = given_path();
  without_lid.destination_lid = {};
  BOOST_TEST(answer(without_lid));
  program.expect(EventType::route_error, id, -EINVAL);
}

BOOST_FIXTURE_TEST_CASE(a_port_without_a_manager_has_nobody_to_ask, Resolved) {
  manager.lid = {};
  BOOST_TEST(program.resolve_route(id) == EAGAIN);
  program.expect_nothing();
  manager.lid = {1};
  BOOST_TEST(program.resolve_route(id) == 0);
}

BOOST_FIXTURE_TEST_CASE(the_built_in_manager_is_not_asked, Resolved) {
  manager.has_administration = false;
  BOOST_TEST(program.resolve_route(id) == 0);
  program.expect(EventType::route_resolved, id);
  BOOST_TEST(manager.asked.empty());
  BOOST_TEST(program.join(id, address("239.1.2.3")) == EINVAL);
}

// What the built-in manager would say is what the ports say: the slower end counts.
BOOST_AUTO_TEST_CASE(a_path_of_the_built_in_manager_has_the_rate_of_its_slower_end) {
  Subnet slow(
      parse_configuration("[[devices]]\nlink_layer = \"infiniband\"\n"
                          "[[devices]]\nlink_layer = \"infiniband\"\n"
                          "[[fabric.switches]]\nname = \"leaf\"\nports = 2\n"
                          "[[fabric.links]]\nfrom = \"urnic1\"\nto = \"leaf:2\"\n"
                          "width = \"1x\"\nspeed = \"SDR\"\n",
                          "lab.toml"));
  slow.manager.has_administration = false;
  for (const std::size_t source : {0u, 1u}) {
    Program program(slow);
    const std::uint32_t id = program.create();
    BOOST_TEST(program.resolve(id, ib_address(slow.gid(1 - source), 7000), ib_address(slow.gid(source))) ==
               0);
    program.expect(EventType::address_resolved, id);
    BOOST_TEST(program.resolve_route(id) == 0);
    program.expect(EventType::route_resolved, id);
    BOOST_TEST(program.query(id, RDMA_USER_CM_QUERY_PATH) == 0);
    const auto paths = program.read_answer<QueryPathAnswer>();
    BOOST_REQUIRE_EQUAL(paths.num_paths, 1u);
    std::array<std::byte, wire::mad::kPathRecordBytes> bytes{};
    std::memcpy(bytes.data(), paths.paths[0].path_rec, sizeof bytes);
    BOOST_TEST(wire::mad::decode_path(bytes).rate == 2);  // 2.5 Gbit/s: IBTA 15.2.5.16
  }
}

BOOST_FIXTURE_TEST_CASE(an_identifier_that_ends_asks_no_longer, Resolved) {
  program.resolve_route(id);
  program.destroy(id);
  BOOST_TEST(rdma_cm.administration().size() == 0u);
  BOOST_TEST(!answer(given_path()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
