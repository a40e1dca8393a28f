// Ports: their owners, and which identifiers may share them.
#include <set>

#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

struct Second {
  std::string first;
  std::string second;
  int error;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ports, World)

BOOST_AUTO_TEST_CASE(a_port_that_is_taken) {
  const Second kCases[] = {{"192.0.2.1", "192.0.2.1", EADDRINUSE},
                           {"192.0.2.1", "192.0.2.2", 0},
                           {"192.0.2.1", "0.0.0.0", EADDRNOTAVAIL},
                           {"0.0.0.0", "192.0.2.1", EADDRNOTAVAIL},
                           {"0.0.0.0", "0.0.0.0", EADDRNOTAVAIL},
                           {"127.0.0.1", "127.0.0.2", 0},
                           {"127.0.0.1", "127.0.0.1", EADDRINUSE},
                           {"127.0.0.1", "192.0.2.1", 0},
                           {"127.0.0.1", "0.0.0.0", EADDRNOTAVAIL},
                           {"::", "0.0.0.0", EADDRNOTAVAIL},
                           {"0.0.0.0", "::", EADDRNOTAVAIL},
                           {"::1", "127.0.0.1", 0},
                           {"::", "::", EADDRNOTAVAIL}};
  Program program(*this);
  for (const Second& each : kCases) {
    BOOST_TEST_CONTEXT(each.first << " and " << each.second) {
      const std::uint32_t first = program.create();
      const std::uint32_t second = program.create();
      BOOST_TEST(program.bind(first, each.first, 7000) == 0);
      BOOST_TEST(program.bind(second, each.second, 7000) == each.error);
      // Another port space, and the port once it is free.
      const std::uint32_t datagram = program.create(RDMA_PS_UDP);
      BOOST_TEST(program.bind(datagram, each.second, 7000) == 0);
      program.destroy(first);
      if (each.error != 0) BOOST_TEST(program.bind(second, each.second, 7000) == 0);
      program.destroy(second);
      program.destroy(datagram);
    }
  }
}

BOOST_AUTO_TEST_CASE(families_share_a_port_if_both_want_their_own_only) {
  Program program(*this);
  const std::uint32_t ip6 = program.create();
  BOOST_TEST(program.set(ip6, RDMA_OPTION_ID_AFONLY, std::int32_t{1}) == 0);
  BOOST_TEST(program.bind(ip6, "::", 7000) == 0);
  BOOST_TEST(program.bind(program.create(), "0.0.0.0", 7000) == 0);
}

BOOST_AUTO_TEST_CASE(a_port_is_shared_if_both_reuse_addresses_but_only_one_listens) {
  Program program(*this);
  const std::uint32_t first = program.create();
  const std::uint32_t second = program.create();
  const std::uint32_t third = program.create();
  BOOST_TEST(program.set(first, RDMA_OPTION_ID_REUSEADDR, std::int32_t{1}) == 0);
  BOOST_TEST(program.set(second, RDMA_OPTION_ID_REUSEADDR, std::int32_t{1}) == 0);
  BOOST_TEST(program.bind(first, "192.0.2.1", 7000) == 0);
  BOOST_TEST(program.bind(second, "192.0.2.1", 7000) == 0);
  BOOST_TEST(program.bind(third, "192.0.2.1", 7000) == EADDRINUSE);
  BOOST_TEST(program.listen(first) == EADDRINUSE);
  program.destroy(second);
  BOOST_TEST(program.listen(first) == 0);
}

BOOST_AUTO_TEST_CASE(a_port_is_free_as_soon_as_its_program_has_ended) {
  Program killed(*this);
  Program next(*this);
  const std::uint32_t listener = killed.create();
  BOOST_TEST(killed.bind(listener, "0.0.0.0", 7000) == 0);
  BOOST_TEST(killed.listen(listener) == 0);
  const std::uint32_t id = next.create();
  BOOST_TEST(next.bind(id, "192.0.2.1", 7000) == EADDRNOTAVAIL);
  killed.end();
  BOOST_TEST(next.bind(id, "192.0.2.1", 7000) == 0);
  BOOST_TEST(next.listen(id) == 0);
  killed.close();
}

BOOST_AUTO_TEST_CASE(a_shared_port_can_be_listened_at_as_soon_as_the_other_program_has_ended) {
  Program killed(*this);
  Program next(*this);
  const std::uint32_t first = killed.create();
  const std::uint32_t second = next.create();
  for (const auto& [program, id] : {std::pair(&killed, first), std::pair(&next, second)}) {
    BOOST_TEST(program->set(id, RDMA_OPTION_ID_REUSEADDR, std::int32_t{1}) == 0);
    BOOST_TEST(program->bind(id, "192.0.2.1", 7000) == 0);
  }
  BOOST_TEST(next.listen(second) == EADDRINUSE);
  killed.end();
  BOOST_TEST(next.listen(second) == 0);
}

BOOST_AUTO_TEST_CASE(low_ports_want_the_right) {
  Program program(*this);
  BOOST_TEST(program.bind(program.create(), "192.0.2.1", 1023) == EACCES);
  BOOST_TEST(program.bind(program.create(), "192.0.2.1", 1024) == 0);
}

BOOST_AUTO_TEST_CASE(port_0_gives_a_free_one) {
  Program program(*this);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t id = program.create();
    BOOST_TEST(program.bind(id, "192.0.2.1") == 0);
    seen.insert(text_of(program.query_address(id).src_addr));
  }
  BOOST_TEST(seen.size() == 1000u);
}

// 28,232 connections could not leave one machine else.
BOOST_AUTO_TEST_CASE(ephemeral_ports_are_shared_by_connections_to_different_peers) {
  Ports taker(1);
  const auto to = [](std::uint16_t port) {
    Endpoints endpoints;
    endpoints.source = {.family = Family::ip4, .ip = any_address(Family::ip4).ip};
    endpoints.source.ip.bytes[15] = 9;
    endpoints.destination = with_port(endpoints.source, port);
    return endpoints;
  };
  constexpr std::size_t kPorts = Ports::kLastEphemeral - Ports::kFirstEphemeral + 1;
  std::vector<Endpoints> owners(kPorts, to(7000));
  std::vector<TakenPort> taken(kPorts + 1);
  for (std::size_t i = 0; i + 1 < kPorts; ++i)
    BOOST_REQUIRE_EQUAL(taker.take(PortSpace::tcp, owners[i], taken[i]), 0);
  Endpoints same = to(7000);
  Endpoints other = to(7001);
  TakenPort none;
  taker.take(PortSpace::tcp, owners[kPorts - 1], taken[kPorts - 1]);
  BOOST_TEST(taker.take(PortSpace::tcp, same, none) == EADDRNOTAVAIL);
  BOOST_TEST(taker.take(PortSpace::tcp, other, taken[kPorts]) == 0);
  taken.clear();
  BOOST_TEST(taker.take(PortSpace::tcp, same, none) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
